/* Command lines as people copy them: words that a shell reads as they were. */
#pragma once

#include "base/text.h"

/* Adds the word, in quotes where a POSIX shell would read something else without them. */
void shell_word_add(struct text *text, const char *word);
