/* The local back end with real processes: every wait is for the end of a replica. */
#include "unit.h"

#include "base/mem.h"
#include "base/text.h"
#include "fake/store_memory.h"
#include "io/file.h"
#include "io/folder.h"
#include "io/process.h"
#include "local/backend.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>

#define PATIENCE (20 * MSEC_PER_SECOND)

struct scene {
	char folder[64];
	struct loop *loop;
	struct loop_watch *patience;
	struct store *store;
	struct backend *backend;
	struct job *job;
	struct arena *arena;
	char *trouble;
};

static void stop_loop(void *data)
{
	struct scene *world = data;

	loop_stop(world->loop);
}

static void keep_trouble(const char *sentence, void *data)
{
	struct scene *world = data;

	free(world->trouble);
	world->trouble = mem_copy_text(sentence);
}

static void fail_without_patience(void *data)
{
	(void) data;
	fail_msg("nothing happened for %d s", (int) (PATIENCE / MSEC_PER_SECOND));
}

static int begin(void **state)
{
	struct scene *world = *state = calloc(1, sizeof(*world));

	strcpy(world->folder, "/tmp/muster-test-local-XXXXXX");
	if (!mkdtemp(world->folder) || loop_new(&world->loop, NULL) < 0)
		return -1;
	world->patience = loop_new_timer(world->loop, fail_without_patience, NULL);
	world->store = store_memory_new();
	world->arena = arena_new();
	const struct backend_local_settings settings = {
		.loop = world->loop,
		.claims = world->store->claims,
		.jobs_folder = world->folder,
		.rotate_at = INT64_MAX,
		.on_news = stop_loop,
		.on_trouble = keep_trouble,
		.data = world,
	};

	world->backend = backend_local_new(&settings);
	return 0;
}

static int end(void **state)
{
	struct scene *world = *state;
	int parent CLEANUP(file_close) = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);

	backend_local_kill_all(world->backend);
	world->backend->functions->free(world->backend);
	world->store->functions->free(world->store);
	loop_watch_free(world->patience);
	loop_free(world->loop);
	job_free(world->job);
	arena_free(world->arena);
	free(world->trouble);
	int rc = folder_remove(parent, world->folder + strlen("/tmp/"), NULL);
	free(world);
	return rc;
}

/* A job of `workers` workers that run a shell script. */
static void make_job(struct scene *world, int workers, const char *container)
{
	char *text CLEANUP(mem_free_text) = mem_format(
		"{\"apiVersion\":\"kubeflow.org/v1\",\"kind\":\"TFJob\","
		"\"metadata\":{\"name\":\"test\"},\"spec\":{\"tfReplicaSpecs\":{\"Worker\":"
		"{\"replicas\":%d,\"template\":{\"spec\":{\"containers\":[{\"name\":\"tensorflow\","
		"%s}]}}}}}}",
		workers, container);
	struct json *root CLEANUP(json_cleanup) = NULL;
	struct faults faults = {0};

	assert_int_equal(json_read(text, strlen(text), &root, NULL), 0);
	assert_int_equal(job_read(root, NULL, JOB_STRICT, &faults, &world->job), 0);
	faults_done(&faults);
	job_set_uid(world->job, "0123-uid");
}

static void make_shell_job(struct scene *world, int workers, const char *script)
{
	char *container CLEANUP(mem_free_text) =
		mem_format("\"command\":[\"sh\",\"-c\",\"%s\"]", script);

	make_job(world, workers, container);
}

static int act(struct scene *world, enum action_type type, int index, int attempt, msec grace)
{
	const struct action action = {
		.type = type,
		.role = "worker",
		.index = index,
		.attempt = attempt,
		.grace = grace,
		.signal = type == ACTION_STOP ? SIGTERM : 0,
	};

	return world->backend->functions->apply(world->backend, world->job, &action, NULL);
}

static struct observed look(struct scene *world)
{
	struct observed observed;

	assert_int_equal(world->backend->functions->observe(world->backend, world->job,
							    world->arena, &observed, NULL),
			 0);
	return observed;
}

static struct observed_replica look_at(struct scene *world, int index, int attempt)
{
	struct observed observed = look(world);

	for (size_t i = 0; i < observed.n_replicas; i++)
		if (observed.replicas[i].index == index && observed.replicas[i].attempt == attempt)
			return observed.replicas[i];
	fail_msg("no worker-%d of attempt %d", index, attempt);
	return (struct observed_replica){0};
}

static void start_all(struct scene *world, int attempt)
{
	for (int i = 0; i < world->job->roles[0].replicas; i++)
		assert_int_equal(act(world, ACTION_PUBLISH, i, 0, 0), 0);
	for (int i = 0; i < world->job->roles[0].replicas; i++)
		assert_int_equal(act(world, ACTION_START, i, attempt, 0), 0);
}

static struct observed_replica wait_for_end(struct scene *world, int index, int attempt)
{
	loop_timer_arm_after(world->patience, PATIENCE);
	while (look_at(world, index, attempt).phase == OBSERVED_RUNNING)
		loop_run(world->loop);
	loop_timer_arm(world->patience, INSTANT_NEVER);
	return look_at(world, index, attempt);
}

