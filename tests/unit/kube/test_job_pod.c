/* What muster makes of Pods (golden_pod.h). */
#include "golden_pod.h"
#include "unit_json.h"

#include "kube/job_pod.h"

#include <signal.h>

struct scene {
	struct job_pod *pod;
	struct observed_replica seen; /* of it */
};

static void tear_down(struct scene *scene)
{
	job_pod_free(scene->pod);
}

FIXTURE(struct scene, (void), tear_down)

static bool read_pod(struct scene *scene, const struct json *pod)
{
	job_pod_free(scene->pod);
	scene->pod = job_pod_read(pod);
	if (scene->pod)
		scene->seen = scene->pod->seen;
	return scene->pod;
}

static const struct observed_replica *look(void **state, const char *name)
{
	struct scene *scene = *state;
	struct json *pod CLEANUP(json_cleanup) = golden_pod(name);

	assert_true(read_pod(scene, pod));
	return &scene->seen;
}

static msec time_of(const char *text)
{
	msec time;

	assert_int_equal(text_read_time(text, &time, NULL), 0);
	return time;
}

TEST_WITH(fixture_begin, fixture_end, labels_say_which_replica_it_is)
{
	const struct observed_replica *seen = look(state, "sidecar");

	assert_string_equal(seen->role, "worker");
	assert_int_equal(seen->index, 11);
	assert_int_equal(seen->attempt, 0);
}

TEST_WITH(fixture_begin, fixture_end, a_pod_says_what_it_is)
{
	struct json *object CLEANUP(json_cleanup) = golden_pod("running");
	struct job_pod *pod = job_pod_read(object);

	assert_non_null(pod);
	assert_string_equal(pod->job_name, "digits");
	assert_string_equal(pod->name,
			    json_as_string(json_get_path(object, "metadata", "name", NULL), NULL));
	assert_string_equal(pod->container, "tensorflow");
	assert_string_equal(pod->owner_uid, OWNER);
	assert_int_equal(pod->seen.phase, OBSERVED_RUNNING);
	job_pod_free(pod);
	json_remove(json_get(object, "metadata"), "labels");
	assert_null(job_pod_read(object));
}

TEST_WITH(fixture_begin, fixture_end, a_pod_of_an_earlier_job_of_the_same_name_is_none_of_ours)
{
	const struct job_pod pod = {.owner_uid = OWNER};

	assert_true(job_pod_is_of(&pod, OWNER, false));
	assert_true(job_pod_is_of(&pod, OWNER, true));
	assert_false(job_pod_is_of(&pod, "of-a-later-job", false));
	assert_false(job_pod_is_of(&pod, "of-a-later-job", true));
}

TEST_WITH(fixture_begin, fixture_end, a_pod_that_nobody_owns_is_that_of_a_job_that_was_applied)
{
	const struct job_pod pod = {.owner_uid = NULL};

	assert_false(job_pod_is_of(&pod, OWNER, false));
	assert_true(job_pod_is_of(&pod, OWNER, true));
}

/* Whoever may make Pods may wear the labels. */
TEST_WITH(fixture_begin, fixture_end, a_pod_that_another_controls_is_in_no_job)
{
	struct json *pod CLEANUP(json_cleanup) = golden_pod("running");
	struct json *metadata = json_get(pod, "metadata");
	struct json *owners = json_array_at(metadata, "ownerReferences");
	struct json *other = json_new_object();

	json_set_string(json_get(metadata, "labels"), "app.kubernetes.io/managed-by", "muster");
	json_set_string(json_at(owners, 0), "kind", "ConfigMap");
	json_set_string(json_at(owners, 0), "name", "digits.job");
	assert_true(job_pod_is_in(pod, "digits", OWNER));
	assert_true(job_pod_is_in(pod, "digits", NULL));
	assert_false(job_pod_is_in(pod, "letters", NULL));
	assert_false(job_pod_is_in(pod, "digits", "of-a-later-job"));
	json_set_string(other, "kind", "ReplicaSet");
	json_set_string(other, "name", "digits.job");
	json_set_string(other, "uid", "of-a-replica-set");
	json_set(other, "controller", json_new_bool(true));
	json_set(json_at(owners, 0), "controller", json_new_bool(false));
	json_append(owners, other);
	assert_false(job_pod_is_in(pod, "digits", OWNER));
	assert_false(job_pod_is_in(pod, "digits", NULL));
	json_remove(metadata, "ownerReferences");
	assert_false(job_pod_is_in(pod, "digits", OWNER));
	assert_true(job_pod_is_in(pod, "digits", NULL));
}

