#include "unit.h"

#include "base/mem.h"
#include "base/text.h"
#include "spec/cluster_spec.h"
#include "spec/limits.h"

static struct cluster_spec *read_spec(const char *text)
{
	struct faults faults CLEANUP(faults_done) = {0};
	struct cluster_spec *spec = NULL;

	assert_int_equal(cluster_spec_read(text, &faults, &spec), 0);
	assert_int_equal(faults.count, 0);
	return spec;
}

static struct cluster_spec *read_config(const char *text)
{
	struct faults faults CLEANUP(faults_done) = {0};
	struct cluster_spec *spec = NULL;

	assert_int_equal(cluster_spec_read_tf_config(text, &faults, &spec), 0);
	assert_int_equal(faults.count, 0);
	return spec;
}

static void assert_task(const struct cluster_spec *spec, const char *job, int index,
			const char *address)
{
	const struct spec_task *task = cluster_spec_task(spec, job, index);

	assert_non_null(task);
	assert_int_equal(task->index, index);
	assert_string_equal(task->address, address);
}

TEST(the_example_of_the_old_tool_is_read)
{
	struct cluster_spec *spec CLEANUP(cluster_spec_cleanup) =
		read_spec("worker|localhost:2222;foo:2222,ps|bar:2222;qux:2222");

	assert_int_equal(spec->n_jobs, 2);
	assert_string_equal(spec->jobs[0].name, "worker");
	assert_string_equal(spec->jobs[1].name, "ps");
	assert_int_equal(spec->n_tasks, 4);
	assert_task(spec, "worker", 0, "localhost:2222");
	assert_task(spec, "worker", 1, "foo:2222");
	assert_task(spec, "ps", 0, "bar:2222");
	assert_task(spec, "ps", 1, "qux:2222");
	assert_null(cluster_spec_task(spec, "ps", 2));
	assert_null(cluster_spec_task(spec, "chief", 0));
	assert_null(spec->own);
}

/* A spec, and what is said of it: "COLUMN: sentence", a line each. */
struct spec_row {
	const char *spec;
	const char *faults;
};

#define IPV6_HINT "an IPv6 address needs brackets, as in [::1]:2222\n"

static const struct spec_row spec_rows[] = {
	{"", "1: empty: expected NAME|HOST:PORT(;HOST:PORT)*, and ',' between jobs\n"},
	{"worker", "7: job 'worker' has no '|': expected NAME|HOST:PORT(;HOST:PORT)*\n"},
	{"a|b:1|c:2", "6: a second '|' in job 'a': jobs are separated by ',', tasks by ';'\n"},
	{"|b:1", "1: missing job name before '|'\n"},
	{"a|b:1,", "7: an empty job: expected NAME|HOST:PORT(;HOST:PORT)*\n"},
	{",a|b:1", "1: an empty job: expected NAME|HOST:PORT(;HOST:PORT)*\n"},
	{"a|", "3: task 0 of job 'a' is empty: expected HOST:PORT\n"},
	{"a|b:1;;c:2", "7: task 1 of job 'a' is empty: expected HOST:PORT\n"},
	{"a|b:1;", "7: task 1 of job 'a' is empty: expected HOST:PORT\n"},
	{"Worker|b:1",
	 "1: job name 'Worker': expected a letter from a to z, then such letters and digits\n"},
	{"1a|b:1",
	 "1: job name '1a': expected a letter from a to z, then such letters and digits\n"},
	{"ps_0|b:1",
	 "3: job name 'ps_0': expected a letter from a to z, then such letters and digits\n"},
	{"a|b:1,a|c:1", "7: job 'a' is listed twice; put all its tasks into one list\n"},
	{"a|b:1;c:1,d|b:1", "13: 'b:1' is already the address of a-0\n"},
	{"a|host", "7: 'host': missing port (expected HOST:PORT)\n"},
	{"a|host:", "8: 'host:': missing port (expected HOST:PORT)\n"},
	{"a|:1", "3: ':1': missing host (expected HOST:PORT)\n"},
	{"a|h:0", "5: 'h:0': a port must be a number from 1 to 65535\n"},
	{"a|h:65536", "5: 'h:65536': a port must be a number from 1 to 65535\n"},
	{"a|h:99999999999999999999",
	 "5: 'h:99999999999999999999': a port must be a number from 1 to 65535\n"},
	{"a|h:2x",
	 "6: 'h:2x': unexpected character in a port (expected a number from 1 to 65535)\n"},
	{"a|h:-1",
	 "5: 'h:-1': unexpected character in a port (expected a number from 1 to 65535)\n"},
	{"a|h h:1", "4: 'h h:1': unexpected character in an address (expected HOST:PORT)\n"},
	{"a|grpc://h:1", "3: 'grpc://h:1': expected HOST:PORT without 'grpc://'\n"},
	{"a|::1:2222", "3: '::1:2222': " IPV6_HINT},
	{"a|fe80::1:2222", "8: 'fe80::1:2222': " IPV6_HINT},
	{"a|1:2:3", "6: '1:2:3': " IPV6_HINT},
	{"a|[::1]", "8: '[::1]': missing port (expected HOST:PORT)\n"},
	{"a|[::1:22", "10: '[::1:22': missing ']' after the IPv6 address\n"},
	{"a|[::1/64]:2", "7: '[::1/64]:2': unexpected character in an IPv6 address\n"},
	{"a|[host]:2", "9: '[host]:2': expected an IPv6 address between '[' and ']'\n"},
	{"a|[]:2", "5: '[]:2': expected an IPv6 address between '[' and ']'\n"},
	{"a|[::1]x:2", "8: '[::1]x:2': unexpected character in an address (expected HOST:PORT)\n"},
	/* Columns count characters. */
	{"a|\xc3\xa4:1,b",
	 "3: '\xc3\xa4:1': unexpected character in an address (expected HOST:PORT)\n"
	 "8: job 'b' has no '|': expected NAME|HOST:PORT(;HOST:PORT)*\n"},
	/* All at once, by their places. */
	{"A|b,|c:1;,d|c:1",
	 "1: job name 'A': expected a letter from a to z, then such letters and digits\n4: 'b': "
	 "missing port (expected HOST:PORT)\n5: missing job name before '|'\n10: task 1 of job '' "
	 "is empty: expected HOST:PORT\n13: 'c:1' is already the address of -0\n"},
};

