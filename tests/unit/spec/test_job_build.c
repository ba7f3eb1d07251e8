#include "unit.h"

#include "environment_get.h"

#include "base/mem.h"
#include "base/text.h"
#include "base/yaml.h"
#include "spec/job_build.h"
#include "spec/tf_cluster.h"

static const char *const true_command[] = {"true", NULL};

static struct job_build simple_build(void)
{
	return (struct job_build){
		.name = "digits",
		.workers = 2,
		.command = true_command,
		.grace = -1,
		.timeout = -1,
	};
}

/* The job that these flags make; what they say is without fault. */
static struct job *job_of(const struct job_build *build)
{
	struct faults faults CLEANUP(faults_done) = {0};
	struct json *document CLEANUP(json_cleanup) = job_document_new(build);
	struct job *job = NULL;

	assert_int_equal(job_read(document, NULL, JOB_STRICT, &faults, &job), 0);
	assert_int_equal(faults.count, 0);
	return job;
}

TEST(workers_alone_restart_together_and_all_have_to_succeed)
{
	struct job_build build = simple_build();
	struct job *job CLEANUP(job_cleanup) = job_of(&build);

	assert_int_equal(job->n_roles, 1);
	assert_int_equal(job->roles[0].kind, ROLE_WORKER);
	assert_int_equal(job->roles[0].replicas, 2);
	assert_int_equal(job->roles[0].restart_policy, RESTART_NEVER);
	assert_int_equal(job->restart_scope, RESTART_SCOPE_JOB);
	assert_int_equal(job->success_policy, SUCCESS_ALL_WORKERS);
	assert_int_equal(job->clean_policy, CLEAN_RUNNING);
	assert_int_equal(job->backoff_limit, 0);
	assert_int_equal(job->active_deadline, -1);
	assert_null(job->roles[0].container.image);
	assert_null(job->roles[0].container.working_dir);
}

TEST(parameter_servers_make_a_worker_restart_alone)
{
	struct job_build build = simple_build();

	build.ps = 1;
	build.has_chief = true;
	build.has_evaluator = true;
	build.max_restarts = 3;
	struct job *job CLEANUP(job_cleanup) = job_of(&build);

	assert_int_equal(job->n_roles, 4);
	assert_int_equal(job->restart_scope, RESTART_SCOPE_WORKER);
	assert_int_equal(job->success_policy, SUCCESS_DEFAULT);
	assert_int_equal(job->backoff_limit, 3);
	for (size_t i = 0; i < job->n_roles; i++)
		assert_int_equal(job->roles[i].restart_policy, RESTART_ON_FAILURE);
}

TEST(restarts_without_limit_write_no_backoff_limit)
{
	struct job_build build = simple_build();

	build.max_restarts = -1;
	struct job *job CLEANUP(job_cleanup) = job_of(&build);

	assert_int_equal(job->backoff_limit, -1);
	assert_int_equal(job->roles[0].restart_policy, RESTART_ON_FAILURE);
}

TEST(times_are_rounded_up_to_seconds)
{
	struct job_build build = simple_build();

	build.timeout = 1500;
	build.grace = 1;
	struct job *job CLEANUP(job_cleanup) = job_of(&build);

	assert_int_equal(job->active_deadline, 2000);
	assert_int_equal(job->grace, 1000);
}

TEST(a_scope_that_was_asked_for_is_kept)
{
	struct job_build build = simple_build();

	build.restart_scope = "replica";
	struct job *job CLEANUP(job_cleanup) = job_of(&build);

	assert_int_equal(job->restart_scope, RESTART_SCOPE_REPLICA);
}

static void assert_command(const struct job *job, const char *role_name, const char *first,
			   const char *second)
{
	const char *const *command = job_role(job, role_name)->container.command;

	assert_string_equal(command[0], first);
	if (second)
		assert_string_equal(command[1], second);
	else
		assert_null(command[1]);
}

TEST(bare_servers_run_muster_itself_and_the_others_the_command)
{
	struct job_build build = simple_build();

	build.ps = 1;
	build.has_chief = true;
	build.has_evaluator = true;
	build.ps_are_servers = true;
	struct job *job CLEANUP(job_cleanup) = job_of(&build);

	assert_command(job, "ps", "muster", "server");
	assert_command(job, "worker", "true", NULL);
	build.workers_are_servers = true;
	struct job *all CLEANUP(job_cleanup) = job_of(&build);

	assert_command(all, "ps", "muster", "server");
	assert_command(all, "worker", "muster", "server");
	assert_command(all, "chief", "true", NULL);
	assert_command(all, "evaluator", "true", NULL);
}

TEST(a_server_has_the_variables_of_the_others)
{
	const struct env_entry env[] = {{"A", "1"}};
	struct job_build build = simple_build();

	build.ps = 1;
	build.ps_are_servers = true;
	build.env = env;
	build.n_env = ARRAY_LEN(env);
	struct job *job CLEANUP(job_cleanup) = job_of(&build);

	assert_int_equal(job_role(job, "ps")->container.n_env, 1);
	assert_string_equal(job_role(job, "ps")->container.env[0].value, "1");
}

/* What is typed reaches the program as it was typed, whatever Kubernetes' expansion would make of
 * it. */
TEST(texts_are_taken_literally)
{
	static const char *const command[] = {
		"sh", "-c", "echo $$ $(date) $$(date) $HOME $", "$$$", "$", "", "$(A", NULL,
	};
	const struct env_entry env[] = {{"A", "1"}, {"B", "$(A) $$"}};
	struct job_build build = simple_build();

	build.command = command;
	build.env = env;
	build.n_env = ARRAY_LEN(env);
	build.working_dir = "/data/$(A)";
	struct job *job CLEANUP(job_cleanup) = job_of(&build);
	const struct container *container = &job->roles[0].container;
	struct environment environment CLEANUP(environment_done) = {0};

	environment_set(&environment, "date", "replaced");
	environment_add_container(&environment, container);
	assert_string_equal(environment_get(&environment, "B"), "$(A) $$");
	assert_string_equal(container->working_dir, "/data/$(A)");
	for (size_t i = 0; command[i]; i++) {
		char *word CLEANUP(mem_free_text) =
			environment_expand(&environment, container->command[i]);

		assert_string_equal(word, command[i]);
	}
}

/* `render --as tfjob` prints the document; `run -f` of that is the same job. */
TEST(what_is_printed_as_yaml_is_the_same_job)
{
	static const char *const command[] = {
		"python",
		"-c",
		"print('a: b')\nif True:\n\tpass\n",
		"yes",
		"0755",
		"~",
		"",
		" # no comment",
		"\xc3\xa9\x01",
		"- x",
		"$$",
		NULL,
	};
	const struct env_entry env[] = {{"ON", "off"}, {"NUMBER", "1e3"}, {"EMPTY", ""}};
	struct job_build build = simple_build();

	build.command = command;
	build.env = env;
	build.n_env = ARRAY_LEN(env);
	build.has_chief = true;
	struct job *job CLEANUP(job_cleanup) = job_of(&build);
	struct text yaml CLEANUP(text_done) = {0};
	struct faults faults CLEANUP(faults_done) = {0};
	struct document **documents;
	size_t count;
	struct job *again CLEANUP(job_cleanup) = NULL;

	yaml_add(&yaml, job->document);
	assert_int_equal(documents_read(text_of(&yaml), yaml.len, &documents, &count, NULL), 0);
	assert_int_equal(
		job_read(document_root(documents[0]), documents[0], JOB_STRICT, &faults, &again),
		0);
	assert_true(json_equals(job->document, again->document));
	documents_free(documents, count);
}