#define SCENE_TEST(name) TEST_IN(fixture_begin, fixture_end, struct scene *scene, name)

SCENE_TEST(a_pod_without_our_labels_is_none_of_ours)
{
	struct json *pod CLEANUP(json_cleanup) = golden_pod("running");
	struct json *labels = json_get_path(pod, "metadata", "labels", NULL);

	json_set_string(labels, "muster/index", "minus one");
	assert_false(read_pod(scene, pod));
	json_remove(labels, "muster/index");
	assert_false(read_pod(scene, pod));
}

TEST_WITH(fixture_begin, fixture_end, labels_that_could_name_a_file_elsewhere_are_none)
{
	static const char *const wrong[][2] = {
		{"muster/role", "../x"},   {"muster/role", "\033[2J"},       {"muster/job", "../x"},
		{"muster/index", "10000"}, {"muster/attempt", "1000000000"},
	};
	struct scene *scene = *state;

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		struct json *pod CLEANUP(json_cleanup) = golden_pod("running");

		json_set_string(json_get_path(pod, "metadata", "labels", NULL), wrong[i][0],
				wrong[i][1]);
		assert_false(read_pod(scene, pod));
	}
}

/* It is a word of commands that are shown. */
SCENE_TEST(a_node_that_is_no_name_is_none)
{
	struct json *pod CLEANUP(json_cleanup) = golden_pod("running");

	json_set_string(json_object_at(pod, "spec"), "nodeName", "n7; rm -r /");
	assert_true(read_pod(scene, pod));
	assert_null(scene->seen.node);
}

TEST_WITH(fixture_begin, fixture_end, a_pod_whose_name_is_none_is_none_of_ours)
{
	struct json *object CLEANUP(json_cleanup) = golden_pod("running");

	json_set_string(json_get(object, "metadata"), "name", "../x");
	assert_null(job_pod_read(object));
}

TEST_WITH(fixture_begin, fixture_end, one_that_runs_says_since_when)
{
	const struct observed_replica *seen = look(state, "running");

	assert_int_equal(seen->phase, OBSERVED_RUNNING);
	assert_int_equal(seen->started_at, time_of("2026-11-21T20:27:43Z"));
	assert_int_equal(seen->ended_at, MSEC_UNSET);
	assert_int_equal(seen->stop_asked_at, MSEC_UNSET);
	assert_int_equal(seen->exit_code, -1);
	assert_null(seen->reason);
}

TEST_WITH(fixture_begin, fixture_end, ends_have_codes)
{
	const struct observed_replica *seen = look(state, "completed");

	assert_int_equal(seen->phase, OBSERVED_SUCCEEDED);
	assert_int_equal(seen->exit_code, 0);
	assert_null(seen->reason);
	seen = look(state, "code-3");
	assert_int_equal(seen->phase, OBSERVED_FAILED);
	assert_int_equal(seen->exit_code, 3);
	assert_int_equal(seen->ended_at, time_of("2026-11-21T20:27:43Z"));
	assert_null(seen->reason);
}

TEST_WITH(fixture_begin, fixture_end, a_container_beside_it_does_not_hold_an_end_up)
{
	const struct observed_replica *seen = look(state, "sidecar");

	assert_int_equal(seen->phase, OBSERVED_SUCCEEDED);
	assert_int_equal(seen->exit_code, 0);
}

/* The Pod of this name, as one of a TFJob. */
static struct json *pod_of_tfjob(const char *name)
{
	struct json *pod = golden_pod(name);
	struct json *labels = json_object_at(json_get(pod, "metadata"), "labels");

	json_set_string(labels, "training.kubeflow.org/operator-name", "tfjob-controller");
	json_set_string(labels, "training.kubeflow.org/job-name", "j");
	json_set_string(labels, "training.kubeflow.org/replica-type", "worker");
	json_set_string(labels, "training.kubeflow.org/replica-index", "0");
	return pod;
}

