/* A job: what the user requested. A TFJob `kubeflow.org/v1`, validated, with its defaults filled
 * in.
 *
 * Files, options and scripts all become one JSON document, and job_read makes a job of it. The
 * document stays with the job: output and requests contain what the user wrote, plus the changes of
 * normalizing. Source of the rules: Kubeflow training-operator v1.9,
 * pkg/apis/kubeflow.org/v1/tensorflow_{types,defaults}.go and
 * pkg/webhooks/tensorflow/tfjob_webhook.go. Fields of ours: runPolicy.restartScope,
 * runPolicy.gracePeriodSeconds and runPolicy.stopSignal; spec.elasticPolicy is accepted and has no
 * effect yet. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/msec.h"
#include "base/own.h"
#include "base/yaml.h"
#include "spec/fetch.h"

/* Kinds of role, in the order in which Kubeflow evaluates success and failure. */
enum role_kind {
	ROLE_CHIEF,
	ROLE_EVALUATOR,
	ROLE_MASTER,
	ROLE_PS,
	ROLE_WORKER,
	ROLE_OTHER, /* an unknown key of tfReplicaSpecs: the operator accepts it, the command line
		       does not */
};

enum restart_policy {
	RESTART_NEVER,
	RESTART_ON_FAILURE,
	RESTART_ALWAYS,
	RESTART_EXIT_CODE, /* codes of 128 and above are restarted, 1 to 127 are permanent */
};

enum restart_scope {
	RESTART_SCOPE_REPLICA, /* only the failed replica: as TFJob does, default of files */
	RESTART_SCOPE_JOB, /* every replica: synchronous training, which a replica cannot rejoin */
	RESTART_SCOPE_WORKER, /* a worker or evaluator; a lost ps, chief or master restarts all */
};

enum success_policy {
	SUCCESS_DEFAULT, /* chief (or master) if there is one, else worker 0 or all workers */
	SUCCESS_ALL_WORKERS, /* all workers if there is no chief */
};

enum clean_policy {
	CLEAN_NONE,
	CLEAN_RUNNING,
	CLEAN_ALL,
};

/* One variable of a container's `env`. value is NULL for a valueFrom, which has no effect on this
 * machine. */
struct env_entry {
	const char *name;
	const char *value; /* not expanded yet */
};

/* The training container of a Pod template: the first one named `tensorflow`, else the first. */
struct container {
	const char *name;
	const char *image; /* NULL when not given: only Kubernetes needs one */
	const char *const *command; /* NULL-terminated; NULL when not given */
	const char *const *args; /* NULL-terminated; NULL when not given */
	const char *working_dir; /* NULL when not given */
	const struct env_entry *env;
	size_t n_env;
	double processors; /* limits.cpu, else requests.cpu; 0 when neither is given */
	double cpu_limit, memory_limit; /* cores, bytes; 0: none */
	/* Their places in the file, or where they would be; line 0 without a file. For faults that
	 * only a back end finds. */
	struct place command_place;
	struct place working_dir_place;
	struct place gpu_place;
};

#define JOB_GPU_RESOURCE "nvidia.com/gpu"
#define JOB_GPUS_MAX 1024
#define JOB_GPUS_SHARED (-1) /* not given: an equal share of this machine's GPUs */
#define JOB_GPUS_ALL (-2) /* all GPUs of this machine, shared by the replicas */
/* Annotation of a Pod template with the value "all", which no resource limit can express. */
#define JOB_ANNOTATION_GPUS "muster/gpus"
#define JOB_GPUS_ALL_WORD "all"

struct role {
	enum role_kind kind;
	const char *title; /* canonical key of tfReplicaSpecs: "Worker" */
	const char *name; /* lower case, in names and TF_CONFIG: "worker" */
	int replicas; /* at least 0 once read */
	enum restart_policy restart_policy;
	int port; /* of the container port named tfjob-port, default 2222 (Kubernetes only) */
	msec grace; /* the template's terminationGracePeriodSeconds; -1 when not given */
	int gpus; /* of each replica: the limit nvidia.com/gpu, or one of JOB_GPUS_* */
	struct container container;
	const struct json *template; /* the Pod template as written, borrowed from the document */
};

