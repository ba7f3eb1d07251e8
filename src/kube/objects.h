/* The objects of a job on Kubernetes: what `run --on kubernetes` makes and `render --as pods`
 * shows.
 *
 * One ConfigMap owns everything else, so that one deletion takes all; one headless Service gives
 * each Pod a name; one Pod stands for each replica. Files that travel are ConfigMaps too
 * (kube/objects_all.h).
 * All of it follows from the job alone: nothing here talks to a cluster.
 *
 * Names: a Pod is JOB-ROLE-INDEX in every attempt, as Kubeflow names it, and says the attempt in a
 * label. ConfigMaps are JOB.job, JOB.files-N-DIGEST and JOB.cluster-DIGEST, a Secret is JOB.env and
 * a NetworkPolicy JOB.network: no job's name has a dot, so that nothing of one job can be taken for
 * something of another. */
#pragma once

#include "base/json.h"
#include "base/own.h"
#include "base/text.h"
#include "spec/job.h"
#include "spec/job_secret.h"

/* Labels of all objects, and of Pods. Kubeflow's own (training.kubeflow.org/job-name, replica-type,
 * replica-index) are there too, for the tools that look for them. */
#define OBJECTS_LABEL_MANAGED_BY "app.kubernetes.io/managed-by"
#define OBJECTS_MANAGED_BY "muster"
#define OBJECTS_LABEL_JOB "muster/job"
#define OBJECTS_LABEL_ROLE "muster/role"
#define OBJECTS_LABEL_INDEX "muster/index"
#define OBJECTS_LABEL_ATTEMPT "muster/attempt"
/* Only of ConfigMaps that Pods read, files or the cluster: a list of jobs leaves them out, for they
 * may be large. */
#define OBJECTS_LABEL_PART "muster/part"
#define OBJECTS_PART_FILES "files"
/* Selects the ConfigMaps that jobs are. */
#define OBJECTS_SELECTOR_JOBS                                                                      \
	OBJECTS_LABEL_MANAGED_BY "=" OBJECTS_MANAGED_BY "," OBJECTS_LABEL_PART                     \
				 "!=" OBJECTS_PART_FILES

/* Key of the owner's data that holds the TFJob document, as JSON. */
#define OBJECTS_DOCUMENT_KEY "document"

/* Says what stands in the way of Pods: a name too long for them, more replicas than a TF_CONFIG can
 * name, a container without an image. True when there is nothing. */
bool objects_check(const struct job *job, struct faults *faults) MUST_USE;

/* The same of the names of its Pods alone. */
bool objects_check_names(const struct job *job, struct faults *faults) MUST_USE;

/* JOB.job, the ConfigMap that owns all else. Caller frees. */
char *objects_owner_name(const char *job_name) MUST_USE;
/* JOB.network. Caller frees. */
char *objects_network_policy_name(const char *job_name) MUST_USE;
/* Selects all objects of a job by their labels. Caller frees. */
char *objects_selector(const char *job_name) MUST_USE;
/* The role and the index in a job_pod_name, of a role that the job need not have: where its name
 * stands in `name`, and how long it is. False: it is no such name. */
bool objects_read_pod_name(const struct job *job, const char *name, const char **ret_role,
			   size_t *ret_role_len, int *ret_index) MUST_USE;
/* Adds the address by which the others reach a replica: POD.JOB.NAMESPACE.svc:PORT. */
void objects_add_address(const struct job *job, const struct role *role, int index,
			 struct text *text);

/* metadata with name, namespace and the labels of every object of this job; with a reference to the
 * owner where its uid is known (NULL before it is made). */
struct json *objects_metadata_new(const struct job *job, const char *name,
				  const char *owner_uid) MUST_USE;

/* What the metadata of the owned say of the owner, as ownerReferences. */
struct json *objects_owner_references_new(const char *job_name, const char *owner_uid) MUST_USE;

/* Of an object's metadata the owner that controls it, or else the first: a server may be asked to
 * name several. NULL: it has none. */
const struct json *objects_owner_of(const struct json *metadata);

/* An immutable ConfigMap that Pods read, without its data. */
struct json *objects_part_new(const struct job *job, const char *name,
			      const char *owner_uid) MUST_USE;

/* The ConfigMap that owns all else. What else is remembered of a job is added by the store. */
struct json *objects_owner_new(const struct job *job) MUST_USE;
/* The Secret with variables of the job, which its document names. */
struct json *objects_secret_new(const struct job *job, const struct job_secret *secret,
				const char *owner_uid) MUST_USE;
/* One headless Service for all Pods of a job, which it selects by these labels. Pods that are not
 * ready have their names too: training waits for its peers before it is ready. */
struct json *objects_headless_service_new(const struct job *job, struct json *take_metadata,
					  struct json *take_selector) MUST_USE;
/* That of a job of `run`. */
struct json *objects_service_new(const struct job *job, const char *owner_uid) MUST_USE;
/* What lets in nobody but the Pods of the job, on any port, where the cluster's network enforces
 * policies: TensorFlow's servers run what any client sends. What they reach themselves is left
 * alone. Of jobs with `has_network_policy`. */
struct json *objects_network_policy_new(const struct job *job, const char *owner_uid) MUST_USE;

/* What the Pods of a job have in common, made once: 500 Pods name the same 500 addresses. The job
 * outlives it. */
struct objects;
struct objects *objects_new(const struct job *job) MUST_USE;
void objects_free(struct objects *objects); /* NULL is fine */
void objects_cleanup(struct objects **objects);

/* Of a large job: the ConfigMap of what all TF_CONFIGs have in common, which the Pods' own then
 * speak of as $(MUSTER_CLUSTER). NULL where each Pod is told by itself. Each of 500 Pods would be
 * 40 kB otherwise, and so would be every change that is told of one. A job of another size (muster
 * scale) has one of another name. */
struct json *objects_cluster_new(const struct objects *objects, const char *owner_uid) MUST_USE;

/* The Pod of one replica in one attempt.
 *
 * It is the role's template, with what makes it this replica: name, host name and subdomain,
 * labels, and, in the container that trains, the variables of spec/tf_cluster.h before its own, so
 * that the job's own win. restartPolicy is Never, because muster restarts. What the template is
 * silent about: the grace time is the job's, enableServiceLinks is off, and the security settings
 * are those of Pod Security's level "restricted". */
struct json *objects_pod_new(const struct objects *objects, const struct role *role, int index,
			     int attempt, const char *owner_uid) MUST_USE;
