/* Whether a regular expression can be searched for in any amount of text.
 *
 * What an expression costs for each byte follows from how long it is when its repeats are written
 * out: "(a{1,200}){1,200}" stands for 40,000 letters, and three levels of that fill any memory.
 * Back-references cost a time that doubles with each byte. Both are refused before anything is
 * searched; the rest is linear (logs/pattern.h). */
#pragma once

#include "base/err.h"
#include "base/own.h"

#define EXPRESSION_LIMIT 500 /* characters that one may stand for */

/* ERR_INVALID says what is refused. What is no regular expression at all is not this function's
 * concern: the compiler of it says so. */
int expression_check(const char *expression, struct err *err) MUST_USE;
