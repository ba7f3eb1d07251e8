/* What the Pods of a job get from its command line: files and variables, which are in objects of
 * their own, and which the job's document only names.
 *
 * Every Pod mounts the files from ConfigMaps: a script, or a packed directory. The distribution
 * over ConfigMaps follows from the list of files alone. So the job's document, which names the
 * ConfigMaps, and the ConfigMaps themselves (kube/objects.h) agree. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/own.h"
#include "spec/job.h"

#define JOB_FILES_FOLDER "/muster/files" /* their path in a Pod; read-only */
#define JOB_WORK_FOLDER "/muster/work" /* working directory of the command; empty at first */

/* Bytes of files in one ConfigMap. Kubernetes accepts 1 MiB with the names. Binary contents grow by
 * a third in a request, and etcd accepts requests of 1.5 MiB. */
#define JOB_FILES_PART_SIZE 1000000

struct job_file {
	const char *path; /* relative to the directory, '/' between its parts: "train.py" */
	const char *bytes;
	size_t len;
	bool is_executable;
};

/* The key of a file: its path if that is a valid key, else "file-INDEX". Caller frees. */
char *job_files_key(const struct job_file *file, size_t index) MUST_USE;
/* The part of each file, one number for each; parts are filled in order. Caller frees. ERR_LIMIT
 * names a file that no ConfigMap can hold. */
int job_files_spread(const struct job_file *files, size_t n_files, size_t **ret_parts,
		     struct err *err) MUST_USE;
/* The name of a part's ConfigMap: JOB.files-PART-DIGEST. Other contents have another name, so that
 * a kubelet that has cached an earlier job of this name does not give its files to new Pods
 * (docs/design/0015). Caller frees. */
char *job_files_name(const char *job_name, const struct job_file *files, size_t n_files,
		     const size_t *parts, size_t part) MUST_USE;

/* Whether the Pods of this template mount the job's files. */
bool job_files_are_mounted(const struct json *template);

/* The path of a part of a packed directory (a .tar.gz), for job_file. Caller frees. */
char *job_files_packed_name(size_t part) MUST_USE;

/* Mounts the files in the training container of each role of a document, whose default working
 * directory becomes the work directory. Errors as above; then the document is untouched. */
int job_document_add_files(struct json *document, const struct job_file *files, size_t n_files,
			   struct err *err) MUST_USE;

/* After job_document_add_files for the parts of a packed directory: adds a container that unpacks
 * it into the work directory before, from the same image, which must have sh, tar and gzip. The
 * command always runs in the work directory. */
void job_document_add_unpacking(struct json *document);

/* Variables of a command line, which may be tokens and passwords, in a Secret of Kubernetes.
 *
 * The job's document, which every user who may read jobs can read, has the name of the Secret and
 * the names of the variables. Their values are only in the Secret (kube/objects.h makes it). */
/* Zero it to begin. */
struct job_secret {
	char *name; /* NULL: there is none */
	struct json *values; /* an object: the literal value of each variable */
};

/* JOB.env: no job's name has a dot. Caller frees. */
char *job_secret_name(const char *job_name) MUST_USE;

/* Whether a container of the job reads a variable from that Secret. */
bool job_secret_is_named(const struct job *job);

/* Of two variables of one name the later one is used. */
void job_secret_init(struct job_secret *secret, const char *name, const struct env_entry *env,
		     size_t n_env);
void job_secret_done(struct job_secret *secret);

/* Adds these variables to the training container of each role of a document, after its own. Other
 * variables may refer to them, $(TOKEN); their own values are not expanded. Does nothing when there
 * is no Secret. */
void job_document_add_secret(struct json *document, const struct job_secret *secret);
