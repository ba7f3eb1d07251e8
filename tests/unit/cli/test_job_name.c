#include "unit.h"

#include "base/mem.h"
#include "cli/job_name.h"
#include "cli/local_jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The jobs of this machine: the first so many names that are asked for are taken. */
static int n_taken, n_asked;
static char last[100];

static int get(struct client *client, const char *name, struct json **ret_job, struct err *err)
{
	(void) client;
	snprintf(last, sizeof(last), "%s", name);
	if (n_asked++ >= n_taken)
		return err_set(err, ERR_NOT_FOUND, "no job");
	*ret_job = json_new_object();
	return 0;
}

static const struct client_functions functions = {.get = get};
static struct client jobs = {.functions = &functions};

int local_jobs_open(const struct options *options, const char *folder, struct client **ret_client)
{
	(void) options;
	(void) folder;
	if (n_taken < 0)
		return ERR_NOT_FOUND;
	*ret_client = &jobs;
	return 0;
}

void local_jobs_close(struct client **client)
{
	(void) client;
}

static char *make(int taken)
{
	n_taken = taken;
	n_asked = 0;
	return job_name_choose(NULL, "digits.py");
}

static void a_name_is_the_word_and_five_characters(void **state)
{
	(void) state;
	char *name CLEANUP(mem_free_text) = make(-1);

	assert_int_equal(strlen(name), strlen("digits-x7k2p"));
	assert_memory_equal(name, "digits-", strlen("digits-"));
	assert_int_equal(n_asked, 0);
}

static void a_name_that_a_job_has_is_not_given_again(void **state)
{
	(void) state;
	char *name CLEANUP(mem_free_text) = make(2);

	assert_int_equal(n_asked, 3);
	assert_string_equal(name, last);
}

/* Scripts and objects on a cluster begin with a letter; "muster status 100" finds this job. */
static void an_id_may_begin_with_a_digit(void **state)
{
	(void) state;
	n_taken = -1;
	char *name CLEANUP(mem_free_text) = job_name_choose_of_id(NULL, "100", NULL);
	char *dotted CLEANUP(mem_free_text) = job_name_choose_of_id(NULL, "Run_1.5", NULL);
	char *script CLEANUP(mem_free_text) = job_name_choose(NULL, "100.py");

	assert_memory_equal(name, "100-", strlen("100-"));
	assert_memory_equal(dotted, "run-1-5-", strlen("run-1-5-"));
	assert_memory_equal(script, "job-", strlen("job-"));
}

static void the_search_for_a_name_ends(void **state)
{
	(void) state;
	char *name CLEANUP(mem_free_text) = make(1000);

	assert_non_null(name);
	assert_true(n_asked < 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_the_word_and_five_characters),
		cmocka_unit_test(a_name_that_a_job_has_is_not_given_again),
		cmocka_unit_test(an_id_may_begin_with_a_digit),
		cmocka_unit_test(the_search_for_a_name_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
