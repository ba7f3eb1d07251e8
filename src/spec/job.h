/* A job: what the user asked for. A TFJob `kubeflow.org/v1`, checked, with its defaults filled in.
 *
 * Files, flags and scripts all become one JSON document, and job_read makes a job of it. The
 * document stays with the job: what is printed or sent elsewhere is what the user wrote, plus what
 * normalising changed. Source of the rules: Kubeflow training-operator v1.9,
 * pkg/apis/kubeflow.org/v1/tensorflow_{types,defaults}.go and
 * pkg/webhooks/tensorflow/tfjob_webhook.go. Fields of ours: runPolicy.restartScope,
 * runPolicy.gracePeriodSeconds and runPolicy.stopSignal; spec.elasticPolicy is taken and means
 * nothing yet. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/msec.h"
#include "base/own.h"
#include "base/yaml.h"
#include "spec/fetch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
	RESTART_SCOPE_REPLICA, /* the failed replica alone: what TFJob does, default of files */
	RESTART_SCOPE_JOB, /* every replica: synchronous training, whose peers cannot be rejoined */
	RESTART_SCOPE_WORKER, /* a worker or evaluator alone; a lost ps, chief or master restarts
				 the job */
};

enum success_policy {
	SUCCESS_DEFAULT, /* chief (or master) where there is one, else worker 0 or all workers */
	SUCCESS_ALL_WORKERS, /* all workers where there is no chief */
};

enum clean_policy {
	CLEAN_NONE,
	CLEAN_RUNNING,
	CLEAN_ALL,
};

/* One variable of a container's `env`. value is NULL for a valueFrom, which means nothing on this
 * machine. */
struct env_entry {
	const char *name;
	const char *value; /* not expanded yet */
};

/* The container of a Pod template that trains: the first one named `tensorflow`, else the first. */
struct container {
	const char *name;
	const char *image; /* NULL when not given: only Kubernetes needs one */
	const char *const *command; /* NULL-terminated; NULL when not given */
	const char *const *args; /* NULL-terminated; NULL when not given */
	const char *working_dir; /* NULL when not given */
	const struct env_entry *env;
	size_t n_env;
	double processors; /* limits.cpu, else requests.cpu; 0 when neither is given */
	/* Where they stand in the file, or would stand; line 0 without a file. For faults that only
	 * a back end finds. */
	struct place command_place;
	struct place working_dir_place;
	struct place gpu_place;
};

#define JOB_GPU_RESOURCE "nvidia.com/gpu"
#define JOB_GPUS_MAX 1024
#define JOB_GPUS_SHARED (-1) /* nothing is said: its part of what this machine has */
#define JOB_GPUS_ALL (-2) /* every one of this machine, together with the others */
/* Annotation of a Pod template with the value "all": what no limit can say. */
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
	struct role *roles; /* in the order of enum role_kind, others behind */
	size_t n_roles;

	enum success_policy success_policy;
	enum clean_policy clean_policy;
	enum restart_scope restart_scope;
	int backoff_limit; /* restarts allowed; -1: without limit */
	msec active_deadline; /* -1: none */
	msec ttl_after_finished; /* -1: kept */
	msec grace; /* between signal and KILL on a planned stop: that of the stop, else
		       runPolicy.gracePeriodSeconds, else the longest of the templates, else 30 s */
	int stop_signal; /* number of the signal that asks its processes to end:
			    runPolicy.stopSignal; 0 when not given (spec/stop_signal.h) */
	bool is_suspended;
	bool is_dynamic; /* enableDynamicWorker */
	bool has_private_network; /* here; annotation muster/private-network */
	bool has_network_policy; /* on a cluster; annotation muster/network-policy */
	int services; /* annotation muster/services: of enum job_services */
	int pod_server_port; /* annotation muster/pod-server; 0: its Pods start by themselves */
	const char *elastic_id; /* annotation muster/elastic; NULL: it is whole */
	const char *managed_by; /* NULL when not given */

	/* Someone asked for the end of this job (annotation muster/stop): the word for why, or
	 * NULL. */
	const char *stop_reason;
	const struct fetch *fetches; /* what is fetched from its Pods at its end */
	size_t n_fetches;

	const char *changes; /* what became of an older form of TFJob when it was read; NULL: it was
				of v1 */
	struct json *document; /* the whole TFJob as normalised; owned */
	struct arena *arena; /* owns everything above */
	int n_references;
};

/* Annotation with the value "true" of a job whose replicas have a network of their own, which
 * nobody else reaches and from which nothing else is reached. Of jobs on this machine alone. */
#define JOB_ANNOTATION_PRIVATE_NETWORK "muster/private-network"

/* Annotation with the value "none" of a job whose Pods others reach: on a cluster a job has a
 * NetworkPolicy that lets in its own Pods alone ("job"). */
#define JOB_ANNOTATION_NETWORK_POLICY "muster/network-policy"
#define JOB_NETWORK_POLICY_NONE "none"

/* Annotation of a TFJob object, with one of the words of enum job_services: what its Pods are found
 * by, where it is not as the operator was told. */
#define JOB_ANNOTATION_SERVICES "muster/services"
enum job_services {
	SERVICES_PER_REPLICA, /* "per-replica": as training-operator makes them */
	SERVICES_PER_JOB, /* "per-job" */
	SERVICES_COUNT, /* the job says nothing */
};
extern const char *const job_services_words[SERVICES_COUNT];

