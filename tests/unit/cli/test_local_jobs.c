#include "unit.h"

#include "base/mem.h"
#include "cli/local_jobs.h"
#include "cli/replica_name.h"
#include "command/command.h"

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

static void leave(struct client *client)
{
	(void) client;
}

static const struct client_functions functions = {.get = get, .free = leave};
static struct client jobs = {.functions = &functions};

int client_local_new(const char *state_folder, struct client **ret_client, struct err *err)
{
	(void) state_folder;
	(void) err;
	*ret_client = &jobs;
	return 0;
}

/* Without a directory there are no jobs yet. */
static struct options *options_with(bool has_folder)
{
	static const struct option_row none = {0};
	static const struct command command = {.name = "run", .options = &none};
	const char *arguments[] = {"--state-dir", has_folder ? "/" : "/nowhere"};
	struct text faults = {0};
	struct options *options;

	assert_int_equal(options_parse(NULL, &command, 2, (char **) arguments, &options, &faults),
			 0);
	return options;
}

static char *make(int taken)
{
	struct options *options CLEANUP(options_cleanup) = options_with(taken >= 0);

	n_taken = taken;
	n_asked = 0;
	return job_name_choose(options, "digits.py");
}

TEST(a_name_is_the_word_and_five_characters)
{
	char *name CLEANUP(mem_free_text) = make(-1);

	assert_int_equal(strlen(name), strlen("digits-x7k2p"));
	assert_memory_equal(name, "digits-", strlen("digits-"));
	assert_int_equal(n_asked, 0);
}

TEST(a_name_that_a_job_has_is_not_given_again)
{
	char *name CLEANUP(mem_free_text) = make(2);

	assert_int_equal(n_asked, 3);
	assert_string_equal(name, last);
}

/* Scripts and objects on a cluster begin with a letter; "muster status 100" finds this job. */
TEST(an_id_may_begin_with_a_digit)
{
	struct options *options CLEANUP(options_cleanup) = options_with(false);
	char *name CLEANUP(mem_free_text) = job_name_choose_of_id(options, "100", NULL);
	char *dotted CLEANUP(mem_free_text) = job_name_choose_of_id(options, "Run_1.5", NULL);
	char *script CLEANUP(mem_free_text) = job_name_choose(options, "100.py");

	assert_memory_equal(name, "100-", strlen("100-"));
	assert_memory_equal(dotted, "run-1-5-", strlen("run-1-5-"));
	assert_memory_equal(script, "job-", strlen("job-"));
}

TEST(the_search_for_a_name_ends)
{
	char *name CLEANUP(mem_free_text) = make(1000);

	assert_non_null(name);
	assert_true(n_asked < 20);
}

static void check_reference(const char *text, enum job_place place, const char *namespace_name,
			    const char *name)
{
	struct job_reference reference CLEANUP(job_reference_done) = {0};
	struct err err = {0};

	assert_int_equal(job_reference_read(text, &reference, &err), 0);
	assert_int_equal(reference.place, place);
	assert_string_equal(reference.name, name);
	if (namespace_name)
		assert_string_equal(reference.namespace_name, namespace_name);
	else
		assert_null(reference.namespace_name);
}

TEST(a_plain_name_may_be_anywhere)
{
	check_reference("digits-x7k2p", JOB_ANYWHERE, NULL, "digits-x7k2p");
	check_reference("kubernetes", JOB_ANYWHERE, NULL, "kubernetes");
	check_reference("local", JOB_ANYWHERE, NULL, "local");
}

TEST(a_place_before_the_name_decides)
{
	check_reference("local/digits", JOB_HERE, NULL, "digits");
	check_reference("kubernetes/ada/digits", JOB_ON_CLUSTER, "ada", "digits");
	check_reference("kubernetes/2nd-team/digits", JOB_ON_CLUSTER, "2nd-team", "digits");
}

TEST(anything_else_is_refused_with_the_forms_there_are)
{
	static const char *const texts[] = {"",
					    "/",
					    "local/",
					    "local/a/b",
					    "kubernetes/",
					    "ada/digits",
					    "kubernetes/a/",
					    "kubernetes/ada",
					    "kubernetes/a/b/c"};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct job_reference reference = {0};
		struct err err = {0};

		assert_int_equal(job_reference_read(texts[i], &reference, &err), ERR_INVALID);
		assert_non_null(strstr(err.text, "kubernetes/NAMESPACE/NAME"));
	}
}

TEST(a_namespace_that_none_can_be_called_is_named)
{
	struct job_reference reference = {0};
	struct err err = {0};

	assert_int_equal(job_reference_read("kubernetes/Ada_/digits", &reference, &err),
			 ERR_INVALID);
	assert_string_equal(err.text,
			    "'kubernetes/Ada_/digits': 'Ada_' is not a valid namespace name");
	assert_int_equal(job_reference_read("kubernetes//digits", &reference, &err), ERR_INVALID);
}
