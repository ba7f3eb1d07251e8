/* A job's record as it stands in a cluster: the ConfigMap that owns all else of the job. Pure.
 *
 * Document, status, summary and supervisor are texts under `data`. The record's uid is that of the
 * ConfigMap, which the server gives, and its version the resourceVersion: Kubernetes lets them be
 * compared as numbers (KEP-5504). */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/own.h"
#include "kube/request.h"
#include "store/store.h"

/* Annotation of the uid that the record had before the server gave it one: a muster that lost the
 * answer to a create finds its own object by it. */
#define STORE_KUBE_MADE_AS "muster/made-as"

/* How records stand in objects of one kind. */
struct store_kube_form {
	const struct kube_resource *resource;
	char *(*object_name)(const char *job_name); /* caller frees */
	/* Reads an object; the caller ends the record. ERR_INVALID for one that holds no job. */
	int (*read)(const struct json *object, struct store_record *ret_record, struct err *err);
	/* The body of the call that changes a version, and is refused (409) for any other. Caller
	 * frees. */
	struct json *(*change_new)(const char *job_name, const struct store_change *change,
				   int64_t version);
	enum kube_verb change_verb; /* and of which part: */
	const char *change_subresource; /* NULL: the whole */
	/* Whether the server has kept what it answers; NULL: it always does. */
	int (*check_answer)(const struct json *object, struct err *err);
};
extern const struct store_kube_form store_kube_config_maps;

/* The ConfigMap of a new record. ERR_INVALID where the document is no job. Caller frees. */
int store_kube_config_map(const struct store_record *record, struct json **ret_config_map,
			  struct err *err) MUST_USE;
/* Whether it was made of the record that had this uid then. */
bool store_kube_is_made_as(const struct json *config_map, const char *uid);
/* Reads it back; the caller ends the record with store_record_done. ERR_INVALID for a ConfigMap
 * that is not of muster. */
int store_kube_read(const struct json *config_map, struct store_record *ret_record,
		    struct err *err) MUST_USE;