/* Annotation of a TFJob object, with a port: at that of its Pods there is a server that starts the
 * training when it is told who the Pod is (serve/pod_server.h), which the operator does. */
#define JOB_ANNOTATION_POD_SERVER "muster/pod-server"

/* Annotation of a job that is one machine's part of an elastic job: what its machines call that
 * one. How many processes it has, and when they run, is agreed upon with them. Jobs on this
 * machine. */
#define JOB_ANNOTATION_ELASTIC "muster/elastic"

/* Annotation whose presence asks for an orderly end. Its value is one of the words of enum
 * stop_reason. */
#define JOB_ANNOTATION_STOP "muster/stop"
/* And the seconds that this one end leaves, where they are not the job's own. */
#define JOB_ANNOTATION_STOP_GRACE "muster/stop-grace"

/* Why a job was ended before its time; also decides the exit code (130, 143, 129, 130). */
enum stop_reason {
	STOP_INTERRUPTED, /* "interrupted": Ctrl-C */
	STOP_TERMINATED, /* "terminated": TERM to muster */
	STOP_HANGUP, /* "hangup": the terminal closed */
	STOP_REQUESTED, /* "stopped": muster stop */
	STOP_REASON_COUNT,
};
extern const char *const stop_reason_words[STOP_REASON_COUNT];
/* 130, 143 or 129; 130 for a word that is none. */
int stop_reason_exit_code(const char *word);

/* The caller decides how strict it is. What has another type than its field is a fault for all. */
enum job_strictness {
	JOB_STRICT, /* command line: what can never run is a fault */
	JOB_LENIENT, /* a store's or server's document, which was let in before: odd values are read
			as the old operator read them */
	JOB_ADMISSION, /* webhook of the operator: as lenient, and an image is required, so that
			  the faults are those of training-operator's webhook */
};

/* Something wrong with a document, at its place. */
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
/* LIMIT_FAULTS are there: what else is added will only be counted. */
bool faults_are_full(const struct faults *faults);
void fault_add(struct faults *faults, struct place place, const char *path, const char *format, ...)
	PRINTF_LIKE(4, 5);
/* Puts the faults from number `first` on into the order of their places. */
void faults_sort(struct faults *faults, size_t first);
/* Each fault on a line of its own: "FILE:LINE:COLUMN: path: sentence"; without
 * a place where there is none, without the file where it is NULL. A last line
 * says how many more there are. */
void faults_describe(const struct faults *faults, const char *file, struct text *text);

/* Makes a job of a TFJob document: kind, defaults, normalised role keys, the older forms (an array
 * of replicaSpecs; when strict, versions v1alpha1 to v1beta2), validation. All faults are
 * collected; ERR_INVALID when there is one, and *ret_job is untouched then. `document` may be NULL
 * for a value made by the program: its faults have no places. The root is copied. */
int job_read(const struct json *root, const struct document *document,
	     enum job_strictness strictness, struct faults *faults, struct job **ret_job) MUST_USE;
/* One more reference, for who keeps a job that it was lent. Nobody changes one that is shared. */
struct job *job_ref(const struct job *job) MUST_USE;
/* With the last reference. NULL is fine. */
void job_free(struct job *job);
void job_cleanup(struct job **job);

/* Gives this job its identity in the store; job_read itself leaves "" (a uid in a file was another
 * job's). */
void job_set_uid(struct job *job, const char *uid);

/* Fields that have no meaning for processes on this machine (images, volumes, node selectors …):
 * their paths, once each for all roles, as one comma separated sentence part; empty when there is
 * none. */
void job_describe_ignored_here(const struct job *job, struct text *text);
/* Variables of the job itself in the place of those by which muster tells each replica which one it
 * is: "TF_CONFIG (worker, ps), RANK (worker)"; nothing where there are none, or one replica. */
void job_describe_own_identity(const struct job *job, struct text *text);
/* It has several replicas, and each runs torchrun, which starts processes of its own. */
bool job_nests_torchrun(const struct job *job);

const struct role *job_role(const struct job *job,
			    const char *role_name); /* lower case; NULL when none */
const struct role *job_role_of_kind(const struct job *job, enum role_kind kind);
int job_replica_count(const struct job *job);
/* "worker=2 ps=1" */
void job_describe_size(const struct job *job, struct text *text);
/* Whether the end of a replica of this role starts the whole job again (restartScope). */
bool job_restarts_whole(const struct job *job, const struct role *role);
/* Whether another count of this role does: its peers were told of the old one when they started,
 * and cannot take the change while they run. Not so for an evaluator, which none of them knows, and
 * for workers that come and go (enableDynamicWorker). */
bool job_resizes_whole(const struct job *job, const struct role *role);
/* The chief's or master's role, NULL where worker 0 leads. */
const struct role *job_leader_role(const struct job *job);
/* Whose success is the job's: chief or master, else the workers. A role without replicas decides
 * nothing. NULL: there is none of them. */
const struct role *job_deciding_role(const struct job *job);
/* Whose replica 0 is meant where none is named: the one that decides, else the first. */
const struct role *job_default_role(const struct job *job);
/* JOB-ROLE-INDEX, the name of a replica's Pod, as Kubeflow's operator names it. Caller frees. */
char *job_pod_name(const struct job *job, const struct role *role, int index) MUST_USE;

extern const char *const restart_policy_words[4];
extern const char *const restart_scope_words[3]; /* "replica", "job", "worker" */
extern const char *const clean_policy_words[3];
