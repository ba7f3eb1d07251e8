/* What may stand where a person presses Tab: commands, options and their words out of the tables,
 * names of jobs and replicas out of the store of this machine. No cluster is asked: a Tab does not
 * wait. */
#pragma once

#include "base/text.h"
#include "command/options.h"

#include <stddef.h>

/* A file of the shell's own may stand there, too. */
#define COMPLETION_FILES ":files"

/* Adds a line for each word that may take the place of the last one of `words`, which is a
 * beginning and may be empty; the others stand before it, behind "muster". Behind a tab a line has
 * what the word means. `options` are those of the call that asks. */
void completion_add_words(const struct options *options, const char *const *words, size_t count,
			  struct text *lines);
