/* The words that the shell offers when a user presses Tab: commands, options and option words from
 * the tables, names of jobs and replicas from the store of this machine. No cluster is contacted,
 * because Tab must not wait. */
#pragma once

#include "base/text.h"
#include "command/options.h"

#include <stddef.h>

/* This line says that file names, which the shell knows itself, fit as well. */
#define COMPLETION_FILES ":files"

/* Adds a line for each word that may replace the last one of `words`, which is a prefix and may be
 * empty; the words before it follow "muster". After a tab, a line has the word's meaning. `options`
 * are those of the calling command. */
void completion_add_words(const struct options *options, const char *const *words, size_t count,
			  struct text *lines);
