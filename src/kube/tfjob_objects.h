/* The Pods and Services of a TFJob object, field by field as training-operator 1.9 creates them, so
 * that either program can continue the other's jobs.
 *
 * Source: sections 2.1 to 2.6 of what was recorded of 1.9.4 (docs/operator.md lists the
 * differences). The objects depend on the job alone. */
#pragma once

#include "base/json.h"
#include "base/text.h"
#include "kube/objects.h"
#include "spec/job.h"

/* Options of an operator for the objects of all jobs. Texts are borrowed. */
struct tfjob_manner {
	const char *cluster_domain; /* domain of addresses, as CUSTOM_CLUSTER_DOMAIN; NULL: none */
	/* One headless Service per job, and Pods with host names in it; else one Service per
	 * replica, as training-operator creates them. */
	bool has_one_service;
};

/* The ownerReferences of objects that the TFJob owns. */
struct json *tfjob_owner_references_new(const struct job *job, const char *owner_uid) MUST_USE;
/* The metadata of an object that the TFJob owns. */
struct json *tfjob_metadata_new(const struct job *job, const char *name,
				const char *owner_uid) MUST_USE;
/* The Pod of a replica in an attempt. From the second attempt on it has an annotation with the
 * attempt. `owner_uid` is the TFJob's. */
struct json *tfjob_pod_new(const struct objects *objects, const struct role *role, int index,
			   int attempt, const char *owner_uid) MUST_USE;
/* The headless Service of one replica, with the replica's name. */
struct json *tfjob_service_new(const struct job *job, const struct role *role, int index,
			       const char *owner_uid) MUST_USE;
/* The headless Service of a whole job, with the job's name. */
struct json *tfjob_job_service_new(const struct job *job, const char *owner_uid) MUST_USE;

/* The cluster's schema of TFJobs, a CustomResourceDefinition. That of training-operator prunes
 * unknown status fields, including those that muster needs after a restart. */
#define TFJOB_DEFINITION "tfjobs.kubeflow.org"

/* Returns ERR_UNSUPPORTED, with advice, if the definition prunes what we write into a status. */
int tfjob_definition_check(const struct json *definition, struct err *err) MUST_USE;
/* The same, judged by the answer to a write of a whole status. */
int tfjob_definition_check_answer(const struct json *tfjob, struct err *err) MUST_USE;
