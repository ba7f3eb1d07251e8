#include "unit.h"

#include "base/own.h"
#include "fake_tensorflow.h"
#include "tensorflow/session.h"

static struct library library;

static int setup(void **state)
{
	(void) state;
	library = fake_library();
	fake_cluster.tasks[0] = (struct fake_task){
		.job = "worker", .address = "a:1", .devices = {"CPU:0", "GPU:0"}};
	fake_cluster.tasks[1] =
		(struct fake_task){.job = "ps", .address = "b:2", .devices = {"CPU:0"}};
	fake_cluster.n_tasks = 2;
	return 0;
}

static int teardown(void **state)
{
	(void) state;
	return fake_cluster.n_open == 0 ? 0 : -1;
}

static struct session *open_session(enum session_reach reach)
{
	const struct session_target target = {
		.master = "grpc://a:1", .reach = reach, .job = "ps", .task = 0, .timeout = 4000};
	struct session *session = NULL;

	assert_int_equal(session_open(&library, &target, &session, NULL), 0);
	return session;
}

static size_t count_devices(struct session *session)
{
	const struct session_device *devices;
	size_t count;

	assert_int_equal(session_list_devices(session, &devices, &count, NULL), 0);
	return count;
}

TEST_WITH(setup, teardown, the_reach_decides_which_tasks_are_asked)
{
	struct session *all = open_session(SESSION_ALL), *master = open_session(SESSION_MASTER);

	assert_int_equal(fake_cluster.operation_timeout, 4000);
	assert_int_equal(count_devices(all), 3);
	assert_int_equal(count_devices(master), 2);
	session_close(all);
	session_close(master);
	fake_cluster.tasks[0].devices[1] = NULL;
	struct session *task = open_session(SESSION_TASK);

	assert_int_equal(count_devices(task), 2);
	session_close(task);
	assert_int_equal(fake_cluster.n_closed, 3);
}

TEST_WITH(setup, teardown, a_device_has_its_full_name_and_its_parts)
{
	struct session *session = open_session(SESSION_MASTER);
	const struct session_device *devices;
	size_t count;

	assert_int_equal(session_list_devices(session, &devices, &count, NULL), 0);
	assert_string_equal(devices[1].full_name, "/job:worker/replica:0/task:0/device:GPU:0");
	assert_string_equal(devices[1].name.job, "worker");
	assert_string_equal(devices[1].name.device, "GPU:0");
	session_close(session);
}

TEST_WITH(setup, teardown, silence_ends_with_the_timeout_and_nobody_is_told_of_the_end)
{
	struct session *session = open_session(SESSION_ALL);
	const struct session_device *devices = NULL;
	struct err err = {0};
	size_t count;

	fake_cluster.tasks[1].is_silent = true;
	assert_int_equal(session_list_devices(session, &devices, &count, &err), ERR_UNREACHABLE);
	assert_string_equal(err.text, "no response within 4s");
	assert_string_equal(session_code(session), "DEADLINE_EXCEEDED");
	assert_null(devices);
	session_close(session);
	assert_int_equal(fake_cluster.n_closed, 0);
}

TEST_WITH(setup, teardown, a_product_is_compared)
{
	const char *device = "/job:ps/replica:0/task:0/device:CPU:0";
	struct session *session = open_session(SESSION_TASK);
	struct err err = {0};

	assert_int_equal(session_multiply(session, device, &err), 0);
	assert_int_equal(fake_cluster.run_timeout, 4000);
	assert_int_equal(session_multiply(session, device, &err), 0);
	fake_cluster.tasks[1].is_wrong = true;
	assert_int_equal(session_multiply(session, device, &err), ERR_IO);
	assert_string_equal(err.text, "the product of two matrices is wrong");
	assert_string_equal(session_code(session), "OK");
	session_close(session);
}

TEST_WITH(setup, teardown, what_tensorflow_says_is_told_without_its_names_of_nodes)
{
	struct session *session = open_session(SESSION_TASK);
	struct err err = {0};

	assert_int_equal(session_multiply(session, "/job:ps/replica:0/task:7/device:CPU:0", &err),
			 ERR_INVALID);
	assert_string_equal(err.text, "Cannot assign a device for operation MatMul");
	assert_string_equal(session_code(session), "INVALID_ARGUMENT");
	session_close(session);
}

TEST_WITH(setup, teardown, a_wrong_address_is_told_at_once)
{
	const struct session_target target = {.master = "grpc://a", .timeout = 1};
	struct session *session = NULL;

	assert_int_equal(session_open(&library, &target, &session, NULL), ERR_INVALID);
	assert_null(session);
}

TEST_WITH(setup, teardown, a_library_without_sessions_is_told)
{
	struct library empty = fake_library_without_functions();
	struct err err = {0};

	assert_int_equal(session_check_library(&empty, &err), ERR_UNSUPPORTED);
	assert_non_null(
		strstr(err.text, "TensorFlow 2.99.0 in 'fake' has no TF_NewSessionOptions, "));
	assert_int_equal(session_check_library(&library, NULL), 0);
}
