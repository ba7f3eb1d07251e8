/* Evaluates what this machine has and lacks for training jobs: facts in, a row for each subject
 * out, with the command that fixes it. */
#pragma once

#include "base/json.h"
#include "base/mem.h"
#include "spec/gpus.h"

#define DOCTOR_UNKNOWN (-1) /* of a number: unknown, or no limit */

/* Texts are NULL if there is nothing to report; a `fault` is the sentence with the reason. */
struct doctor_python {
	const char *interpreter; /* "/home/me/.venv/bin/python" */
	const char *version; /* "3.11" */
	bool is_virtual_env; /* that of VIRTUAL_ENV */
	bool is_managed; /* managed by its distribution: it takes no packages from pip (PEP 668) */
	const char *virtual_env; /* the value of VIRTUAL_ENV, if it is set */
	const char *fault; /* there is no Python */
};

struct doctor_tensorflow {
	const char *package; /* "tensorflow-cpu" */
	const char *version; /* "2.21.0" */
	const char *folder; /* of packages; NULL: it is not installed */
	const char *tf_keras; /* version of that package */
	const char *scikit_learn;
};

/* Versions of the packages of that name; NULL: not installed for this Python. */
struct doctor_frameworks {
	const char *torch;
	const char *jax;
};

struct doctor_library {
	const char *path; /* TensorFlow's C library */
	const char *version; /* "2.21.0", if it is a wheel's */
	const char *origin; /* where it was found: "virtual environment" */
	const char *fault;
};

struct doctor_limits {
	bool is_proc_missing; /* /proc is not mounted */
	int64_t files; /* soft limit on open files */
	int64_t most_files; /* the hard one */
	int64_t processes; /* RLIMIT_NPROC, which counts threads of this user */
	int64_t threads_in_use; /* of all users of this machine */
	int64_t group_processes_left; /* of our control group */
	double cores; /* that may be used */
	int64_t address_space; /* RLIMIT_AS, in bytes */
	int64_t memory_available; /* bytes */
	int64_t group_memory_left;
	const char *group_fault; /* why a job gets no control group of its own; NULL: it does */
	bool is_group_refused; /* ... for lack of permissions, which systemd can grant */
};

struct doctor_state_folder {
	const char *path;
	const char *fault; /* why nothing can be written there */
	const char *store_fault; /* the store is damaged, or of a newer muster */
	int64_t free_bytes;
};

struct doctor_network {
	int low_port, high_port; /* the range for the ports of jobs */
	const char *port_fault;
	const char *loopback_fault;
	const char *private_fault; /* why a job cannot have a private network */
	const char *host_name;
	const char *host_fault; /* it has no address, or one of another machine */
};

struct doctor_gpu {
	int n_devices; /* NVIDIA GPUs of the machine */
	const char *driver; /* its version */
	int n_nodes; /* of them as files in /dev, as TensorFlow opens them */
	const char *node_fault;
	struct gpus dealt; /* those that jobs may get */
	const char *holders; /* "job 'x' holds 0,1"; "": no job holds any */
};

/* The cluster that jobs would run on; it is not contacted. */
struct doctor_kubernetes {
	const char *context; /* NULL: this is a Pod, which has a service account */
	const char *server; /* NULL: there is no cluster */
	const char *user; /* NULL: none, or a service account */
	const char *namespace_name;
	bool skips_verify; /* the server's certificate is not checked */
	const char *fault; /* why the kubeconfig cannot be used */
	bool is_malformed; /* it has to be edited */
};

struct doctor_facts {
	struct doctor_python python;
	struct doctor_tensorflow tensorflow;
	struct doctor_frameworks frameworks;
	struct doctor_library library;
	struct doctor_limits limits;
	struct doctor_state_folder state_folder;
	struct doctor_network network;
	struct doctor_gpu gpu;
	struct doctor_kubernetes kubernetes;
	int64_t shared_memory; /* size of /dev/shm in bytes; DOCTOR_UNKNOWN: there is none */
	bool is_superuser; /* needs no sudo, and may have none */
	bool is_clock_known;
	bool is_clock_synchronized;
};

enum doctor_state {
	DOCTOR_OK,
	DOCTOR_WARNING, /* jobs can run, some of them worse or not at all */
	DOCTOR_MISSING, /* TensorFlow jobs cannot run before it is fixed */
};
extern const char *const doctor_state_words[3];

struct doctor_row {
	const char *name; /* "tensorflow" */
	enum doctor_state state;
	const char *found; /* "2.21.0 (tensorflow-cpu)" */
	const char *fix; /* a command; NULL if there is nothing to fix */
};

#define DOCTOR_ROWS_LIMIT 24

struct doctor_report {
	const struct doctor_facts *facts;
	struct arena *arena;
	struct doctor_row rows[DOCTOR_ROWS_LIMIT];
	size_t n_rows;
};

/* Collects the facts about this machine (doctor/collect.c). Starts nothing, and leaves nothing
 * behind. `state_folder` is the directory for job records; it need not exist. Texts live in the
 * arena. Looking up this machine's own name may take seconds if a name server does not respond. */
void doctor_collect(const char *state_folder, struct arena *arena, struct doctor_facts *ret_facts);
/* Evaluates every fact. Texts are borrowed from the facts or live in the arena. */
void doctor_evaluate(const struct doctor_facts *facts, struct arena *arena,
		     struct doctor_report *ret_report);
/* The number of rows in that state. Jobs can run when none is DOCTOR_MISSING. */
size_t doctor_count(const struct doctor_report *report, enum doctor_state state);
/* {"ready": true, "rows": [{"name", "state", "found", "fix"}]}; caller frees. */
struct json *doctor_report_json(const struct doctor_report *report) MUST_USE;
