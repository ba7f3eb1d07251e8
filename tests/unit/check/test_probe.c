/* The tasks are those of a fake library; that their ports open is true, and tried over loopback. */
#include "unit.h"

#include "base/mem.h"
#include "base/text.h"
#include "check/probe.h"
#include "fake_tensorflow.h"
#include "io/file.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

#define MOST 8

struct scene {
	struct library library;
	int listeners[MOST];
	char addresses[MOST][40];
	struct text told; /* a line for each event */
	bool was_loaded;
};

static void listen_for(struct scene *scene, size_t task)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (const struct sockaddr *) &address, size), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *) &address, &size), 0);
	snprintf(scene->addresses[task], sizeof(scene->addresses[task]), "127.0.0.1:%d",
		 ntohs(address.sin_port));
	scene->listeners[task] = fd;
}

static void add_task(struct scene *scene, const char *job, int index)
{
	size_t i = fake_cluster.n_tasks++;

	listen_for(scene, i);
	fake_cluster.tasks[i] = (struct fake_task){
		.job = job,
		.index = index,
		.address = scene->addresses[i],
		.devices = {"CPU:0"},
	};
}

static int setup(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	scene->library = fake_library();
	/* TensorFlow lists tasks in no order that people would like. */
	add_task(scene, "ps", 0);
	add_task(scene, "worker", 1);
	add_task(scene, "worker", 0);
	*state = scene;
	return 0;
}

static int teardown(void **state)
{
	struct scene *scene = *state;
	size_t n_open = fake_cluster.n_open;

	for (size_t i = 0; i < fake_cluster.n_tasks; i++)
		file_close(&scene->listeners[i]);
	text_done(&scene->told);
	free(scene);
	return n_open == 0 ? 0 : -1;
}

static int open_library(struct library **ret_library, void *data, struct err *err)
{
	struct scene *scene = data;

	(void) err;
	scene->was_loaded = true;
	*ret_library = &scene->library;
	return 0;
}

static void begin(const char *doing, void *data)
{
	(void) data;
	assert_string_not_equal(doing, "");
}

static void add_member(struct text *text, const struct json *event, const char *key)
{
	if (json_get(event, key))
		text_addf(text, " %s", json_as_string(json_get(event, key), "?"));
}

static void tell(const struct json *event, void *data)
{
	struct text *told = &((struct scene *) data)->told;
	const struct json *devices = json_get(event, "devices");

	text_add(told, json_as_string(json_get(event, "muster"), "?"));
	add_member(told, event, "step");
	add_member(told, event, "task");
	add_member(told, event, "server");
	for (size_t i = 0; i < json_count(devices); i++)
		text_addf(told, " %s", json_as_string(json_at(devices, i), "?"));
	add_member(told, event, "code");
	text_add_char(told, '\n');
	if (json_get(event, "error") == NULL && devices)
		assert_true(json_as_real(json_get(event, "seconds"), -1) >= 0);
}

static int probe(struct scene *scene, const char *servers)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct text faults CLEANUP(text_done) = {0};
	size_t n_servers;
	struct check_server *read = check_servers_read(servers, arena, "", &faults, &n_servers);

	const struct probe_request request = {
		.servers = read,
		.n_servers = n_servers,
		.timeout = 5000,
		.open_library = open_library,
		.on_begin = begin,
		.tell = tell,
		.data = scene,
	};

	return probe_run(&request, NULL);
}

static int probe_first(struct scene *scene)
{
	return probe(scene, scene->addresses[0]);
}

#define SCENE_TEST(name) TEST_IN(setup, teardown, struct scene *scene, name)

SCENE_TEST(one_server_shows_all_tasks_in_order)
{
	assert_int_equal(probe_first(scene), 0);
	assert_string_equal(text_of(&scene->told), "devices worker-0 CPU:0\n"
						   "devices worker-1 CPU:0\n"
						   "devices ps-0 CPU:0\n"
						   "ran worker-0 CPU:0\n"
						   "ran worker-1 CPU:0\n"
						   "ran ps-0 CPU:0\n");
}

SCENE_TEST(operations_run_on_processors_and_graphics_cards_alone)
{
	fake_cluster.n_tasks = 1;
	fake_cluster.tasks[0].devices[1] = "GPU:0";
	fake_cluster.tasks[0].devices[2] = "XLA_GPU:0";
	assert_int_equal(probe_first(scene), 0);
	assert_string_equal(text_of(&scene->told), "devices ps-0 CPU:0 GPU:0 XLA_GPU:0\n"
						   "ran ps-0 CPU:0 GPU:0\n");
	fake_cluster.n_tasks = 3;
}

