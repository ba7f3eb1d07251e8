/* What faulthandler wrote of a job's processes, and how it is shown. */
#include "unit.h"

#include "status/stacks.h"

#define WAITS                                                                                      \
	"Current thread 0x00007f0c (most recent call first):\n"                                    \
	"  File \"/v/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py\", "       \
	"line 3672 in barrier\n"                                                                   \
	"  File \"/srv/train.py\", line 12 in main\n"                                              \
	"  File \"/srv/train.py\", line 20 in <module>\n"

#define LOADS                                                                                      \
	"Thread 0x00007f0d [loader] (most recent call first):\n"                                   \
	"  File \"/usr/lib/python3.11/threading.py\", line 327 in wait\n"                          \
	"\n"                                                                                       \
	"Current thread 0x00007f0c (most recent call first):\n"                                    \
	"  File \"/srv/data set.py\", line 4 in load\n"

struct scene {
	struct arena *arena;
	struct stacks stacks;
	struct text text;
};

static void set_up(struct scene *scene)
{
	scene->arena = arena_new();
}

static void tear_down(struct scene *scene)
{
	stacks_done(&scene->stacks);
	arena_free(scene->arena);
	text_done(&scene->text);
}

FIXTURE(struct scene, set_up, tear_down)

static void add(struct scene *scene, int index, const char *text)
{
	stacks_read(&scene->stacks, text, "worker", index, scene->arena);
}

static void four_workers(struct scene *scene)
{
	add(scene, 0, "# process 10 python3 train.py\n" WAITS);
	add(scene, 1, "# process 11 python3 train.py\n" WAITS);
	add(scene, 2, "# process 12 python3 train.py\n" LOADS);
	add(scene, 3,
	    "# process 13 python3 train.py\n" WAITS "# process 14 sleep 5\n# it sleeps\n");
}

#define SCENE_TEST(name) TEST_IN(fixture_begin, fixture_end, struct scene *scene, name)

SCENE_TEST(stacks_that_are_alike_are_shown_once)
{
	four_workers(scene);
	stacks_describe(&scene->stacks, false, &scene->text);
	assert_string_equal(
		text_of(&scene->text),
		"worker-0, worker-1, worker-3\n"
		"  File \"/v/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py\", "
		"line 3672 in barrier\n"
		"  File \"/srv/train.py\", line 12 in main\n"
		"  File \"/srv/train.py\", line 20 in <module>\n"
		"\n"
		"worker-2 (process 12 python3 train.py)\n"
		"  File \"/srv/data set.py\", line 4 in load\n"
		"\n"
		"worker-3 (process 14 sleep 5): it sleeps\n");
}

SCENE_TEST(other_threads_are_shown_when_asked_for)
{
	add(scene, 0, "# process 12 python3 train.py\n" LOADS);
	stacks_describe(&scene->stacks, true, &scene->text);
	assert_string_equal(text_of(&scene->text),
			    "worker-0, thread 0x00007f0d [loader] (process 12 python3 train.py)\n"
			    "  File \"/usr/lib/python3.11/threading.py\", line 327 in wait\n"
			    "\n"
			    "worker-0 (process 12 python3 train.py)\n"
			    "  File \"/srv/data set.py\", line 4 in load\n");
}

SCENE_TEST(several_processes_of_a_replica_are_counted)
{
	add(scene, 0, "# process 1 python3\n" WAITS "# process 2 python3\n" WAITS);
	add(scene, 1, "# process 3 python3\n" WAITS);
	stacks_describe(&scene->stacks, false, &scene->text);
	assert_true(text_starts_with(text_of(&scene->text), "worker-0, worker-1, 3 processes\n"));
}

SCENE_TEST(a_line_says_where_each_is)
{
	size_t count;

	four_workers(scene);
	const char **lines = stacks_summarize(&scene->stacks, 8, scene->arena, &count);

	assert_int_equal(count, 2);
	assert_string_equal(lines[0], "worker-0, worker-1, worker-3: barrier "
				      "(distributed_c10d.py:3672), from train.py:12");
	assert_string_equal(lines[1], "worker-2: load (data set.py:4)");
	lines = stacks_summarize(&scene->stacks, 1, scene->arena, &count);
	assert_int_equal(count, 2);
	assert_string_equal(lines[1], "and 1 more");
}