struct job {
	const char *name;
	const char *name_space; /* "default" when the file has none */
	const char *uid; /* "" before the job is stored */
	struct role *roles; /* in the order of enum role_kind, others last */
	size_t n_roles;

	enum success_policy success_policy;
	enum clean_policy clean_policy;
	enum restart_scope restart_scope;
	int backoff_limit; /* permitted restarts; -1: no limit */
	msec active_deadline; /* -1: none */
	msec ttl_after_finished; /* -1: kept */
	msec grace; /* between signal and SIGKILL on a planned stop: that of the stop, else
		       runPolicy.gracePeriodSeconds, else the longest of the templates, else 30 s */
	int stop_signal; /* number of the signal that asks its processes to exit:
			    runPolicy.stopSignal; 0 when not given */
	bool is_suspended;
	bool is_dynamic; /* enableDynamicWorker */
	bool has_private_network; /* on this machine; annotation muster/private-network */
	/* On this machine, what the job waits for before it starts: other jobs, as names with
	 * commas (NULL: none), then the GPUs that it requests. */
	int nice; /* of its processes, 0 to NICE_MOST; annotation muster/nice */
	const char *after; /* these must have succeeded; annotation muster/after */
	const char *after_any; /* these need not; annotation muster/after-any */
	bool waits_for_gpus; /* annotation muster/wait-for-gpu, or it waits for other jobs */
	bool has_common_gpus; /* annotation muster/visible-gpus */
	bool survivors_may_save; /* on this machine; annotation muster/grace-after-failure */
	bool has_network_policy; /* on a cluster; annotation muster/network-policy */
	int services; /* annotation muster/services: of enum job_services */
	int pod_server_port; /* annotation muster/pod-server; 0: its Pods train at once */
	const char *elastic_id; /* annotation muster/elastic; NULL: no part of such a job */
	const char *managed_by; /* NULL when not given */

	/* A stop was requested (annotation muster/stop): the word for the reason, or NULL. */
	const char *stop_reason;
	const struct fetch *fetches; /* the directories to fetch from its Pods at its end */
	size_t n_fetches;

	const char *changes; /* the changes to an older form when it was read; NULL: v1 */
	struct json *document; /* the whole TFJob as normalized; owned */
	struct arena *arena; /* owns everything above */
	int n_references;
};

/* What all replicas together may use; 0: no limit, because a role has none. */
struct job_limits {
	double cores, memory; /* in bytes */
};
struct job_limits job_limits(const struct job *job);

/* Annotation with the value "true" for a job whose replicas have a private network, isolated from
 * all other processes and machines. Only for jobs on this machine. */
#define JOB_ANNOTATION_PRIVATE_NETWORK "muster/private-network"
#define JOB_ANNOTATION_WAIT_FOR_GPU "muster/wait-for-gpu"
#define JOB_ANNOTATION_NICE "muster/nice"
#define NICE_MOST 19
#define JOB_ANNOTATION_AFTER "muster/after"
#define JOB_ANNOTATION_AFTER_ANY "muster/after-any"

/* Annotation with the value "none" for a job whose Pods other Pods may reach. By default a job on a
 * cluster has a NetworkPolicy that admits only its own Pods ("job"). */
#define JOB_ANNOTATION_NETWORK_POLICY "muster/network-policy"
#define JOB_NETWORK_POLICY_NONE "none"
/* What its processes see of the GPUs that the job gets on this machine: "replica", each its own, or
 * "job", all of them, to choose among by LOCAL_RANK. */
#define JOB_ANNOTATION_VISIBLE_GPUS "muster/visible-gpus"
#define JOB_VISIBLE_GPUS_OF_JOB "job"
/* "whole": the survivors of a failure have the grace period of the job, and not a second of it. */
#define JOB_ANNOTATION_GRACE_AFTER_FAILURE "muster/grace-after-failure"
#define JOB_GRACE_AFTER_FAILURE_WHOLE "whole"

/* Annotation of a TFJob object, with one of the words of enum job_services: its kind of Services,
 * if it differs from the operator's setting. */
