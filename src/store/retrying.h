/* A store in front of another one, for the supervisor of one job: it goes on when the disk is full.
 *
 * A job that trains must not be lost because its status cannot be written. Changes that the store
 * behind refuses (no space, I/O error) are kept in memory, and reading gives the record with them;
 * every later call tries to write them again. Conflicts and absent records are told as ever. */
#pragma once

#include "base/own.h"
#include "store/store.h"

/* Takes the store over and frees it in the end. `on_trouble` gets a sentence when writing begins to
 * fail, and NULL when everything is written. */
struct store *store_retrying_new(struct store *take_store,
				 void (*on_trouble)(const char *sentence, void *data),
				 void *data) MUST_USE;

/* True while something waits to be written; what could not be written is lost with the store. */
bool store_retrying_is_behind(const struct store *store);