SCENE_TEST(what_is_cut_off_is_read_as_far_as_it_goes)
{
	size_t count;

	add(scene, 0, "  File \"a\"\nCurrent thread 0x1 (most recent call first):\n  File \"a");
	add(scene, 1, "Current thread 0x1 (most recent call first):\n  <no Python frame>\n");
	add(scene, 2, "Current thread 0x1");
	add(scene, 3, "");
	const char **lines = stacks_summarize(&scene->stacks, 8, scene->arena, &count);

	assert_int_equal(count, 3);
	assert_string_equal(lines[0], "worker-0: File \"a");
	assert_string_equal(lines[1], "worker-1: <no Python frame>");
	assert_string_equal(lines[2], "worker-2: no Python frame");
}

SCENE_TEST(names_of_files_do_nothing_on_a_terminal)
{
	add(scene, 0,
	    "# process 1 \x1b[2J\nCurrent thread 0x1 (most recent call first):\n"
	    "  File \"\x1b[2J.py\", line 1 in f\n");
	stacks_describe(&scene->stacks, true, &scene->text);
	assert_null(strchr(text_of(&scene->text), '\x1b'));
}

SCENE_TEST(a_file_is_written_as_it_is_read)
{
	struct text file CLEANUP(text_done) = {0};

	stacks_add_process(&file, 7, "sh -c 'a\nb'");
	stacks_add_obstacle(&file, "it is stopped (SIGSTOP)");
	add(scene, 0, text_of(&file));
	stacks_describe(&scene->stacks, false, &scene->text);
	assert_string_equal(text_of(&scene->text),
			    "worker-0 (process 7 sh -c 'a b'): it is stopped (SIGSTOP)\n");
}

/* py-spy 0.4.3, but for what nobody reads. */
#define SPIED                                                                                      \
	"[\n"                                                                                      \
	"  {\n"                                                                                    \
	"    \"pid\": 12, \"os_thread_id\": 14, \"thread_name\": \"load\\u001ber\",\n"             \
	"    \"frames\": [{\"name\": \"wait\", \"filename\": \"/usr/lib/threading.py\", "          \
	"\"line\": 327}]\n"                                                                        \
	"  },\n"                                                                                   \
	"  {\n"                                                                                    \
	"    \"pid\": 12, \"os_thread_id\": 12, \"thread_name\": \"MainThread\",\n"                \
	"    \"frames\": [{\"name\": \"load\", \"filename\": \"/srv/data set.py\", \"line\": "     \
	"4},\n"                                                                                    \
	"               {\"name\": \"<module>\", \"filename\": \"/srv/train.py\", \"line\": 9}]\n" \
	"  }\n"                                                                                    \
	"]\n"

static void add_spied(struct scene *scene, int index, const char *output)
{
	struct text file CLEANUP(text_done) = {0};

	spied_stacks_add(&file, output);
	add(scene, index, text_of(&file));
}

SCENE_TEST(what_py_spy_prints_is_shown_alike)
{
	add_spied(scene, 0, "# process 12 python3 train.py\n" SPIED);
	stacks_describe(&scene->stacks, true, &scene->text);
	assert_string_equal(text_of(&scene->text),
			    "worker-0, thread 14 [load?er] (process 12 python3 train.py)\n"
			    "  File \"/usr/lib/threading.py\", line 327 in wait\n"
			    "\n"
			    "worker-0 (process 12 python3 train.py)\n"
			    "  File \"/srv/data set.py\", line 4 in load\n"
			    "  File \"/srv/train.py\", line 9 in <module>\n");
}

SCENE_TEST(the_main_thread_without_a_number_is_known_by_its_name)
{
	add_spied(scene, 0,
		  "# process 12 python3\n[{\"pid\": 12, \"os_thread_id\": null, "
		  "\"thread_name\": \"MainThread\", \"frames\": []}]\n");
	assert_int_equal(scene->stacks.count, 1);
	assert_null(scene->stacks.list[0].thread);
}

SCENE_TEST(what_py_spy_could_not_print_has_a_reason)
{
	add_spied(scene, 0, "# process 12 python3\n# Error: no such process\n");
	add_spied(scene, 1, "# process 12 python3\n[{\"pid\": 1");
	add_spied(scene, 2, "# process 12 python3\n{}\n# process 13 python3\n" SPIED);
	add_spied(scene, 3, "# no Python process in the container\n");
	stacks_describe(&scene->stacks, false, &scene->text);
	assert_string_equal(text_of(&scene->text),
			    "worker-0 (process 12 python3): Error: no such process\n"
			    "\n"
			    "worker-1, worker-2: the output of py-spy cannot be read\n"
			    "\n"
			    "worker-2 (process 13 python3)\n"
			    "  File \"/srv/data set.py\", line 4 in load\n"
			    "  File \"/srv/train.py\", line 9 in <module>\n"
			    "\n"
			    "worker-3: no Python process in the container\n");
}
