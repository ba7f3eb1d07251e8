#include "unit.h"

#include <assert.h>

#define TESTS_MOST 200

static struct CMUnitTest tests[TESTS_MOST];
static size_t n_tests;

void unit_add(const char *name, CMUnitTestFunction test, CMFixtureFunction before,
	      CMFixtureFunction after)
{
	assert(n_tests < TESTS_MOST);
	tests[n_tests++] = (struct CMUnitTest){name, test, before, after, NULL};
}

int unit_run(void)
{
	return _cmocka_run_group_tests("tests", tests, n_tests, NULL, NULL);
}
