/* What command lines say about a job and one of its replicas: names, a path in it, its ports. Pure.
 */
#pragma once

#include "base/err.h"
#include "logs/folder.h"
#include "spec/fetch.h"

enum job_place {
	JOB_ANYWHERE, /* a plain name: a job of this machine, else of the cluster */
	JOB_HERE,
	JOB_ON_CLUSTER,
};

struct job_reference {
	enum job_place place;
	char *namespace_name; /* of JOB_ON_CLUSTER; else NULL */
	const char *name; /* borrowed from the text that was read */
};

/* Reads "digits", "local/digits" or "kubernetes/NAMESPACE/digits". ERR_INVALID for any other text,
 * with the valid forms. The caller frees it with job_reference_done. */
int job_reference_read(const char *text, struct job_reference *ret_reference,
		       struct err *err) MUST_USE;
void job_reference_done(struct job_reference *reference);

/* Reads "worker-1", a whole word, as the name of its logs, with attempt 0. ERR_INVALID shows a
 * valid name. */
int replica_name_take_log_name(const char *word, struct log_name *ret_name,
			       struct err *err) MUST_USE;
/* Reads the first `len` bytes of a text; false if they are no name. */
bool replica_name_read(const char *text, size_t len, struct log_name *ret_name) MUST_USE;

/* The same for a word after a job that may be another job: it is a replica only with one of
 * TensorFlow's roles, as everywhere in a job. */
bool replica_name_read_known(const char *word, struct log_name *ret_name);

/* One end of a copy: a path of this machine, or one in a container of a job. All is borrowed. */
struct copy_place {
	const char *namespace_name; /* of kubernetes/NAMESPACE/NAME; NULL: not given */
	const char *job; /* its name; NULL: the path is one of this machine */
	const char *role;
	int index;
	const char *path;
	bool is_here; /* local/NAME: a local job */
};

/* Reads "JOB:ROLE-INDEX:PATH", with JOB as other commands take it. Any other text is a path of this
 * machine, also every text that begins with '/' or '.'. The place borrows from the text. */
void copy_place_read(const char *text, struct arena *arena, struct copy_place *ret_place);

struct port_pair {
	int local; /* 0: any free port */
	int remote;
};

/* The arguments after the job in `muster port-forward JOB [ROLE-INDEX] [LOCAL:]REMOTE...`. Zero it
 * to begin. */
struct port_arguments {
	struct log_name replica; /* with an empty role: none was given */
	struct port_pair *pairs; /* at least one */
	size_t n_pairs;
};

/* Reads "worker-1 8080:6006 6009 :8888", the words after the job; NULL is the last. ERR_INVALID
 * names an invalid word, or a local port that is given twice. */
int port_arguments_read(const char *const *words, struct port_arguments *arguments,
			struct err *err) MUST_USE;
void port_arguments_done(struct port_arguments *arguments);
