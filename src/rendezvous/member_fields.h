/* Reads and checks JSON fields of elastic jobs. All functions return ERR_INVALID with the field and
 * the expected value. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "KEY: must be WANTED" */
int member_field_fault(struct err *err, const char *key, const char *wanted);

int member_field_number(const struct json *object, const char *key, int64_t low, int64_t high,
			int64_t *ret_number, struct err *err) MUST_USE;
/* A field that earlier versions lack: 0 if absent. */
int member_field_newer(const struct json *object, const char *key, int64_t high,
		       int64_t *ret_number, struct err *err) MUST_USE;
int member_field_int(const struct json *object, const char *key, int low, int high, int *ret_number,
		     struct err *err) MUST_USE;
int member_field_flag(const struct json *object, const char *key, bool *ret_flag,
		      struct err *err) MUST_USE;
int member_field_word(const struct json *object, const char *key, const char *const *words,
		      size_t count, int *ret_index, struct err *err) MUST_USE;
/* "uid": a UUID or empty. In the arena. */
int member_field_uid(const struct json *object, struct arena *arena, const char **ret_uid,
		     struct err *err) MUST_USE;
/* "key": a UUID. In the arena; NULL if an earlier version does not send it. */
int member_field_key(const struct json *object, struct arena *arena, const char **ret_key,
		     struct err *err) MUST_USE;
/* An offer (rendezvous/world_cluster.h) in the words of offer_add, in the arena. */
int member_field_offer(const struct json *offer, struct arena *arena, const char **ret_offer,
		       struct err *err) MUST_USE;
