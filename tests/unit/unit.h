/* What every cmocka test needs before cmocka.h itself. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/instant.h"

/* TEST(what_the_test_says_in_a_sentence) { … }: main() runs all tests of a file in their order.
 * TEST_WITH has functions before and after it, which set and release `*state`. */
#define TEST_WITH(before, after, name)                                                             \
	static void name(void **state);                                                            \
	__attribute__((constructor)) static void add_##name(void)                                  \
	{                                                                                          \
		unit_add(#name, name, before, after);                                              \
	}                                                                                          \
	static void name(__attribute__((unused)) void **state)
#define TEST(name) TEST_WITH(NULL, NULL, name)
/* The same as TEST_WITH, for a test that gets the struct: TEST_IN(before, after, struct scene
 * *scene, name). */
#define TEST_IN(before, after, parameter, name)                                                    \
	static void in_##name(parameter);                                                          \
	TEST_WITH(before, after, name)                                                             \
	{                                                                                          \
		in_##name(*state);                                                                 \
	}                                                                                          \
	static void in_##name(parameter)

/* FIXTURE(struct scene, begin, end): a struct for each test, zeroed, then begun by a function (or
 * not: (void)); it is ended and freed after the test. For TEST_IN(fixture_begin, fixture_end,
 * struct scene *scene, name). */
#define FIXTURE(type, begin, end)                                                                  \
	static int fixture_begin(void **state)                                                     \
	{                                                                                          \
		*state = calloc(1, sizeof(type));                                                  \
		begin(*state);                                                                     \
		return 0;                                                                          \
	}                                                                                          \
	static int fixture_end(void **state)                                                       \
	{                                                                                          \
		end(*state);                                                                       \
		free(*state);                                                                      \
		return 0;                                                                          \
	}

void unit_add(const char *name, CMUnitTestFunction test, CMFixtureFunction before,
	      CMFixtureFunction after);
int unit_run(void); /* all tests that were added; returns the exit code */

/* A moment of virtual time. */
static inline instant moment(msec at)
{
	return (instant){at};
}
