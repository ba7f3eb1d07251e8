/* Control groups and the topology of CPUs as files of a folder of our own. */
#include "unit.h"

#include "base/mem.h"
#include "io/control_group.h"
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

static void put(const char *folder, const char *name, const char *text)
{
	char *place CLEANUP(mem_free_text) = mem_format("%s%s", root, folder);
	char *path CLEANUP(mem_free_text) = mem_format("%s/%s", place, name);

	assert_int_equal(folder_create(place, NULL), 0);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void assert_room(const char *groups, int64_t memory, int64_t processes)
{
	assert_int_equal(control_group_read_at(root, groups, CONTROL_GROUP_MEMORY), memory);
	assert_int_equal(control_group_read_at(root, groups, CONTROL_GROUP_PROCESSES), processes);
}

TEST_WITH(begin, end, without_files_there_is_no_limit)
{
	assert_room("", -1, -1);
	assert_room("0::/\n", -1, -1);
	assert_room("no such line\n:::\n", -1, -1);
}

TEST_WITH(begin, end, what_is_used_is_taken_from_the_limit_but_for_the_file_cache)
{
	put("/a", "memory.max", "1000\n");
	put("/a", "memory.current", "700\n");
	put("/a", "memory.stat", "anon 400\ninactive_file 150\nactive_file 5\n");
	put("/a", "pids.max", "100\n");
	put("/a", "pids.current", "30\n");
	assert_room("0::/a\n", 450, 70);
	put("/a", "pids.max", "max\n");
	assert_room("0::/a\n", 450, -1);
}

TEST_WITH(begin, end, the_tightest_of_all_groups_above_counts)
{
	put("/a", "memory.max", "500\n");
	put("/a", "memory.current", "100\n");
	put("/a/b", "memory.max", "max\n");
	put("/a/b", "memory.current", "90\n");
	put("/a/b/c", "memory.max", "900\n");
	put("/a/b/c", "memory.current", "80\n");
	assert_room("0::/a/b/c\n", 400, -1);
}

TEST_WITH(begin, end, a_group_that_is_full_leaves_nothing)
{
	put("/a", "pids.max", "10\n");
	put("/a", "pids.current", "12\n");
	assert_room("0::/a\n", -1, 0);
}

TEST_WITH(begin, end, version_1_has_a_hierarchy_for_each)
{
	put("/memory/a", "memory.limit_in_bytes", "1000\n");
	put("/memory/a", "memory.usage_in_bytes", "800\n");
	put("/memory/a", "memory.stat", "cache 1\ntotal_inactive_file 100\n");
	put("/memory", "memory.limit_in_bytes", "9223372036854771712\n");
	put("/memory", "memory.usage_in_bytes", "5\n");
	put("/pids/b", "pids.max", "20\n");
	put("/pids/b", "pids.current", "5\n");
	assert_room("9:cpu,memory:/a\n8:pids:/b\n1:name=systemd:/x\n", 300, 15);
}

/* Inside a container the path may be that of its host. */
TEST_WITH(begin, end, a_path_that_is_not_mounted_leads_to_what_is)
{
	put("/memory", "memory.limit_in_bytes", "1000\n");
	put("/memory", "memory.usage_in_bytes", "100\n");
	assert_room("9:memory:/docker/0123\n", 900, -1);
}

static int64_t processors_of(const char *groups)
{
	return control_group_read_at(root, groups, CONTROL_GROUP_PROCESSORS);
}

TEST_WITH(begin, end, processors_are_counted_in_thousandths)
{
	put("/a", "cpu.max", "max 100000\n");
	put("/a/b", "cpu.max", "150000 100000\n");
	put("/a/b/c", "cpu.max", "50000 10000\n");
	assert_int_equal(processors_of("0::/a\n"), -1);
	assert_int_equal(processors_of("0::/a/b\n"), 1500);
	assert_int_equal(processors_of("0::/a/b/c\n"), 1500);
	put("/a/b", "cpu.max", "no number\n");
	assert_int_equal(processors_of("0::/a/b\n"), -1);
}

TEST_WITH(begin, end, processors_have_a_hierarchy_in_version_1)
{
	put("/cpu/a", "cpu.cfs_quota_us", "50000\n");
	put("/cpu/a", "cpu.cfs_period_us", "100000\n");
	put("/cpu", "cpu.cfs_quota_us", "-1\n");
	put("/cpu", "cpu.cfs_period_us", "100000\n");
	assert_int_equal(processors_of("4:cpu,cpuacct:/a\n"), 500);
	assert_int_equal(processors_of("4:cpu,cpuacct:/b\n"), -1);
}

static void put_siblings(int cpu, const char *siblings)
{
	char *folder CLEANUP(mem_free_text) = mem_format("/cpu%d/topology", cpu);

	put(folder, "thread_siblings_list", siblings);
}

static int count_cores(size_t low, size_t high)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	for (size_t cpu = low; cpu <= high; cpu++)
		CPU_SET(cpu, &cpus);
	return cores_real_at(root, &cpus, CPU_SETSIZE);
}

TEST_WITH(begin, end, the_threads_of_a_core_count_as_one)
{
	put_siblings(0, "0,4\n");
	put_siblings(4, "0,4\n");
	put_siblings(1, "1-2\n");
	put_siblings(2, "1-2\n");
	put_siblings(3, "3\n");
	assert_int_equal(count_cores(0, 4), 3);
	assert_int_equal(count_cores(0, 0), 1);
	/* The first thread of the core may not be used. */
	assert_int_equal(count_cores(2, 4), 3);
}

TEST_WITH(begin, end, what_is_unknown_is_a_core)
{
	assert_int_equal(count_cores(10, 13), 4);
	put_siblings(10, "nonsense\n");
	put_siblings(11, "");
	put_siblings(12, "4000-4001\n");
	assert_int_equal(count_cores(10, 13), 4);
}

TEST(this_machine_has_cores)
{
	assert_true(cores_real() > 0);
	assert_true(cores_real() <= cores_usable());
}