TEST_WITH(fixture_begin, fixture_end, a_tfjobs_replica_succeeds_with_its_pod_and_fails_alone)
{
	struct scene *scene = *state;
	const struct observed_replica *seen = &scene->seen;
	struct json *pod CLEANUP(json_cleanup) = pod_of_tfjob("sidecar");
	struct json *list = json_get_path(pod, "status", "containerStatuses", NULL);
	struct json *terminated = NULL;

	for (size_t i = 0; i < json_count(list) && !terminated; i++)
		terminated = json_get_path(json_at(list, i), "state", "terminated", NULL);
	assert_true(read_pod(scene, pod));
	assert_int_equal(seen->phase, OBSERVED_RUNNING);
	assert_true(seen->is_object_running);
	assert_true(seen->started_at != MSEC_UNSET);
	json_set_string(json_get(pod, "status"), "phase", "Succeeded");
	assert_true(read_pod(scene, pod));
	assert_int_equal(seen->phase, OBSERVED_SUCCEEDED);
	json_set_string(json_get(pod, "status"), "phase", "Running");
	json_set_integer(terminated, "exitCode", 3);
	assert_true(read_pod(scene, pod));
	assert_int_equal(seen->phase, OBSERVED_FAILED);
	assert_true(seen->is_object_running);
	assert_int_equal(seen->exit_code, 3);
}

TEST_WITH(fixture_begin, fixture_end, a_tfjobs_replica_fails_with_its_pod)
{
	struct scene *scene = *state;
	struct json *pod CLEANUP(json_cleanup) = pod_of_tfjob("sidecar");
	struct json *list = json_get_path(pod, "status", "containerStatuses", NULL);

	for (size_t i = 0; i < json_count(list); i++) {
		struct json *terms = json_get_path(json_at(list, i), "state", "terminated", NULL);

		if (terms)
			continue;
		json_set_string(json_at(list, i), "name", "upload");
		json_remove(json_get(json_at(list, i), "state"), "running");
		json_set_integer(json_object_at(json_get(json_at(list, i), "state"), "terminated"),
				 "exitCode", 2);
	}
	json_set_string(json_get(pod, "status"), "phase", "Failed");
	assert_true(read_pod(scene, pod));
	assert_int_equal(scene->seen.phase, OBSERVED_FAILED);
	assert_int_equal(scene->seen.exit_code, 2);
	assert_string_equal(scene->seen.reason, "SidecarFailed");
	assert_string_equal(scene->seen.message, "container 'upload' exited with code 2");
}

TEST_WITH(fixture_begin, fixture_end, out_of_memory_is_the_kernels_kill)
{
	const struct observed_replica *seen = look(state, "out-of-memory");

	assert_int_equal(seen->phase, OBSERVED_FAILED);
	assert_int_equal(seen->signal, SIGKILL);
	assert_int_equal(seen->exit_code, -1);
	assert_string_equal(seen->reason, "OOMKilled");
}

/* A Pod that ended like that under a limit of 512Mi. */
static struct json *limited_pod(const char *name)
{
	struct json *pod = golden_pod(name);
	struct json *containers = json_array_at(json_object_at(pod, "spec"), "containers");
	struct json *container = json_new_object();

	json_append(containers, container);
	json_set_string(container, "name", "tensorflow");
	json_set_string(json_object_at(json_object_at(container, "resources"), "limits"), "memory",
			"512Mi");
	return pod;
}

SCENE_TEST(the_limit_that_was_too_low_is_named)
{
	struct json *pod CLEANUP(json_cleanup) = limited_pod("out-of-memory");

	assert_true(read_pod(scene, pod));
	assert_string_equal(scene->seen.message, "its memory limit is 512Mi");
}

static struct json *end_of(struct json *pod)
{
	return json_get_path(json_at(json_get_path(pod, "status", "containerStatuses", NULL), 0),
			     "state", "terminated", NULL);
}

SCENE_TEST(a_kill_for_which_nobody_asked_may_be_the_kernels)
{
	struct json *pod CLEANUP(json_cleanup) = limited_pod("out-of-memory");

	json_set_string(end_of(pod), "reason", "Error");
	assert_true(read_pod(scene, pod));
	assert_null(scene->seen.reason);
	assert_string_equal(scene->seen.message,
			    "its memory limit is 512Mi, which it may have reached");

	json_set_string(json_get(pod, "metadata"), "deletionTimestamp", "2026-01-01T00:00:00Z");
	assert_true(read_pod(scene, pod));
	assert_null(scene->seen.message);
}