#define JOB_ANNOTATION_SERVICES "muster/services"
enum job_services {
	SERVICES_PER_REPLICA, /* "per-replica": as training-operator creates them */
	SERVICES_PER_JOB, /* "per-job" */
	SERVICES_COUNT, /* not given */
};
extern const char *const job_services_words[SERVICES_COUNT];

/* Annotation of a TFJob object, with a port: its Pods have a server on this port, which starts the
 * training when the operator has sent it the Pod's role (serve/pod_server.h). */
#define JOB_ANNOTATION_POD_SERVER "muster/pod-server"

/* Annotation of a job that is one machine's part of an elastic job: the id of the elastic job on
 * all machines. The machines agree on the number of processes, and when they run. Only for jobs on
 * this machine. */
#define JOB_ANNOTATION_ELASTIC "muster/elastic"

/* Annotation of a job of this machine alone, whose name is that of no object on a cluster: any
 * value of a label. The name of a part of an elastic job may be such a one, too. */
#define JOB_ANNOTATION_LOCAL_NAME "muster/local-name"

/* Annotation with the commit of the directory in which a job of this machine was started. */
#define JOB_ANNOTATION_COMMIT "muster/commit"

/* Annotation that requests a graceful stop. Its value is one of the words of enum stop_reason. */
#define JOB_ANNOTATION_STOP "muster/stop"
/* The grace period of this stop in seconds, if it is not the job's own. */
#define JOB_ANNOTATION_STOP_GRACE "muster/stop-grace"

/* Why a job was stopped; also decides the exit code: 128 and the signal, or 130. */
enum stop_reason {
	STOP_INTERRUPTED, /* "interrupted": Ctrl-C */
	STOP_TERMINATED, /* "terminated": SIGTERM to muster */
	STOP_HANGUP, /* "hangup": the terminal closed */
	STOP_QUIT, /* "quit": SIGQUIT to muster */
	STOP_USER_SIGNAL_1, /* "SIGUSR1": that signal to muster */
	STOP_USER_SIGNAL_2,
	STOP_REQUESTED, /* "stopped": muster stop */
	STOP_REASON_COUNT,
};
extern const char *const stop_reason_words[STOP_REASON_COUNT];
/* 130 for an unknown word. */
int stop_reason_exit_code(const char *word);

/* A signal that asks processes to exit: "INT", "SIGINT" (in any case) or "2"; ERR_INVALID. */
int stop_signal_read(const char *word, int *ret_number, struct err *err) MUST_USE;
/* As in an image's STOPSIGNAL: "SIGINT"; without a name its number. Caller frees. */
char *stop_signal_format(int number) MUST_USE;
/* Why a job stops when muster gets this signal; STOP_REQUESTED: for any other. */
enum stop_reason stop_signal_reason(int number);

/* The caller chooses the strictness. A value of another type than its field is a fault for all. */
enum job_strictness {
	JOB_STRICT, /* command line: what can never run is a fault */
	JOB_LENIENT, /* a document of a store or server, which was accepted before: odd values are
			read as the old operator read them */
	JOB_ADMISSION, /* webhook of the operator: as lenient, and an image is required, so that the
			  faults are those of training-operator's webhook */
};

/* An error in a document, at its place. */
struct fault {
	char *path; /* "spec.tfReplicaSpecs[Worker].replicas" in Kubernetes' own spelling of field
		       paths */
	char *sentence; /* "Invalid value: -1: must be 0 or more" */
	struct place place;
};

struct faults {
	struct fault *list;
	size_t count;
	size_t capacity;
	size_t n_more; /* found beyond LIMIT_FAULTS, and only counted */
};

void faults_done(struct faults *faults);
/* Whether there are LIMIT_FAULTS: further ones are only counted. */
bool faults_are_full(const struct faults *faults);
void fault_add(struct faults *faults, struct place place, const char *path, const char *format, ...)
	PRINTF_LIKE(4, 5);