static void add_faults(const struct faults *faults, struct text *text)
{
	for (size_t i = 0; i < faults->count; i++) {
		assert_int_equal(faults->list[i].place.line, 1);
		text_addf(text, "%d: %s\n", faults->list[i].place.column, faults->list[i].sentence);
	}
}

TEST(every_fault_of_the_grammar_has_its_column_and_what_was_expected)
{
	for (size_t i = 0; i < ARRAY_LEN(spec_rows); i++) {
		struct faults faults CLEANUP(faults_done) = {0};
		struct text text CLEANUP(text_done) = {0};
		struct cluster_spec *spec = NULL;

		assert_int_equal(cluster_spec_read(spec_rows[i].spec, &faults, &spec), ERR_INVALID);
		assert_null(spec);
		add_faults(&faults, &text);
		assert_string_equal(text_of(&text), spec_rows[i].faults);
	}
}

TEST(hosts_come_as_names_and_as_addresses_of_both_kinds)
{
	static const char *const rows[][2] = {
		{"localhost:1", "localhost"},
		{"10.0.0.1:2222", "10.0.0.1"},
		{"job-worker-0.default.svc:65535", "job-worker-0.default.svc"},
		{"my_host:7", "my_host"},
		{"[::1]:2222", "::1"},
		{"[fe80::1%eth0]:2222", "fe80::1%eth0"},
		{"[::ffff:10.0.0.1]:80", "::ffff:10.0.0.1"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char *text CLEANUP(mem_free_text) = mem_format("a|%s", rows[i][0]);
		struct cluster_spec *spec CLEANUP(cluster_spec_cleanup) = read_spec(text);
		const char *address = cluster_spec_task(spec, "a", 0)->address;
		char *host CLEANUP(mem_free_text) = address_host(address);

		assert_string_equal(address, rows[i][0]);
		assert_string_equal(host, rows[i][1]);
		assert_int_equal(address_port(address), atoi(strrchr(rows[i][0], ':') + 1));
	}
}

static char *many_tasks_new(int count)
{
	struct text text = {0};

	text_add(&text, "a|h:1");
	for (int i = 1; i < count; i++)
		text_addf(&text, ";h%d:1", i);
	return text_take(&text);
}

TEST(more_tasks_than_the_limit_are_refused)
{
	char *most CLEANUP(mem_free_text) = many_tasks_new(LIMIT_REPLICAS);
	char *more CLEANUP(mem_free_text) = many_tasks_new(LIMIT_REPLICAS + 2);
	struct cluster_spec *spec CLEANUP(cluster_spec_cleanup) = read_spec(most);
	struct faults faults CLEANUP(faults_done) = {0};
	struct cluster_spec *none = NULL;

	assert_int_equal(spec->n_tasks, LIMIT_REPLICAS);
	assert_int_equal(cluster_spec_read(more, &faults, &none), ERR_INVALID);
	assert_int_equal(faults.count, 1);
	assert_string_equal(faults.list[0].sentence, "more than 10000 tasks");
}

TEST(more_jobs_than_the_limit_are_refused)
{
	struct text text CLEANUP(text_done) = {0};
	struct faults faults CLEANUP(faults_done) = {0};
	struct cluster_spec *none = NULL;

	for (int i = 0; i < LIMIT_CLUSTER_JOBS + 2; i++)
		text_addf(&text, "%sj%d|h%d:1", i == 0 ? "" : ",", i, i);
	assert_int_equal(cluster_spec_read(text_of(&text), &faults, &none), ERR_INVALID);
	assert_int_equal(faults.count, 1);
	assert_string_equal(faults.list[0].sentence, "more than 100 jobs");
}

TEST(a_text_longer_than_the_limit_is_refused)
{
	char *text CLEANUP(mem_free_text) = mem_new(LIMIT_CLUSTER_SPEC + 2);
	struct faults faults CLEANUP(faults_done) = {0};
	struct cluster_spec *none = NULL;

	memset(text, 'a', LIMIT_CLUSTER_SPEC + 1);
	assert_int_equal(cluster_spec_read(text, &faults, &none), ERR_INVALID);
	assert_int_equal(cluster_spec_read_tf_config(text, &faults, &none), ERR_INVALID);
	assert_int_equal(faults.count, 2);
	assert_string_equal(faults.list[1].sentence, "longer than 1048576 bytes");
}

/* Cut between characters: the umlaut stands at bytes 99 and 100. */
TEST(a_long_name_leaves_room_for_what_is_wrong_with_it)
{
	struct text text CLEANUP(text_done) = {0};
	struct text wanted CLEANUP(text_done) = {0};
	struct faults faults CLEANUP(faults_done) = {0};
	struct cluster_spec *none = NULL;

	text_add(&text, "a|");
	text_add(&wanted, "'");
	for (int i = 0; i < 99; i++) {
		text_add_char(&text, 'h');
		text_add_char(&wanted, 'h');
	}
	text_add(&wanted, "': unexpected character in an address (expected HOST:PORT)");
	for (int i = 0; i < 1000; i++)
		text_add(&text, "\xc3\xa4");
	assert_int_equal(cluster_spec_read(text_of(&text), &faults, &none), ERR_INVALID);
	assert_string_equal(faults.list[0].sentence, text_of(&wanted));
	assert_int_equal(faults.list[0].place.column, 102);
}

static void assert_not_own(struct cluster_spec *spec, const char *job, int index,
			   const char *sentence)
{
	struct err err = {0};

	assert_int_equal(cluster_spec_set_own(spec, job, index, &err), ERR_NOT_FOUND);
	assert_string_equal(err.text, sentence);
	assert_null(spec->own);
}

TEST(a_task_that_the_cluster_lacks_is_told_with_those_that_it_has)
{
	struct cluster_spec *spec CLEANUP(cluster_spec_cleanup) =
		read_spec("worker|a:1;b:1,ps|c:1");

	assert_not_own(spec, "chief", 0, "the cluster has no job 'chief'; it has worker, ps");
	assert_not_own(spec, "worker", 2, "job 'worker' has no task 2; it has tasks 0 to 1");
	assert_not_own(spec, "ps", 1, "job 'ps' has no task 1; it has only task 0");
	assert_int_equal(cluster_spec_set_own(spec, "worker", 1, NULL), 0);
	assert_string_equal(spec->own->job, "worker");
	assert_int_equal(spec->own->index, 1);
	assert_string_equal(spec->own->address, "b:1");
}

TEST(a_tf_config_gives_the_same_as_the_grammar)
{
	struct cluster_spec *spec CLEANUP(cluster_spec_cleanup) =
		read_config("{\"cluster\": {\"chief\": [\"h:1\"], \"worker\": [\"a:1\", \"b:1\"], "
			    "\"ps\": null, \"evaluator\": []}, "
			    "\"task\": {\"type\": \"worker\", \"index\": 1}, "
			    "\"environment\": \"cloud\"}");

	assert_int_equal(spec->n_jobs, 2);
	assert_task(spec, "chief", 0, "h:1");
	assert_task(spec, "worker", 0, "a:1");
	assert_task(spec, "worker", 1, "b:1");
	assert_string_equal(spec->own->job, "worker");
	assert_int_equal(spec->own->index, 1);
}

TEST(a_sparse_tf_config_keeps_its_indices)
{
	struct cluster_spec *spec CLEANUP(cluster_spec_cleanup) = read_config(
		"{\"cluster\": {\"worker\": {\"10\": \"b:1\", \"3\": \"a:1\"}, "
		"\"ps\": [\"c:1\"]}, \"task\": {\"type\": \"worker\", \"index\": \"3\"}}");

	assert_int_equal(spec->jobs[0].n_tasks, 2);
	assert_int_equal(spec->jobs[0].tasks[0].index, 3);
	assert_task(spec, "worker", 3, "a:1");
	assert_task(spec, "worker", 10, "b:1");
	assert_string_equal(spec->own->address, "a:1");
}

#define OWN "\"task\": {\"type\": \"worker\", \"index\": 0}}"

static const struct spec_row config_rows[] = {
	{"[]", "cluster: expected an object with a list of addresses for each job\n"},
	{"{}", "cluster: expected an object with a list of addresses for each job\n"},
	{"{\"cluster\": [\"a:1\"], " OWN,
	 "cluster: expected an object with a list of addresses for each job\n"},
	{"{\"cluster\": {\"ps\": null}, " OWN, "cluster: no job has a task\n"},
	{"{\"cluster\": {\"worker\": \"a:1\"}, " OWN,
	 "cluster.worker: expected a list of addresses, or a map of index to address\n"},
	{"{\"cluster\": {\"1w\": [\"a:1\"], \"worker\": [\"a\", 7, \"b:1\", \"b:1\"]}, " OWN,
	 "cluster.1w: a job name must be a letter, then letters, digits and '_'\n"
	 "cluster.worker[0]: 'a': missing port (expected HOST:PORT)\n"
	 "cluster.worker[1]: expected an address, HOST:PORT\n"
	 "cluster.worker[3]: 'b:1' is already the address of worker-2\n"},
	{"{\"cluster\": {\"worker\": {\"01\": \"a:1\", \"-1\": \"b:1\", \"0\": \"\"}}, " OWN,
	 "cluster.worker.01: the key of a task must be its index, 0 to 999999\n"
	 "cluster.worker.-1: the key of a task must be its index, 0 to 999999\n"
	 "cluster.worker.0: '': missing host (expected HOST:PORT)\n"},
	{"{\"cluster\": {\"worker\": [\"a:1\"]}}", "task.type: expected the name of a job\n"},
	{"{\"cluster\": {\"worker\": [\"a:1\"]}, \"task\": {\"type\": \"worker\"}}",
	 "task.index: expected a number from 0 to 999999\n"},
	{"{\"cluster\": {\"worker\": [\"a:1\"]}, \"task\": {\"type\": \"worker\", \"index\": -1}}",
	 "task.index: expected a number from 0 to 999999\n"},
	{"{\"cluster\": {\"worker\": [\"a:1\"]}, \"task\": {\"type\": \"worker\", \"index\": 2}}",
	 "task: job 'worker' has no task 2; it has only task 0\n"},
	{"{\"cluster\": {\"worker\": {\"1\": \"a:1\", \"4\": \"b:1\"}}, " OWN,
	 "task: job 'worker' has no task 0; it has tasks 1, 4\n"},
	{"{\"cluster\": {\"worker\": [\"a:1\"]}, "
	 "\"task\": {\"type\": \"evaluator\", \"index\": 0}}",
	 "task: the cluster has no job 'evaluator'; it has worker; the evaluator is not part of "
	 "the cluster and needs no server\n"},
};

TEST(every_fault_of_a_tf_config_names_its_field)
{
	for (size_t i = 0; i < ARRAY_LEN(config_rows); i++) {
		struct faults faults CLEANUP(faults_done) = {0};
		struct text text CLEANUP(text_done) = {0};
		struct cluster_spec *spec = NULL;

		assert_int_equal(cluster_spec_read_tf_config(config_rows[i].spec, &faults, &spec),
				 ERR_INVALID);
		assert_null(spec);
		for (size_t k = 0; k < faults.count; k++)
			text_addf(&text, "%s: %s\n", faults.list[k].path, faults.list[k].sentence);
		assert_string_equal(text_of(&text), config_rows[i].faults);
	}
}

TEST(a_tf_config_that_is_no_json_says_where_it_goes_wrong)
{
	struct faults faults CLEANUP(faults_done) = {0};
	struct cluster_spec *spec = NULL;

	assert_int_equal(cluster_spec_read_tf_config("{\"cluster\": }", &faults, &spec),
			 ERR_INVALID);
	assert_int_equal(faults.count, 1);
	assert_true(text_starts_with(faults.list[0].sentence, "not JSON: "));
	assert_non_null(strstr(faults.list[0].sentence, "column 13"));
}
