/* The cores of a machine, by a topology in a folder of our own. */
#include "unit.h"

#include "base/mem.h"
#include "io/cores.h"
#include "own_folder.h"

static char root[OWN_FOLDER_SIZE];

static int begin(void **state)
{
	(void) state;
	own_folder_make(root);
	return 0;
}

static int end(void **state)
{
	(void) state;
	own_folder_remove(root);
	return 0;
}

static void put(int cpu, const char *siblings)
{
	char *place CLEANUP(mem_free_text) = mem_format("%s/cpu%d/topology", root, cpu);
	char *path CLEANUP(mem_free_text) = mem_format("%s/thread_siblings_list", place);

	assert_int_equal(folder_create(place, NULL), 0);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(siblings, file);
	fclose(file);
}

static int count(size_t low, size_t high)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	for (size_t cpu = low; cpu <= high; cpu++)
		CPU_SET(cpu, &cpus);
	return cores_real_at(root, &cpus, CPU_SETSIZE);
}

static void the_threads_of_a_core_count_as_one(void **state)
{
	(void) state;
	put(0, "0,4\n");
	put(4, "0,4\n");
	put(1, "1-2\n");
	put(2, "1-2\n");
	put(3, "3\n");
	assert_int_equal(count(0, 4), 3);
	assert_int_equal(count(0, 0), 1);
	/* The first thread of the core may not be used. */
	assert_int_equal(count(2, 4), 3);
}

static void what_is_unknown_is_a_core(void **state)
{
	(void) state;
	assert_int_equal(count(10, 13), 4);
	put(10, "nonsense\n");
	put(11, "");
	put(12, "4000-4001\n");
	assert_int_equal(count(10, 13), 4);
}

static void this_machine_has_cores(void **state)
{
	(void) state;
	assert_true(cores_real() > 0);
	assert_true(cores_real() <= cores_usable());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_threads_of_a_core_count_as_one, begin, end),
		cmocka_unit_test_setup_teardown(what_is_unknown_is_a_core, begin, end),
		cmocka_unit_test(this_machine_has_cores),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