static struct json *condition_of(struct json *pod, const char *type)
{
	struct json *conditions = json_get_path(pod, "status", "conditions", NULL);

	for (size_t i = 0; i < json_count(conditions); i++)
		if (text_equals(json_as_string(json_get(json_at(conditions, i), "type"), NULL),
				type))
			return json_at(conditions, i);
	return NULL;
}

SCENE_TEST(a_node_that_is_silent_threatens_what_runs_there)
{
	struct json *pod CLEANUP(json_cleanup) = golden_pod("running");

	json_set_string(json_object_at(pod, "spec"), "nodeName", "n7");
	json_set_string(condition_of(pod, "Ready"), "status", "False");
	assert_true(read_pod(scene, pod));
	assert_int_equal(scene->seen.phase, OBSERVED_RUNNING);
	assert_true(scene->seen.is_node_silent);
	assert_string_equal(scene->seen.node, "n7");
	assert_string_equal(scene->seen.reason, "NodeNotReady");
	assert_non_null(strstr(scene->seen.message, "node 'n7' does not respond"));
}

/* Which a readiness probe may say. */
SCENE_TEST(a_container_that_is_not_ready_says_nothing_of_its_node)
{
	struct json *pod CLEANUP(json_cleanup) = golden_pod("running");

	json_set_string(json_object_at(pod, "spec"), "nodeName", "n7");
	json_set_string(condition_of(pod, "Ready"), "status", "False");
	json_set_string(condition_of(pod, "ContainersReady"), "status", "False");
	assert_true(read_pod(scene, pod));
	assert_false(scene->seen.is_node_silent);
	assert_null(scene->seen.reason);
}

SCENE_TEST(a_message_is_one_line_of_bounded_length)
{
	struct json *pod CLEANUP(json_cleanup) = golden_pod("unschedulable");
	struct text long_text CLEANUP(text_done) = {0};

	for (int i = 0; i < 400; i++)
		text_add(&long_text, "\u00e9");
	text_add(&long_text, "\nsecond");
	json_set_string(condition_of(pod, "PodScheduled"), "message", text_of(&long_text));
	assert_true(read_pod(scene, pod));
	assert_int_equal(strlen(scene->seen.message), 300);
	assert_true(text_is_utf8(scene->seen.message, 300));
}

TEST_WITH(fixture_begin, fixture_end, a_program_that_is_not_there_could_not_be_started)
{
	const struct observed_replica *seen = look(state, "no-program");

	assert_int_equal(seen->phase, OBSERVED_FAILED);
	assert_int_equal(seen->exit_code, -1);
	assert_int_equal(seen->started_at, MSEC_UNSET);
	assert_string_equal(seen->reason, "StartFailed");
	assert_non_null(strstr(seen->message, "/no/such/program: no such file"));
}