/* Sorts the faults from number `first` on by their places. */
void faults_sort(struct faults *faults, size_t first);
/* Adds each fault on its own line: "FILE:LINE:COLUMN: path: sentence"; without a place if there is
 * none, without the file if it is NULL. A last line gives the number of further ones. */
void faults_describe(const struct faults *faults, const char *file, struct text *text);

/* Makes a job of a TFJob document: kind, defaults, normalized role keys, the older forms (an array
 * of replicaSpecs; when strict, versions v1alpha1 to v1beta2), validation. Collects all faults;
 * ERR_INVALID when there is one, and then *ret_job is untouched. `document` may be NULL for a value
 * made by the program: its faults have no places. The root is copied. */
int job_read(const struct json *root, const struct document *document,
	     enum job_strictness strictness, struct faults *faults, struct job **ret_job) MUST_USE;
/* Adds a reference, to keep a borrowed job. A shared job must not be changed. */
struct job *job_ref(const struct job *job) MUST_USE;
/* Releases a reference, and frees the job with the last one. NULL is fine. */
void job_free(struct job *job);
void job_cleanup(struct job **job);

/* Sets the job's uid in the store; job_read itself leaves "" (a uid in a file is another job's). */
void job_set_uid(struct job *job, const char *uid);

/* Adds the paths of fields that have no effect for processes on this machine (images, volumes, node
 * selectors …), once each for all roles, as one comma-separated part of a sentence. */
void job_describe_ignored_here(const struct job *job, struct text *text);
/* Adds the job's own variables that override muster's identity of a replica: "TF_CONFIG (worker,
 * ps), RANK (worker)"; nothing if there are none, or only one replica. */
void job_describe_own_identity(const struct job *job, struct text *text);
/* Whether it has several replicas, each of which runs torchrun, which starts its own processes. */
bool job_nests_torchrun(const struct job *job);

const struct role *job_role(const struct job *job,
			    const char *role_name); /* lower case; NULL when none */
const struct role *job_role_of_kind(const struct job *job, enum role_kind kind);
int job_replica_count(const struct job *job);
/* What is started, in the words of a shell. Nothing if only its image says, or without a role. */
void role_describe_command(const struct role *role, size_t most_columns, struct text *text);
/* "worker=2 ps=1" */
void job_describe_size(const struct job *job, struct text *text);
/* Whether the exit of a replica of this role restarts the whole job (restartScope). */
bool job_restarts_whole(const struct job *job, const struct role *role);
/* Whether a new count of this role restarts the whole job, because its peers got the old count when
 * they started and cannot change it while they run. Not for an evaluator, which has no peers, and
 * not for workers of a dynamic job (enableDynamicWorker). */
bool job_resizes_whole(const struct job *job, const struct role *role);
/* The chief's or master's role, NULL if worker 0 is the leader. */
const struct role *job_leader_role(const struct job *job);
/* The role whose success is the job's: chief or master, else the workers. A role without replicas
 * decides nothing. NULL: there is none. */
const struct role *job_deciding_role(const struct job *job);
/* The role whose replica 0 is the default replica: the deciding one, else the first. NULL: it has
 * no roles (a TFJob of somebody else). */
const struct role *job_default_role(const struct job *job);
/* The signal of a stop of this job: the job's own, else that which muster got. But when a terminal
 * closes, SIGTERM: scripts that save their state handle it, and seldom SIGHUP; an elastic job gets
 * SIGHUP, as with torchrun. */
int stop_signal_of(const struct job *job);
/* JOB-ROLE-INDEX, the name of a replica's Pod, as Kubeflow's operator names it. Caller frees. */
char *job_pod_name(const struct job *job, const struct role *role, int index) MUST_USE;
/* The name of a job in command lines that muster prints: "train", or on a cluster
 * "kubernetes/team/train", followed by the options that select the cluster (" --context lab", each
 * word quoted for a shell; NULL: none). The namespace is NULL for a local job. Caller frees. */
char *job_words_new(const char *namespace_name, const char *name, const char *choice) MUST_USE;

extern const char *const restart_policy_words[4];
extern const char *const restart_scope_words[3]; /* "replica", "job", "worker" */
extern const char *const clean_policy_words[3];
