/* Quotes words for command lines that users copy, so that a shell reads them unchanged. */
#pragma once

#include "base/text.h"

/* Appends the word, with quotes if a POSIX shell would otherwise change it. */
void shell_word_add(struct text *text, const char *word);
