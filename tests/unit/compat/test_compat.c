/* Old command lines and what they become. The commands that they become are fakes here. */
#include "unit.h"

#include "base/text.h"
#include "cli/kubernetes_program.h"
#include "command/command.h"
#include "command/options.h"
#include "compat/call.h"

#include <stdio.h>

/* The call that was made last: "check local --workers 2 …", or "" when there was none. */
static struct text last_call;

static const struct command fake_target = {.name = "fake"};
static const struct command_table table = {.old_programs = compat_commands};

const struct command *command_find(const struct command_table *called, const char *name)
{
	assert_ptr_equal(called, &table);
	text_add(&last_call, name);
	return &fake_target;
}

int command_call(const struct command_table *called, const struct command *command, int argc,
		 char **argv)
{
	assert_ptr_equal(called, &table);
	assert_ptr_equal(command, &fake_target);
	for (int i = 0; i < argc; i++)
		text_addf(&last_call, " %s", *argv[i] ? argv[i] : "''");
	assert_null(argv[argc]);
	return 42;
}

/* To the program that speaks to clusters: "kubernetes_program_exec tf-spawner train.py". */
int kubernetes_program_exec(char *const *argv, struct err *err)
{
	text_add(&last_call, "hand_over");
	for (; *argv; argv++)
		text_addf(&last_call, " %s", *argv);
	return err_set(err, ERR_NOT_FOUND, "no such program");
}

static const char *const variables[] = {
	"TF_DIST_GRPC_SERVER_URL", "TF_DIST_GRPC_PORT",           "TF_DIST_SERVER_DOCKER_IMAGE",
	"TF_DIST_GCLOUD_PROJECT",  "TF_DIST_GCLOUD_COMPUTE_ZONE", "TF_DIST_GCLOUD_KEY_FILE_DIR",
	"CONTAINER_CLUSTER",
};

static int begin(void **state)
{
	(void) state;
	for (size_t i = 0; i < ARRAY_LEN(variables); i++)
		unsetenv(variables[i]);
	unsetenv("MUSTER_STATE_DIR");
	return 0;
}

static int end(void **state)
{
	(void) state;
	text_done(&last_call);
	last_call = (struct text){0};
	return 0;
}

/* The exit code of an old program with these words, separated by blanks. */
static int run(const char *program, const char *words)
{
	const struct command *command = compat_find(&table, program);
	struct options *options CLEANUP(options_cleanup) = NULL;
	struct text faults CLEANUP(text_done) = {0};
	char line[256], *argv[32], *rest = line;
	int count = 0;

	assert_non_null(command);
	text_clear(&last_call);
	assert_true(snprintf(line, sizeof(line), "%s", words) < (int) sizeof(line));
	for (char *word; (word = strsep(&rest, " "));)
		if (*word)
			argv[count++] = word;
	assert_int_equal(options_parse(&table, command, count, argv, &options, &faults), 0);
	return command->run(options);
}

static void assert_becomes(const char *program, const char *words, const char *expected)
{
	assert_int_equal(run(program, words), 42);
	assert_string_equal(text_of(&last_call), expected);
}

