/* A store in front of another one, for the supervisor of one job: it continues when the disk is
 * full.
 *
 * A training job must not be lost because its status cannot be written. Changes that the other
 * store rejects (no space, I/O error) are kept in memory, and reading returns the record with them.
 * Every later call tries to write them again. Conflicts and missing records are returned as
 * usual. */
#pragma once

#include "base/own.h"
#include "store/store.h"

/* Takes the store over and frees it with itself. `on_trouble` gets a sentence when writing starts
 * to fail, and NULL when everything is written. */
struct store *store_retrying_new(struct store *take_store,
				 void (*on_trouble)(const char *sentence, void *data),
				 void *data) MUST_USE;

/* Whether changes wait to be written; unwritten changes are lost with the store. */
bool store_retrying_is_behind(const struct store *store);