/* The last line of a replica's output so far, or "". */
static const char *last_line(struct scene *world, int index, int attempt)
{
	struct printed printed;

	if (world->backend->functions->last_lines(world->backend, world->job, "worker", index,
						  attempt, 1, world->arena, &printed, NULL) < 0)
		return "";
	return printed.count ? printed.lines[0] : "";
}

static void wait_for_line(struct scene *world, int index, int attempt, const char *line)
{
	msec limit = loop_now() + PATIENCE;

	while (strncmp(last_line(world, index, attempt), line, strlen(line)) != 0) {
		assert_true(loop_now() < limit);
		loop_run_ready(world->loop);
	}
}

#define WORLD_TEST(name) TEST_IN(begin, end, struct scene *world, name)

WORLD_TEST(an_end_is_observed_with_its_code_and_its_output)
{
	make_shell_job(world, 1, "echo one; echo two; exit 7");
	start_all(world, 0);
	struct observed_replica running = look_at(world, 0, 0);

	assert_int_equal(running.phase, OBSERVED_RUNNING);
	assert_true(running.pid > 0);
	struct observed_replica ended = wait_for_end(world, 0, 0);

	assert_int_equal(ended.phase, OBSERVED_FAILED);
	assert_int_equal(ended.exit_code, 7);
	assert_int_equal(ended.signal, 0);
	assert_true(ended.ended_at >= ended.started_at);
	assert_string_equal(last_line(world, 0, 0), "two");
	assert_true(text_ends_with(ended.log, "/0123-uid/worker-0.0.log"));
}

WORLD_TEST(starting_what_is_there_does_nothing)
{
	make_shell_job(world, 1, "exit 0");
	start_all(world, 0);
	assert_int_equal(act(world, ACTION_START, 0, 0, 0), 0);
	assert_int_equal(look(world).n_replicas, 1);
	assert_int_equal(wait_for_end(world, 0, 0).phase, OBSERVED_SUCCEEDED);
	assert_int_equal(act(world, ACTION_REMOVE, 0, 0, 0), 0);
	assert_int_equal(look(world).n_replicas, 0);
	assert_int_equal(act(world, ACTION_REMOVE, 0, 0, 0), 0);
	assert_int_equal(act(world, ACTION_STOP, 0, 0, 0), 0);
}

WORLD_TEST(addresses_are_distinct_and_stay_over_restarts)
{
	char *first;

	make_shell_job(world, 2, "echo $MASTER_PORT; sleep 1000");
	start_all(world, 0);
	struct observed before = look(world);

	assert_int_equal(before.n_addresses, 2);
	first = arena_copy_text(world->arena, before.addresses[0].address);
	assert_true(text_starts_with(first, "127.0.0.1:"));
	assert_string_not_equal(first, before.addresses[1].address);
	assert_int_equal(act(world, ACTION_KILL, 0, 0, 0), 0);
	assert_int_equal(wait_for_end(world, 0, 0).signal, SIGKILL);
	assert_int_equal(act(world, ACTION_START, 0, 1, 0), 0);
	assert_string_equal(look(world).addresses[0].address, first);
	assert_null(world->trouble);
}

WORLD_TEST(a_program_that_ignores_term_is_killed_after_the_grace)
{
	make_shell_job(world, 1, "trap '' TERM; echo ready; while :; do sleep 1000; done");
	start_all(world, 0);
	wait_for_line(world, 0, 0, "ready");
	assert_int_equal(act(world, ACTION_STOP, 0, 0, 30), 0);
	struct observed_replica stopping = look_at(world, 0, 0);

	assert_int_equal(stopping.kill_at - stopping.stop_asked_at, 30);
	struct observed_replica ended = wait_for_end(world, 0, 0);

	assert_int_equal(ended.signal, SIGKILL);
	assert_true(ended.is_killed);
	assert_true(ended.ended_at >= stopping.kill_at);
}

WORLD_TEST(a_stop_reaches_a_process_that_was_paused)
{
	make_shell_job(world, 1, "echo ready; kill -STOP $$$$; sleep 1000");
	start_all(world, 0);
	wait_for_line(world, 0, 0, "ready");
	assert_int_equal(act(world, ACTION_STOP, 0, 0, PATIENCE), 0);
	struct observed_replica ended = wait_for_end(world, 0, 0);

	assert_int_equal(ended.signal, SIGTERM);
	assert_false(ended.is_killed);
}

WORLD_TEST(an_attempt_has_ended_when_its_escapees_have)
{
	struct process_identity escapee;

	make_shell_job(world, 1,
		       "setsid sh -c 'trap \\\"\\\" TERM HUP; (setsid sleep 1000 & echo $!); sleep "
		       "1000' & read x < /proc/sys/kernel/ostype; sleep 1000");
	start_all(world, 0);
	while (!*last_line(world, 0, 0))
		loop_run_ready(world->loop);
	assert_int_equal(process_identify(atoi(last_line(world, 0, 0)), &escapee, NULL), 0);
	assert_int_equal(act(world, ACTION_STOP, 0, 0, PATIENCE), 0);
	wait_for_end(world, 0, 0);
	assert_false(process_find(&escapee));
}