TEST_WITH(begin, end, a_program_is_found_by_its_name_its_path_and_its_old_endings)
{
	static const char *const names[] = {
		"local_test",          "local_test.sh", "./local_test.sh",
		"/usr/bin/local-test", "local_test.py",
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		assert_string_equal(compat_name(compat_find(&table, names[i])), "local_test");
	assert_string_equal(compat_name(compat_find(&table, "grpc_tensorflow_server.py")),
			    "grpc_tensorflow_server");
	assert_null(compat_find(&table, "muster"));
	assert_null(compat_find(&table, "/opt/local_test/muster"));
	assert_null(compat_find(&table, "local_tes"));
	assert_null(compat_find(&table, "local_test2"));
	assert_null(compat_find(&table, ".sh"));
	assert_null(compat_find(&table, ""));
}

TEST_WITH(begin, end, a_local_test_is_a_check_of_this_machine)
{
	assert_becomes("local_test", "", "check local --workers 2 --ps 2 --model mnist");
	assert_becomes("local_test", "--model-name CENSUS_WIDENDEEP",
		       "check local --workers 2 --ps 2 --model census");
	assert_becomes("local_test", "--num-workers 4",
		       "check local --workers 4 --ps 2 --model mnist");
	assert_becomes("local_test", "--sync-replicas",
		       "check local --workers 2 --ps 2 --model mnist --sync-replicas");
	assert_becomes("local_test", "--setup-cluster-only",
		       "check local --workers 2 --ps 2 --setup-only");
	assert_becomes("local_test", "--leave_container_running",
		       "check local --workers 2 --ps 2 --model mnist");
}

TEST_WITH(begin, end, dashes_underscores_blanks_and_equals_signs_are_the_same)
{
	const char *expected = "check local --workers 3 --ps 1 --model mnist --sync-replicas";

	assert_becomes("local_test", "--num_workers 3 --num_parameter_servers 1 --sync_replicas",
		       expected);
	assert_becomes("local_test", "--num-workers=3 --num-parameter-servers=1 --sync-replicas",
		       expected);
	assert_becomes("local_test",
		       "--num_workers=3 --num_parameter-servers=1 --sync_replicas=true "
		       "--model_name=MNIST",
		       expected);
}

TEST_WITH(begin, end, a_remote_test_checks_the_servers_of_its_variable)
{
	setenv("TF_DIST_GRPC_SERVER_URL", "grpc://11.22.33.44:2222", 1);
	assert_becomes("remote_test", "",
		       "check remote --servers grpc://11.22.33.44:2222 --model mnist");
	assert_becomes("remote_test", "--num-workers 4 --sync-replicas",
		       "check remote --servers grpc://11.22.33.44:2222 --workers 4 --model mnist "
		       "--sync-replicas");
	assert_becomes("remote_test", "--num_parameter_servers=1 --model_name=CENSUS_WIDENDEEP",
		       "check remote --servers grpc://11.22.33.44:2222 --ps 1 --model census");
}

TEST_WITH(begin, end, variables_of_a_cloud_change_nothing_for_servers_that_exist)
{
	for (size_t i = 0; i < ARRAY_LEN(variables); i++)
		setenv(variables[i], "1", 1);
	setenv("TF_DIST_GRPC_SERVER_URL", "grpc://a:2222", 1);
	assert_becomes("remote_test", "", "check remote --servers grpc://a:2222 --model mnist");
}

TEST_WITH(begin, end, a_server_without_a_port_has_the_one_of_the_old_scripts)
{
	setenv("TF_DIST_GRPC_SERVER_URL", "grpc://[::1]", 1);
	assert_becomes("remote_test", "", "check remote --servers grpc://[::1]:2222 --model mnist");
	setenv("TF_DIST_GRPC_PORT", "3333", 1);
	assert_becomes("remote_test", "", "check remote --servers grpc://[::1]:3333 --model mnist");
	setenv("TF_DIST_GRPC_SERVER_URL", "a", 1);
	assert_becomes("remote_test", "", "check remote --servers a:3333 --model mnist");
	setenv("TF_DIST_GRPC_SERVER_URL", "grpc://[::1]:4444", 1);
	assert_becomes("remote_test", "", "check remote --servers grpc://[::1]:4444 --model mnist");
}

TEST_WITH(begin, end, without_servers_a_remote_test_makes_them_on_a_cluster)
{
	setenv("CONTAINER_CLUSTER", "test-cluster-1", 1);
	setenv("TF_DIST_GRPC_SERVER_URL", "", 1);
	setenv("TF_DIST_SERVER_DOCKER_IMAGE", "me/server", 1);
	assert_becomes("remote_test", "--sync-replicas",
		       "check remote --on kubernetes --image me/server --workers 2 --ps 2 "
		       "--model mnist --sync-replicas");
	assert_becomes("remote_test", "--setup-cluster-only",
		       "check remote --on kubernetes --image me/server --workers 2 --ps 2 "
		       "--setup-only");
}

TEST_WITH(begin, end, servers_that_exist_need_no_setting_up)
{
	setenv("TF_DIST_GRPC_SERVER_URL", "grpc://a:2222", 1);
	assert_int_equal(run("remote_test", "--setup-cluster-only"), EXIT_DONE);
	assert_string_equal(text_of(&last_call), "");
}

TEST_WITH(begin, end, a_generator_is_a_rendering)
{
	assert_becomes("k8s_tensorflow", "",
		       "render --as k8s-tensorflow --workers 2 --ps 1 --grpc-port 2222 --image "
		       "tensorflow/tf_grpc_test_server");
	assert_becomes("k8s_tensorflow.py",
		       "--num_workers 3 --num_parameter_servers=2 --grpc_port 3333 "
		       "--request_load_balancer true --docker_image tensorflow/tf_grpc_server",
		       "render --as k8s-tensorflow --workers 3 --ps 2 --grpc-port 3333 --image "
		       "tensorflow/tf_grpc_server --request-load-balancer");
	assert_becomes("k8s_tensorflow", "--request_load_balancer False --docker_image a",
		       "render --as k8s-tensorflow --workers 2 --ps 1 --grpc-port 2222 --image a");
}

TEST_WITH(begin, end, a_cluster_without_workers_or_parameter_servers_is_refused)
{
	assert_int_equal(run("k8s_tensorflow", "--num_workers 0"), EXIT_FAILED);
	assert_int_equal(run("k8s_tensorflow", "--num_parameter_servers -1"), EXIT_FAILED);
	assert_string_equal(text_of(&last_call), "");
}

TEST_WITH(begin, end, a_spawner_goes_on_as_the_program_that_speaks_to_clusters)
{
	assert_string_equal(compat_name(compat_find(&table, "./tf-spawner")), "tf-spawner");
	assert_int_equal(run("tf-spawner", "-d -t mine"), EXIT_FAILED);
	assert_string_equal(text_of(&last_call), "hand_over tf-spawner -d -t mine");
	text_clear(&last_call);
	assert_int_equal(run("tf-spawner", "--dry-run"), EXIT_USAGE);
	assert_string_equal(text_of(&last_call), "");
}

TEST_WITH(begin, end, a_server_keeps_its_cluster_and_its_place_in_it)
{
	const char *expected = "server --cluster-spec worker|localhost:2222;foo:2222,ps|bar:2222 "
			       "--job-name worker --task-index 0";

	assert_becomes("grpc_tensorflow_server",
		       "--cluster_spec=worker|localhost:2222;foo:2222,ps|bar:2222 "
		       "--job_name=worker --task_id=0",
		       expected);
	assert_becomes("grpc_tensorflow_server",
		       "--cluster-spec worker|localhost:2222;foo:2222,ps|bar:2222 "
		       "--job-name worker --task-id 0",
		       expected);
	assert_becomes("grpc_tensorflow_server",
		       "--cluster_spec=ps|a:1 --job_name=ps --task_id=1 --gpu_memory_fraction=0.5 "
		       "--verbose",
		       "server --cluster-spec ps|a:1 --job-name ps --task-index 1 "
		       "--gpu-memory-fraction 0.5 --verbose");
}

/* So that the server says what is missing, and does not look for it in TF_CONFIG. */
TEST_WITH(begin, end, what_a_server_was_not_told_is_empty)
{
	assert_becomes("grpc_tensorflow_server", "",
		       "server --cluster-spec '' --job-name '' --task-index 0");
}

TEST_WITH(begin, end, verbose_may_be_told_in_three_ways)
{
	const char *beginning = "server --cluster-spec '' --job-name '' --task-index 0";
	const char *verbose = "server --cluster-spec '' --job-name '' --task-index 0 --verbose";

	assert_becomes("grpc_tensorflow_server", "--verbose=true", verbose);
	assert_becomes("grpc_tensorflow_server", "--verbose True", verbose);
	assert_becomes("grpc_tensorflow_server", "--verbose False", beginning);
	assert_becomes("grpc_tensorflow_server", "--verbose=False", beginning);
	assert_int_equal(run("grpc_tensorflow_server", "--verbose maybe"), EXIT_USAGE);
	assert_int_equal(run("grpc_tensorflow_server", "true"), EXIT_USAGE);
	assert_string_equal(text_of(&last_call), "");
}

TEST_WITH(begin, end, the_state_folder_is_handed_on)
{
	assert_becomes("local_test", "--state-dir /tmp/x --setup-cluster-only",
		       "check local --workers 2 --ps 2 --setup-only --state-dir /tmp/x");
}

TEST_WITH(begin, end, a_dry_run_runs_nothing)
{
	assert_int_equal(run("local_test", "--dry-run"), EXIT_DONE);
	assert_string_equal(text_of(&last_call), "");
}

TEST_WITH(begin, end, a_call_is_shown_as_a_shell_reads_it)
{
	struct call call CLEANUP(call_done) = {0};
	struct text text CLEANUP(text_done) = {0};

	call_add(&call, "server");
	call_add_value(&call, "--cluster-spec", "worker|a:1;b:2");
	call_add_value(&call, "--job-name", "it's");
	call_add_value(&call, "--task-index", "");
	call_add_value(&call, "--not-given", NULL);
	call_describe(&call, &text);
	assert_string_equal(text_of(&text),
			    "muster server --cluster-spec 'worker|a:1;b:2' --job-name 'it'\\''s' "
			    "--task-index ''");
}