SCENE_TEST(a_silent_task_is_named_and_the_others_are_tried)
{
	fake_cluster.tasks[1].is_silent = true;
	assert_int_equal(probe_first(scene), ERR_UNREACHABLE);
	assert_string_equal(text_of(&scene->told), "error devices worker-1 DEADLINE_EXCEEDED\n"
						   "devices worker-0 CPU:0\n"
						   "devices ps-0 CPU:0\n"
						   "ran worker-0 CPU:0\n"
						   "ran ps-0 CPU:0\n");
}

SCENE_TEST(a_wrong_product_is_told_with_its_task)
{
	fake_cluster.tasks[0].is_wrong = true;
	fake_cluster.n_tasks = 1;
	assert_int_equal(probe_first(scene), ERR_UNREACHABLE);
	assert_string_equal(text_of(&scene->told), "devices ps-0 CPU:0\n"
						   "error session ps-0 DATA_LOSS\n");
	fake_cluster.n_tasks = 3;
}

SCENE_TEST(jobs_with_names_of_their_own_are_known_from_their_servers)
{
	add_task(scene, "trainer", 0);
	add_task(scene, "trainer", 1);
	char *servers CLEANUP(mem_free_text) =
		mem_format("%s,%s", scene->addresses[3], scene->addresses[0]);

	fake_cluster.tasks[4].is_silent = true;
	assert_int_equal(probe(scene, servers), ERR_UNREACHABLE);
	assert_true(text_starts_with(text_of(&scene->told),
				     "error devices trainer-1 DEADLINE_EXCEEDED\n"
				     "devices worker-0 CPU:0\n"));
}

SCENE_TEST(a_silent_task_with_a_name_that_nobody_knows_is_told_of_too)
{
	add_task(scene, "trainer", 0);
	fake_cluster.tasks[3].is_silent = true;
	assert_int_equal(probe_first(scene), ERR_UNREACHABLE);
	assert_true(text_starts_with(text_of(&scene->told), "error devices DEADLINE_EXCEEDED\n"
							    "devices worker-0 CPU:0\n"));
}

SCENE_TEST(the_first_server_that_answers_is_asked_and_the_others_are_told_last)
{
	char *servers CLEANUP(mem_free_text) =
		mem_format("%s,%s,%s", "127.0.0.1:1", scene->addresses[1], scene->addresses[2]);

	fake_cluster.tasks[1].is_silent = true;
	assert_int_equal(probe(scene, servers), ERR_UNREACHABLE);
	const char *told = text_of(&scene->told);
	char *end = strstr(told, "error devices grpc://127.0.0.1:1 UNAVAILABLE\n");

	assert_true(text_starts_with(told, "error devices worker-1 DEADLINE_EXCEEDED\n"));
	assert_non_null(end);
	assert_non_null(strstr(end, scene->addresses[1]));
	assert_null(strstr(told, "ran worker-1"));
	assert_non_null(strstr(told, "ran worker-0"));
}

SCENE_TEST(a_server_that_falls_silent_in_the_search_ends_it)
{
	char *expected CLEANUP(mem_free_text) = NULL;

	fake_cluster.tasks[1].is_silent = true;
	fake_cluster.tasks[0].n_answers = 3;
	assert_int_equal(probe_first(scene), ERR_UNREACHABLE);
	expected = mem_format("error devices grpc://%s DEADLINE_EXCEEDED\n", scene->addresses[0]);
	assert_true(text_starts_with(text_of(&scene->told), expected));
	assert_null(strstr(text_of(&scene->told), "ran"));
}

SCENE_TEST(tensorflow_is_not_loaded_for_servers_that_nobody_reaches)
{
	char *servers CLEANUP(mem_free_text) =
		mem_format("%s,%s", "127.0.0.1:1", "grpc://127.0.0.1:2");

	assert_int_equal(probe(scene, servers), ERR_UNREACHABLE);
	assert_string_equal(text_of(&scene->told),
			    "error devices grpc://127.0.0.1:1 UNAVAILABLE\n"
			    "error devices grpc://127.0.0.1:2 UNAVAILABLE\n");
	assert_false(scene->was_loaded);
}
