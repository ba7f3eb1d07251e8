#include "unit.h"

#include "base/mem.h"
#include "reconcile/report.h"

#define START ((msec) 1763740920000)

static struct role roles[] = {
	{.kind = ROLE_CHIEF, .name = "chief", .replicas = 1},
	{.kind = ROLE_PS, .name = "ps", .replicas = 2},
	{.kind = ROLE_WORKER, .name = "worker", .replicas = 2},
	{.kind = ROLE_EVALUATOR, .name = "evaluator", .replicas = 0},
};
static const struct job whole_job = {.name = "train-x7k2", .roles = roles, .n_roles = 4};
static const struct job two_workers = {.name = "train-x7k2", .roles = &roles[2], .n_roles = 1};

static struct condition succeeded = {.type = CONDITION_SUCCEEDED, .is_true = true};
static struct condition failed = {.type = CONDITION_FAILED, .is_true = true};

static void assert_report(const struct job *job, const struct status *status, const char *expected)
{
	struct text text CLEANUP(text_done) = {0};

	report_outcome(job, status, job->name, &(struct failure_style){0}, &text);
	assert_string_equal(text_of(&text), expected);
}

TEST(a_success_is_one_line)
{
	struct status status = {
		.conditions = &succeeded,
		.n_conditions = 1,
		.start_time = START,
		.completion_time = START + 8000,
	};

	assert_report(&two_workers, &status, "muster: job train-x7k2 succeeded: 2 workers in 8s\n");
	status.restarts = 1;
	assert_report(&whole_job, &status,
		      "muster: job train-x7k2 succeeded: 1 chief, 2 ps, 2 workers in 8s, "
		      "1 restart\n");
}

TEST(a_failure_begins_with_the_replica_that_failed_first)
{
	struct consequence consequence = {"worker", 0, "was stopped by muster"};
	struct failure failure = {
		.role = "worker",
		.index = 1,
		.attempt = 2,
		.exit_code = 1,
		.reason = "Error",
		.message = "worker-1 exited with code 1 after 11s (attempt 2)",
		.time = START + 11000,
		.exception = "ValueError: \x1b[2Jshapes",
		.last_lines = (const char *[]){"Traceback (most recent call last):",
					       "ValueError: \x1b[2Jshapes"},
		.n_last_lines = 2,
		.consequences = &consequence,
		.n_consequences = 1,
	};
	const struct status status = {
		.conditions = &failed,
		.n_conditions = 1,
		.start_time = START,
		.completion_time = START + 12000,
		.failure = &failure,
	};

	assert_report(
		&two_workers, &status,
		"muster: job train-x7k2 failed after 12s: worker-1 exited with code 1 after 11s "
		"(attempt 2)\n  error         ValueError: shapes\n  at            "
		"2025-11-21T16:02:11Z\n  last output   | Traceback (most recent call last):\n      "
		"          | ValueError: shapes\n  consequences  worker-0 was stopped by muster\n  "
		"full log      muster logs train-x7k2 --role worker --index 1 --attempt 2\n");
}

/* torchrun's users know their script, and not the name of the job. */
TEST(a_failure_of_an_elastic_job_names_the_script_and_the_rank)
{
	static const struct {
		const char *command[5], *script;
	} rows[] = {
		{{"python3", "-u", "train.py", "-x"}, "train.py"},
		{{"python3", "-u", "-m", "package.train"}, "package.train"},
		{{"./train.sh", "-x"}, "./train.sh"},
	};
	struct role role = roles[2];
	const struct job job = {.name = "j", .elastic_id = "j", .roles = &role, .n_roles = 1};
	struct failure failure = {.role = "worker",
				  .message = "worker-0 failed",
				  .reason = "Error",
				  .rank = "2 of 4",
				  .time = START};
	const struct status status = {.conditions = &failed,
				      .n_conditions = 1,
				      .start_time = MSEC_UNSET,
				      .failure = &failure};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char *row CLEANUP(mem_free_text) = mem_format(
			"muster: job j failed: worker-0 failed\n"
			"  rank          2 of 4\n"
			"  script        %s\n"
			"  at            2025-11-21T16:02:00Z\n"
			"  full log      muster logs j --role worker --index 0 --attempt "
			"0\n",
			rows[i].script);

		role.container.command = (const char **) rows[i].command;
		assert_report(&job, &status, row);
	}
}

