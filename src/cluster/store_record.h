/* A job's record on a cluster. Pure.
 *
 * It is the ConfigMap that owns all other objects of the job: document, status, summary and
 * supervisor are texts under `data`. Or it is a TFJob object: the document is all but its status,
 * which is a subresource. The record's uid is the object's, which the server gives. Its version is
 * the resourceVersion: Kubernetes lets clients compare them as numbers (KEP-5504). */
#pragma once

#include "base/json.h"
#include "kube/request.h"
#include "store/store.h"

/* Annotation with the uid that the record had before the server gave it one: a muster process that
 * lost the answer to a create finds its own object by it. */
#define STORE_KUBE_MADE_AS "muster/made-as"

/* The form of records in objects of one kind. */
struct store_kube_form {
	const struct kube_resource *resource;
	char *(*object_name)(const char *job_name); /* caller frees */
	/* Reads an object; the caller frees the record. ERR_INVALID: it holds no job. */
	int (*read)(const struct json *object, struct store_record *ret_record, struct err *err);
	/* The body of the call that changes this version; the server rejects it (409) for any other
	 * version. Caller frees. */
	struct json *(*change_new)(const char *job_name, const struct store_change *change,
				   int64_t version);
	enum kube_verb change_verb; /* which changes this part: */
	const char *change_subresource; /* NULL: the whole object */
	/* Whether the server has stored what it answers; NULL: it always does. */
	int (*check_answer)(const struct json *object, struct err *err);
};
extern const struct store_kube_form store_kube_config_maps, store_kube_tfjobs;

/* The ConfigMap of a new record. ERR_INVALID if the document is no job. Caller frees. */
int store_kube_config_map(const struct store_record *record, struct json **ret_config_map,
			  struct err *err) MUST_USE;
/* Reads a ConfigMap; the caller frees the record with store_record_done. ERR_INVALID for a
 * ConfigMap that is not muster's. */
int store_kube_read(const struct json *config_map, struct store_record *ret_record,
		    struct err *err) MUST_USE;