WORLD_TEST(a_daemon_of_a_worker_that_runs_is_left_alone)
{
	struct process_identity daemon;

	make_shell_job(world, 2,
		       "if [ $WORKER_NUMBER = 0 ]; then exec sleep 1000; fi; "
		       "(setsid sleep 1000 & echo $!); sleep 1000");
	start_all(world, 0);
	while (!*last_line(world, 1, 0))
		loop_run_ready(world->loop);
	assert_int_equal(process_identify(atoi(last_line(world, 1, 0)), &daemon, NULL), 0);
	assert_int_equal(act(world, ACTION_KILL, 0, 0, 0), 0);
	wait_for_end(world, 0, 0);
	assert_true(process_find(&daemon));
	backend_local_kill_all(world->backend);
	assert_false(process_find(&daemon));
	assert_int_equal(look_at(world, 1, 0).signal, SIGKILL);
}

WORLD_TEST(a_program_that_is_missing_is_a_replica_that_failed)
{
	make_job(world, 1, "\"command\":[\"no-such-program\"]");
	start_all(world, 0);
	struct observed_replica failed = look_at(world, 0, 0);

	assert_int_equal(failed.phase, OBSERVED_FAILED);
	assert_int_equal(failed.exit_code, 127);
	assert_string_equal(failed.reason, "StartFailed");
	assert_true(text_starts_with(failed.message, "program 'no-such-program' not found"));
}

WORLD_TEST(a_replica_may_close_its_output)
{
	make_shell_job(world, 1, "echo last; exec >&- 2>&-; kill -USR1 $$$$");
	start_all(world, 0);
	assert_int_equal(wait_for_end(world, 0, 0).signal, SIGUSR1);
	assert_string_equal(last_line(world, 0, 0), "last");
}

WORLD_TEST(variables_are_expanded_as_kubernetes_does)
{
	make_job(world, 1,
		 "\"command\":[\"echo\",\"$(GREETING) $(HOME) $$(A) $(MUSTER_ROLE)\"],"
		 "\"args\":[\"$(A)\"],\"env\":[{\"name\":\"A\",\"value\":\"a\"},"
		 "{\"name\":\"GREETING\",\"value\":\"$(A)-$(B)\"}]");
	start_all(world, 0);
	wait_for_end(world, 0, 0);
	assert_string_equal(last_line(world, 0, 0), "a-$(B) $(HOME) $(A) worker a");
}

WORLD_TEST(every_line_of_a_flood_is_kept)
{
	make_shell_job(world, 2, "i=0; while [ $i -lt 20000 ]; do echo $i; i=$((i+1)); done");
	start_all(world, 0);
	for (int i = 0; i < 2; i++) {
		struct observed_replica ended = wait_for_end(world, i, 0);
		char *bytes CLEANUP(mem_free_text) = NULL;
		size_t len, lines = 0;

		assert_int_equal(file_read_whole(ended.log, 1 << 20, &bytes, &len, NULL), 0);
		for (const char *at = bytes; *at; at = strchr(at, '\n') + 1)
			assert_int_equal(atoi(at), lines++);
		assert_int_equal(lines, 20000);
	}
}

WORLD_TEST(a_check_names_what_cannot_run_here)
{
	struct faults faults = {0};

	make_job(world, 1, "\"image\":\"tensorflow/tensorflow\"");
	assert_int_equal(backend_local_check(world->job, &(struct gpus){0}, &faults), ERR_INVALID);
	assert_int_equal(faults.count, 1);
	assert_string_equal(faults.list[0].path,
			    "spec.tfReplicaSpecs[Worker].template.spec.containers[0].command");
	faults_done(&faults);
}

WORLD_TEST(a_check_looks_in_the_path_of_the_container)
{
	struct faults faults = {0};

	make_job(world, 1,
		 "\"command\":[\"sh\"],\"env\":[{\"name\":\"PATH\",\"value\":\"/no/such\"}]");
	assert_int_equal(backend_local_check(world->job, &(struct gpus){0}, &faults), ERR_INVALID);
	assert_string_equal(faults.list[0].sentence, "program 'sh' not found in PATH");
	faults_done(&faults);
}

WORLD_TEST(muster_is_this_program_and_needs_no_path)
{
	struct faults faults = {0};

	make_job(world, 1,
		 "\"command\":[\"muster\",\"server\"],"
		 "\"env\":[{\"name\":\"PATH\",\"value\":\"/no/such\"}]");
	assert_int_equal(backend_local_check(world->job, &(struct gpus){0}, &faults), 0);
	assert_int_equal(faults.count, 0);
}

WORLD_TEST(a_job_that_can_run_here_has_no_faults)
{
	struct faults faults = {0};

	make_job(world, 1, "\"command\":[\"sh\"],\"workingDir\":\"/\"");
	assert_int_equal(backend_local_check(world->job, &(struct gpus){0}, &faults), 0);
	assert_int_equal(faults.count, 0);
}

int main(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	return unit_run();
}