TEST(a_deadline_a_stop_and_a_deletion_are_one_line)
{
	struct failure failure = {
		.reason = "DeadlineExceeded",
		.message = "the job was active longer than its deadline of 10m",
	};
	const struct status status = {
		.conditions = &failed,
		.n_conditions = 1,
		.start_time = START,
		.completion_time = START + 600000,
		.failure = &failure,
	};

	assert_report(&two_workers, &status,
		      "muster: job train-x7k2 failed after 10m: "
		      "the job was active longer than its deadline of 10m\n");
	failure.reason = "Stopped";
	failure.message = "the job was stopped (interrupted)";
	assert_report(
		&two_workers, &status,
		"muster: job train-x7k2 ended after 10m: the job was stopped (interrupted)\n");
	failure.reason = "Deleted";
	failure.message = "its record was deleted";
	assert_report(&two_workers, &status,
		      "muster: job train-x7k2 ended after 10m: its record was deleted\n");
}

static void assert_progress_of_pods(const struct status *status, const struct startup *startup,
				    const char *expected)
{
	struct text text CLEANUP(text_done) = {0};

	progress_describe(status, startup, START, &text);
	assert_string_equal(text_of(&text), expected);
}

static void assert_progress(const struct status *status, const char *expected)
{
	assert_progress_of_pods(status, NULL, expected);
}

TEST(progress_of_pods_says_how_far_their_start_is_and_what_holds_them_up)
{
	const struct startup startup = {.n_pods = 2, .n_scheduled = 1, .n_running = 1};
	struct replica_status replicas[] = {
		{.role = "worker", .index = 0, .state = REPLICA_RUNNING},
		{.role = "worker", .index = 1, .state = REPLICA_STARTING},
	};
	const struct status status = {.replicas = replicas, .n_replicas = 2};

	assert_progress_of_pods(&status, &startup, "2 Pods: 1 scheduled, 0 set up, 1 running");
	replicas[1].reason = "Unschedulable";
	replicas[1].message = "0/4 nodes are available";
	assert_progress_of_pods(&status, &startup,
				"2 Pods: 1 scheduled, 0 set up, 1 running; worker-1 cannot be "
				"scheduled (Unschedulable): 0/4 nodes are available");
	replicas[1] = replicas[0];
	assert_progress_of_pods(&status, &startup, "");
}

TEST(progress_tells_what_is_waited_for_until_all_run)
{
	struct replica_status replicas[] = {
		{.role = "worker", .index = 0, .state = REPLICA_RUNNING},
		{.role = "worker", .index = 1, .state = REPLICA_RUNNING},
		{.role = "worker", .index = 2, .state = REPLICA_STARTING},
		{.role = "worker", .index = 3, .state = REPLICA_PENDING},
	};
	struct status status = {.replicas = replicas, .n_replicas = 4};

	assert_progress(&status, "2 of 4 running, waiting for worker-2 and 1 more");
	replicas[2].state = REPLICA_STOPPED;
	assert_progress(&status, "2 of 3 running, waiting for worker-3");
	replicas[2].state = REPLICA_RUNNING;
	assert_progress(&status, "3 of 4 running, waiting for worker-3");
	replicas[3].restart_at = START + 4000;
	assert_progress(&status, "3 of 4 running, waiting for worker-3, next start in 4s");
	replicas[3].state = REPLICA_RUNNING;
	assert_progress(&status, "");
	replicas[0].state = REPLICA_STOPPING;
	assert_progress(&status, "1 of 4 stopping");
}

TEST(progress_is_silent_about_a_job_that_has_ended)
{
	struct replica_status replica = {.role = "worker", .state = REPLICA_PENDING};
	const struct status status = {
		.conditions = &failed,
		.n_conditions = 1,
		.replicas = &replica,
		.n_replicas = 1,
	};

	assert_progress(&status, "");
}
