/* Checks that a regular expression is cheap enough to search any amount of text.
 *
 * The cost of an expression per byte follows from its length when its repeats are written out:
 * "(a{1,200}){1,200}" stands for 40,000 letters, and three levels of that fill any memory.
 * Back-references need a time that doubles with each byte. Both are rejected before a search; the
 * rest is linear (logs/reader.c). */
#pragma once

#include "base/err.h"
#include "base/own.h"

#define EXPRESSION_LIMIT 500 /* characters that an expression may stand for */

/* ERR_INVALID says what is rejected. The compiler reports an invalid expression. */
int expression_check(const char *expression, struct err *err) MUST_USE;
