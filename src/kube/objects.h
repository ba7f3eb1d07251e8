/* The objects of a job on Kubernetes: created by `run --on kubernetes`, shown by `render --as
 * pods`.
 *
 * One ConfigMap owns all other objects, so that one deletion removes all. One headless Service
 * gives each Pod a name. One Pod runs each replica. Files copied into Pods are ConfigMaps too. The
 * objects depend on the job alone: nothing in this file talks to a cluster.
 *
 * Names: a Pod is JOB-ROLE-INDEX in every attempt, as in Kubeflow, and has the attempt as a label.
 * ConfigMaps are JOB.job, JOB.files-N-DIGEST and JOB.cluster-DIGEST, a Secret is JOB.env and a
 * NetworkPolicy JOB.network. No job's name has a dot, so no two jobs share a name. */
#pragma once

#include "base/json.h"
#include "spec/job.h"
#include "spec/job_files.h"
#include "spec/tf_cluster.h"

struct tfjob_manner; /* kube/tfjob_objects.h */

/* Labels of all objects, and of Pods. Kubeflow's own are set too, for tools that search them. */
#define OBJECTS_LABEL_MANAGED_BY "app.kubernetes.io/managed-by"
#define OBJECTS_MANAGED_BY "muster"
#define OBJECTS_LABEL_JOB "muster/job"
#define OBJECTS_LABEL_ROLE "muster/role"
#define OBJECTS_LABEL_INDEX "muster/index"
#define OBJECTS_LABEL_ATTEMPT "muster/attempt"
/* Only on ConfigMaps that Pods read, files or the cluster. A list of jobs omits them: they are
 * large. */
#define OBJECTS_LABEL_PART "muster/part"
#define OBJECTS_PART_FILES "files"
/* Selects the ConfigMaps that represent jobs. */
#define OBJECTS_SELECTOR_JOBS                                                                      \
	OBJECTS_LABEL_MANAGED_BY "=" OBJECTS_MANAGED_BY "," OBJECTS_LABEL_PART                     \
				 "!=" OBJECTS_PART_FILES

/* Kubeflow's labels, apiVersion kubeflow.org/v1. Pods of a TFJob object have only these, as
 * training-operator 1.9 sets them, and the attempt in an annotation. */
#define KUBEFLOW_LABEL(name) "training.kubeflow.org/" name
#define KUBEFLOW_LABEL_OPERATOR KUBEFLOW_LABEL("operator-name")
#define KUBEFLOW_OPERATOR "tfjob-controller"
#define KUBEFLOW_LABEL_JOB KUBEFLOW_LABEL("job-name")
#define KUBEFLOW_LABEL_ROLE KUBEFLOW_LABEL("replica-type")
#define KUBEFLOW_LABEL_INDEX KUBEFLOW_LABEL("replica-index")
#define POD_ANNOTATION_ATTEMPT "muster/attempt"

/* Which replica of which job a Pod is, from its labels, borrowed; NULL: absent. A Pod of a TFJob
 * without the annotation is of the first attempt, or training-operator started it. */
struct pod_labels {
	const char *job, *role, *index, *attempt;
};

bool pod_labels_are_of_tfjob(const struct json *metadata);
struct pod_labels pod_labels_of(const struct json *metadata);
/* The name of the job of an object of any kind; NULL: none. */
const char *pod_labels_job(const struct json *metadata);

/* The port of a role's training container, which all its processes listen on. */
#define OBJECTS_PORT_NAME "tfjob-port" /* Kubeflow's */
struct json *objects_port_new(const struct role *role) MUST_USE;
/* Adds it, unless the container has a port of that name. */
void objects_add_port(const struct role *role, struct json *container);
/* Whether a Service's ports have this number. */
bool objects_has_port(const struct json *ports, int64_t number);

/* Key of the owner's data with the TFJob document as JSON. */
#define OBJECTS_DOCUMENT_KEY "document"

/* Adds a fault for each obstacle to Pods: a name too long for them, more replicas than a TF_CONFIG
 * can list, a container without an image. True if there is none. */
bool objects_check(const struct job *job, struct faults *faults) MUST_USE;

/* The same for the names of the Pods alone. */
bool objects_check_names(const struct job *job, struct faults *faults) MUST_USE;

/* JOB.job, the ConfigMap that owns all other objects. Caller frees. */
char *objects_owner_name(const char *job_name) MUST_USE;
/* JOB.network. Caller frees. */
char *objects_network_policy_name(const char *job_name) MUST_USE;
/* Selects all objects of a job by their labels. Caller frees. */
char *objects_selector(const char *job_name) MUST_USE;
/* Finds the role and the index in a Pod's name. The job need not have that role. *ret_role points
 * into `name`. Returns false if `name` is not such a name. */
