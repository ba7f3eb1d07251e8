/* The Pods and Services of a TFJob object, member for member as training-operator 1.9 makes them,
 * so that its jobs go on under muster and the other way round.
 *
 * Source: sections 2.1 to 2.6 of what was recorded of 1.9.4 (docs/operator.md has what differs).
 * All of it follows from the job alone. */
#pragma once

#include "base/json.h"
#include "base/own.h"
#include "base/text.h"
#include "spec/job.h"

#include <stdbool.h>

/* How the objects of all jobs are made, as an operator was asked to. Texts are borrowed. */
struct tfjob_manner {
	const char *cluster_domain; /* of addresses, as CUSTOM_CLUSTER_DOMAIN; NULL: none */
	/* A headless Service for each job, and Pods with host names in it; else one for each
	 * replica, as training-operator makes them. */
	bool has_one_service;
};

/* Appends the address of a replica. */
void tfjob_add_address(const struct tfjob_manner *manner, const struct job *job,
		       const struct role *role, int index, struct text *text);

/* What the Pods of a job have in common, made once. The job and the manner outlive it. */
struct tfjob_objects;
struct tfjob_objects *tfjob_objects_new(const struct job *job,
					const struct tfjob_manner *manner) MUST_USE;
void tfjob_objects_free(struct tfjob_objects *objects); /* NULL is fine */

/* What the metadata of all that a TFJob owns say of it. */
struct json *tfjob_owner_references_new(const struct job *job, const char *owner_uid) MUST_USE;
/* The metadata of an object that the TFJob owns. */
struct json *tfjob_metadata_new(const struct job *job, const char *name,
				const char *owner_uid) MUST_USE;
/* The Pod of a replica in an attempt, which it says in an annotation from the second one on. The
 * object with `owner_uid` is the TFJob. */
struct json *tfjob_pod_new(const struct tfjob_objects *objects, const struct role *role, int index,
			   int attempt, const char *owner_uid) MUST_USE;
/* The headless Service of one replica, of the same name. */
struct json *tfjob_service_new(const struct job *job, const struct role *role, int index,
			       const char *owner_uid) MUST_USE;
/* That of a whole job, of the name of the job. */
struct json *tfjob_job_service_new(const struct job *job, const char *owner_uid) MUST_USE;