TEST_WITH(fixture_begin, fixture_end, what_stands_in_the_way_has_a_reason)
{
	static const struct {
		const char *pod, *reason, *part;
	} rows[] = {
		{"unschedulable", "Unschedulable", "0/5 nodes are available: 1 Insufficient cpu"},
		{"no-image", "ImagePullBackOff", "Back-off pulling image"},
		{"bad-image", "ErrImagePull", "repository name must be lowercase"},
		{"no-config", "CreateContainerConfigError", "configmap \"nothing\" not found"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct observed_replica *seen = look(state, rows[i].pod);

		assert_int_equal(seen->phase, OBSERVED_STARTING);
		assert_string_equal(seen->reason, rows[i].reason);
		assert_non_null(strstr(seen->message, rows[i].part));
		assert_false(seen->is_node_silent);
	}
}

/* A Pod that runs, with a container in this state, after so many restarts and an end with 3. */
static const struct observed_replica *look_at_restarts(struct scene *scene, const char *policy,
						       int n_restarts, const char *container_state)
{
	struct json *pod CLEANUP(json_cleanup) = golden_pod("running");
	struct json *container =
		json_at(json_get_path(pod, "status", "containerStatuses", NULL), 0);

	json_set_string(json_object_at(pod, "spec"), "restartPolicy", policy);
	json_set_integer(container, "restartCount", n_restarts);
	if (n_restarts > 0)
		json_set(container, "lastState", json_of("{\"terminated\": {\"exitCode\": 3}}"));
	json_set(container, "state", json_of(container_state));
	assert_true(read_pod(scene, pod));
	return &scene->seen;
}

TEST_WITH(fixture_begin, fixture_end, what_a_kubelet_starts_again_has_not_ended)
{
	static const char failed[] = "{\"terminated\": {\"exitCode\": 3}}";
	static const char done[] = "{\"terminated\": {\"exitCode\": 0}}";
	static const char backs_off[] = "{\"waiting\": {\"reason\": \"CrashLoopBackOff\"}}";
	static const char runs[] = "{\"running\": {}}";
	static const struct {
		const char *policy, *state;
		int n_restarts;
		enum observed_phase phase;
		int n_ends;
	} rows[] = {
		{"Never", failed, 0, OBSERVED_FAILED, 0},
		{"OnFailure", failed, 0, OBSERVED_RUNNING, 1},
		{"OnFailure", failed, 2, OBSERVED_RUNNING, 3},
		{"OnFailure", backs_off, 2, OBSERVED_STARTING, 3},
		{"OnFailure", backs_off, 0, OBSERVED_STARTING, 0},
		{"OnFailure", runs, 3, OBSERVED_RUNNING, 3},
		{"OnFailure", runs, 0, OBSERVED_RUNNING, 0},
		{"OnFailure", done, 0, OBSERVED_SUCCEEDED, 0},
		{"Always", done, 0, OBSERVED_RUNNING, 1},
		{"Always", runs, 1, OBSERVED_RUNNING, 1},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct observed_replica *seen =
			look_at_restarts(*state, rows[i].policy, rows[i].n_restarts, rows[i].state);

		assert_int_equal(seen->phase, rows[i].phase);
		assert_int_equal(seen->n_ends_in_place, rows[i].n_ends);
		if (rows[i].n_ends > 0)
			assert_int_equal(seen->last_end.exit_code, rows[i].state == done ? 0 : 3);
	}
}

static const struct observed_replica *wait_for_secret(void **state, const char *namespace_name,
						      const char *message)
{
	struct scene *scene = *state;
	struct json *pod CLEANUP(json_cleanup) = golden_pod("no-config");
	struct json *container =
		json_at(json_get_path(pod, "status", "containerStatuses", NULL), 0);

	json_set_string(json_get(pod, "metadata"), "namespace", namespace_name);
	json_set_string(json_get_path(container, "state", "waiting", NULL), "message", message);
	assert_true(read_pod(scene, pod));
	return &scene->seen;
}

TEST_WITH(fixture_begin, fixture_end, the_secret_of_the_job_itself_has_a_reason_of_its_own)
{
	const struct observed_replica *seen =
		wait_for_secret(state, "ada", "secret \"digits.env\" not found");

	assert_string_equal(seen->reason, "SecretMissing");
	assert_non_null(strstr(seen->message, "create secret generic -n ada digits.env "));
	seen = wait_for_secret(state, "ada", "secret \"another.env\" not found");
	assert_string_equal(seen->reason, "CreateContainerConfigError");
	assert_string_equal(seen->message, "secret \"another.env\" not found");
	seen = wait_for_secret(state, "ada; rm -rf ~", "secret \"digits.env\" not found");
	assert_string_equal(seen->message, "secret \"digits.env\" not found");
}

TEST_WITH(fixture_begin, fixture_end, an_init_container_that_fails_is_named)
{
	const struct observed_replica *seen = look(state, "init-fails");

	assert_int_equal(seen->phase, OBSERVED_FAILED);
	assert_int_equal(seen->exit_code, -1);
	assert_string_equal(seen->reason, "InitContainerFailed");
	assert_string_equal(seen->message, "init container 'before' exited with code 4");
}

TEST_WITH(fixture_begin, fixture_end, what_a_failed_init_container_said_last_is_told)
{
	struct scene *scene = *state;
	struct json *pod CLEANUP(json_cleanup) = golden_pod("init-fails");
	struct json *container =
		json_at(json_get_path(pod, "status", "initContainerStatuses", NULL), 0);
	struct json *terminated = json_get_path(container, "state", "terminated", NULL);
	char *log CLEANUP(mem_free_text) =
		mem_format("%0299d\nTraceback:\r\n  main()\n\nOSError: no\n", 0);

	json_set_string(terminated, "message", log);
	assert_true(read_pod(scene, pod));
	assert_string_equal(scene->seen.message, "init container 'before' exited with code 4: "
						 "Traceback:;   main(); OSError: no");
	json_set_string(terminated, "message", "\n\n");
	assert_true(read_pod(scene, pod));
	assert_string_equal(scene->seen.message, "init container 'before' exited with code 4");
	memset(log, 'x', 300);
	log[301] = 0; /* one long line */
	json_set_string(terminated, "message", log);
	assert_true(read_pod(scene, pod));
	assert_non_null(strstr(scene->seen.message, "exited with code 4: xxxxx"));
}

TEST_WITH(fixture_begin, fixture_end, an_init_container_that_cannot_be_started_says_why)
{
	const struct observed_replica *seen = look(state, "init-cannot-start");

	assert_string_equal(seen->reason, "InitContainerFailed");
	assert_non_null(strstr(seen->message, "init container 'before' could not be started: "));
	assert_non_null(strstr(seen->message, "exec: \"sh\": executable file not found"));
}

TEST_WITH(fixture_begin, fixture_end, the_reason_of_the_whole_pod_counts_too)
{
	const struct observed_replica *seen = look(state, "deadline");

	assert_int_equal(seen->phase, OBSERVED_FAILED);
	assert_string_equal(seen->reason, "DeadlineExceeded");
	assert_non_null(strstr(seen->message, "longer than the specified deadline"));
}

/* Asked to end by the kubelet it saves and ends with 0: the work is not done, and a code is not its
 * own mistake. */
TEST_WITH(fixture_begin, fixture_end, a_program_that_catches_term_does_not_succeed_by_it)
{
	struct scene *scene = *state;
	struct json *pod CLEANUP(json_cleanup) = golden_pod("deadline");
	struct json *container =
		json_at(json_get_path(pod, "status", "containerStatuses", NULL), 0);
	struct json *terminated = json_get_path(container, "state", "terminated", NULL);

	json_set_string(terminated, "reason", "Completed");
	json_set_integer(terminated, "exitCode", 0);
	assert_true(read_pod(scene, pod));
	assert_int_equal(scene->seen.phase, OBSERVED_FAILED);
	assert_int_equal(scene->seen.exit_code, -1);
	assert_string_equal(scene->seen.reason, "DeadlineExceeded");
	json_set_string(json_get(pod, "status"), "phase", "Succeeded");
	assert_true(read_pod(scene, pod));
	assert_int_equal(scene->seen.phase, OBSERVED_SUCCEEDED);
}

TEST_WITH(fixture_begin, fixture_end, the_time_of_a_deletion_is_its_kill)
{
	const struct observed_replica *seen = look(state, "killed-asked");

	assert_int_equal(seen->phase, OBSERVED_RUNNING);
	assert_int_equal(seen->stop_asked_at, time_of("2026-11-21T20:27:47Z"));
	assert_int_equal(seen->kill_at, time_of("2026-11-21T20:27:49Z"));
	assert_false(seen->is_killed);
	assert_null(seen->reason);
	seen = look(state, "killed");
	assert_int_equal(seen->phase, OBSERVED_FAILED);
	assert_int_equal(seen->signal, SIGKILL);
	assert_true(observed_was_asked_to_end(seen));
}

TEST_WITH(fixture_begin, fixture_end, who_takes_a_pod_away_is_its_reason)
{
	const struct observed_replica *seen = look(state, "evicted-asked");

	assert_int_equal(seen->phase, OBSERVED_RUNNING);
	assert_string_equal(seen->reason, "EvictionByEvictionAPI");
	assert_string_equal(seen->message, "Eviction API: evicting");
	assert_string_equal(look(state, "evicted")->reason, "EvictionByEvictionAPI");
}

/* Pods that were just made, on a node that was lost, or written by something else. */
SCENE_TEST(what_is_missing_is_not_known)
{
	struct json *pod CLEANUP(json_cleanup) = golden_pod("running");

	json_remove(json_get(pod, "status"), "containerStatuses");
	json_set_string(json_get(pod, "status"), "phase", "Unknown");
	assert_true(read_pod(scene, pod));
	assert_int_equal(scene->seen.phase, OBSERVED_RUNNING);
	json_remove(pod, "status");
	assert_true(read_pod(scene, pod));
	assert_int_equal(scene->seen.phase, OBSERVED_STARTING);
	assert_int_equal(scene->seen.exit_code, -1);
}