bool objects_read_pod_name(const struct job *job, const char *name, const char **ret_role,
			   size_t *ret_role_len, int *ret_index) MUST_USE;

/* metadata with name, namespace and the common labels of this job's objects. It has a reference to
 * the owner unless `owner_uid` is NULL, as before the owner's creation. */
struct json *objects_metadata_new(const struct job *job, const char *name,
				  const char *owner_uid) MUST_USE;

/* The ownerReferences of objects that the owner owns. */
struct json *objects_owner_references_new(const char *job_name, const char *owner_uid) MUST_USE;

/* The owner in an object's metadata that controls it, or else the first of several. NULL: none. */
const struct json *objects_owner_of(const struct json *metadata);

/* An immutable ConfigMap that Pods read, without its data. */
struct json *objects_part_new(const struct job *job, const char *name,
			      const char *owner_uid) MUST_USE;

/* The ConfigMap that owns all other objects. The store adds what else is recorded of a job. */
struct json *objects_owner_new(const struct job *job) MUST_USE;
/* The Secret with the job's variables, which the job's document names. */
struct json *objects_secret_new(const struct job *job, const struct job_secret *secret,
				const char *owner_uid) MUST_USE;
/* One headless Service for all Pods of a job, selected by these labels. Pods that are not ready
 * have names too, because training waits for its peers before it is ready. */
struct json *objects_headless_service_new(const struct job *job, struct json *take_metadata,
					  struct json *take_selector) MUST_USE;
/* The headless Service of a job of `run`. */
struct json *objects_service_new(const struct job *job, const char *owner_uid) MUST_USE;
/* A NetworkPolicy that admits only the job's Pods, on any port, if the cluster's network enforces
 * policies. TensorFlow servers run whatever a client sends. Outgoing traffic is not restricted.
 * Only for jobs with `has_network_policy`. */
struct json *objects_network_policy_new(const struct job *job, const char *owner_uid) MUST_USE;

/* Appends the ConfigMaps of the files to a list. Text is in `data` unchanged, so that kubectl shows
 * it; other bytes are in `binaryData`. The ConfigMaps are immutable, which saves the kubelet a
 * watch for each. Returns ERR_LIMIT if a file is too large for a ConfigMap. */
int objects_add_files(const struct job *job, const struct job_file *files, size_t n_files,
		      const char *owner_uid, struct json *list, struct err *err) MUST_USE;

/* The common part of a job's Pods, built once: 500 Pods name the same 500 addresses. The job and
 * the manner of a TFJob (NULL: it is a job of `run`) must outlive it. */
struct objects {
	const struct job *job;
	const struct tfjob_manner *manner;
	struct tf_cluster cluster;
	/* Contents and name of the ConfigMap of objects_cluster_new; NULL: none. */
	const char *shared_cluster, *shared_name;
	struct arena *arena;
};
struct objects *objects_new(const struct job *job, const struct tfjob_manner *manner) MUST_USE;
void objects_free(struct objects *objects); /* NULL is fine */
void objects_cleanup(struct objects **objects);

/* The ConfigMap with the common part of all TF_CONFIGs of a large job; the Pods refer to it as
 * $(MUSTER_CLUSTER). Returns NULL if each Pod has its own full TF_CONFIG. Otherwise each of 500
 * Pods, and each change reported of one, would be 40 kB. A job of another size (muster scale) has a
 * ConfigMap of another name. */
struct json *objects_cluster_new(const struct objects *objects, const char *owner_uid) MUST_USE;

/* The Pod of one replica in one attempt.
 *
 * It is the role's template plus the parts specific to the replica: name, host name, subdomain and
 * labels. The training container gets the variables of spec/tf_cluster.h before its own, so that
 * the job's own win. restartPolicy is Never, because muster restarts. Defaults for what the
 * template omits: the job's grace period, enableServiceLinks off, and the security settings of Pod
 * Security's level "restricted". */
struct json *objects_pod_new(const struct objects *objects, const struct role *role, int index,
			     int attempt, const char *owner_uid) MUST_USE;

/* Appends all objects of a job to a list, in their order of creation (the owner, what Pods need,
 * the Pods), in the form before the owner has a uid. Errors as in objects_add_files. */
int objects_add_all(const struct job *job, const struct job_file *files, size_t n_files,
		    const struct job_secret *secret, struct json *list, struct err *err) MUST_USE;
