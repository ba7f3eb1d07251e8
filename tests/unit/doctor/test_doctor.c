/* Facts in, rows out: each test takes one thing away from a machine that has everything. */
#include "unit.h"

#include "base/text.h"
#include "doctor/doctor.h"

#define GIGABYTE ((int64_t) 1000000000)

struct visit {
	struct doctor_facts facts;
	struct doctor_report report;
	struct arena *arena;
};

static void begin(struct visit *visit)
{
	visit->arena = arena_new();
	visit->facts = (struct doctor_facts){
		.python = {.interpreter = "/venv/bin/python",
			   .version = "3.11",
			   .virtual_env = "/venv",
			   .is_virtual_env = true},
		.tensorflow = {.package = "tensorflow-cpu",
			       .version = "2.21.0",
			       .folder = "/venv/lib/python3.11/site-packages",
			       .tf_keras = "2.21.0",
			       .scikit_learn = "1.7.2"},
		.library = {.path = "/venv/libtensorflow_cc.so.2",
			    .version = "2.21.0",
			    .origin = "virtual environment"},
		.limits = {.files = 1024,
			   .most_files = 1048576,
			   .processes = DOCTOR_UNKNOWN,
			   .threads_in_use = 300,
			   .group_processes_left = DOCTOR_UNKNOWN,
			   .cores = 4,
			   .address_space = DOCTOR_UNKNOWN,
			   .memory_available = 16 * GIGABYTE,
			   .group_memory_left = DOCTOR_UNKNOWN},
		.state_folder = {.path = "/home/me/.local/state/muster",
				 .free_bytes = 100 * GIGABYTE},
		.network = {.low_port = 10000, .high_port = 32767, .host_name = "here"},
		.shared_memory = 8 * GIGABYTE,
		.is_clock_known = true,
		.is_clock_synchronized = true,
	};
}

static void end(struct visit *visit)
{
	arena_free(visit->arena);
}

FIXTURE(struct visit, begin, end)

static const struct doctor_row *find(const struct visit *visit, const char *name)
{
	for (size_t i = 0; i < visit->report.n_rows; i++)
		if (text_equals(visit->report.rows[i].name, name))
			return &visit->report.rows[i];
	return NULL;
}

/* The row of that name, which is in this state; what is not well has a way to fix it. */
static const struct doctor_row *judge(struct visit *visit, const char *name,
				      enum doctor_state state)
{
	doctor_evaluate(&visit->facts, visit->arena, &visit->report);
	const struct doctor_row *row = find(visit, name);

	assert_non_null(row);
	assert_string_equal(doctor_state_words[row->state], doctor_state_words[state]);
	assert_int_equal(row->fix != NULL, state != DOCTOR_OK);
	return row;
}

static void assert_contains(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in '%s'", part, text);
}

#define VISIT_TEST(name) TEST_IN(fixture_begin, fixture_end, struct visit *visit, name)

VISIT_TEST(a_machine_with_everything_is_well)
{
	doctor_evaluate(&visit->facts, visit->arena, &visit->report);
	for (size_t i = 0; i < visit->report.n_rows; i++)
		judge(visit, visit->report.rows[i].name, DOCTOR_OK);
	assert_int_equal(doctor_count(&visit->report, DOCTOR_OK), visit->report.n_rows);
	assert_string_equal(find(visit, "python")->found,
			    "3.11, /venv/bin/python (virtual environment)");
	assert_string_equal(find(visit, "libtensorflow")->found,
			    "2.21.0, /venv/libtensorflow_cc.so.2 (virtual environment)");
	assert_string_equal(find(visit, "memory")->found,
			    "16.0 GB left: room for 25 workers with 620 MB each");
	assert_string_equal(find(visit, "gpu")->found, "none; jobs run on CPUs");
}

VISIT_TEST(without_python_nothing_is_said_of_its_packages)
{
	visit->facts.python = (struct doctor_python){.fault = "python3 not found in PATH"};
	visit->facts.tensorflow = (struct doctor_tensorflow){0};
	assert_contains(judge(visit, "python", DOCTOR_MISSING)->fix, "apt-get install python3");
	assert_null(find(visit, "tensorflow"));
	assert_null(find(visit, "tf-keras"));
	assert_int_equal(doctor_count(&visit->report, DOCTOR_MISSING), 1);
}

VISIT_TEST(a_virtual_environment_without_python_is_told)
{
	visit->facts.python.is_virtual_env = false;
	visit->facts.python.interpreter = "/usr/bin/python3";
	assert_contains(judge(visit, "python", DOCTOR_WARNING)->found, "VIRTUAL_ENV is /venv");
}

VISIT_TEST(a_missing_framework_comes_with_the_command_for_this_python)
{
	visit->facts.tensorflow.folder = NULL;
	assert_string_equal(judge(visit, "framework", DOCTOR_MISSING)->fix,
			    "/venv/bin/python -m pip install tensorflow-cpu  # or torch, or jax");
	visit->facts.gpu = (struct doctor_gpu){.n_devices = 1, .driver = "550.54", .n_nodes = 1};
	assert_string_equal(
		judge(visit, "framework", DOCTOR_MISSING)->fix,
		"/venv/bin/python -m pip install 'tensorflow[and-cuda]'  # or torch, or jax");
	visit->facts.python.is_virtual_env = false;
	visit->facts.python.virtual_env = NULL;
	visit->facts.python.interpreter = "/usr/local/bin/python3";
	assert_contains(judge(visit, "framework", DOCTOR_MISSING)->fix,
			"/usr/local/bin/python3 -m pip install");
	visit->facts.python.is_managed = true;
	assert_contains(judge(visit, "framework", DOCTOR_MISSING)->fix, "python3 -m venv");
}

VISIT_TEST(a_command_has_the_paths_of_this_machine_in_quotes)
{
	visit->facts.tensorflow.folder = NULL;
	visit->facts.python.interpreter = "/my home/python";
	assert_contains(judge(visit, "framework", DOCTOR_MISSING)->fix,
			"'/my home/python' -m pip install");
}

VISIT_TEST(without_the_library_jobs_still_run)
{
	visit->facts.library = (struct doctor_library){.fault = "TensorFlow 2.11 has none"};
	assert_contains(judge(visit, "libtensorflow", DOCTOR_WARNING)->found,
			"TensorFlow 2.11 has none");
	assert_int_equal(doctor_count(&visit->report, DOCTOR_MISSING), 0);
}

VISIT_TEST(tf_keras_has_to_fit_tensorflow)
{
	visit->facts.tensorflow.tf_keras = "2.18.0";
	assert_string_equal(judge(visit, "tf-keras", DOCTOR_WARNING)->fix,
			    "/venv/bin/python -m pip install 'tf-keras==2.21.*'");
	visit->facts.tensorflow.tf_keras = NULL;
	judge(visit, "tf-keras", DOCTOR_WARNING);
	visit->facts.tensorflow.version = "2.15.1";
	judge(visit, "tf-keras", DOCTOR_OK);
	visit->facts.tensorflow.version = NULL;
	assert_string_equal(judge(visit, "tf-keras", DOCTOR_WARNING)->fix,
			    "/venv/bin/python -m pip install tf-keras");
}

VISIT_TEST(a_package_of_the_examples_is_a_hint)
{
	visit->facts.tensorflow.scikit_learn = NULL;
	judge(visit, "scikit-learn", DOCTOR_WARNING);
	assert_int_equal(doctor_count(&visit->report, DOCTOR_MISSING), 0);
}

VISIT_TEST(jobs_need_ports_and_a_loopback)
{
	visit->facts.network.port_fault = "no ports";
	visit->facts.network.loopback_fault = "127.0.0.1: Network is unreachable";
	judge(visit, "ports", DOCTOR_MISSING);
	assert_string_equal(judge(visit, "loopback", DOCTOR_MISSING)->fix,
			    "sudo ip link set lo up");
	visit->facts.network.port_fault = NULL;
	visit->facts.network.low_port = 32700;
	judge(visit, "ports", DOCTOR_WARNING);
}

VISIT_TEST(a_name_without_an_address_is_a_hint)
{
	visit->facts.network.host_fault = "no address";
	const struct doctor_row *row = judge(visit, "host name", DOCTOR_WARNING);

	assert_string_equal(row->found, "here: no address");
	assert_string_equal(row->fix, "echo '127.0.1.1 here' | sudo tee -a /etc/hosts");
	visit->facts.network.host_name = "a';touch b";
	assert_string_equal(judge(visit, "host name", DOCTOR_WARNING)->fix,
			    "echo '127.0.1.1 a'\\'';touch b' | sudo tee -a /etc/hosts");
}

VISIT_TEST(a_private_network_is_nothing_that_is_missed)
{
	assert_string_equal(judge(visit, "private net", DOCTOR_OK)->found,
			    "available: muster run --private-network");
	visit->facts.network.private_fault = "forbidden";
	assert_string_equal(judge(visit, "private net", DOCTOR_OK)->found, "none: forbidden");
}

VISIT_TEST(the_superuser_needs_no_sudo)
{
	visit->facts.is_superuser = true;
	visit->facts.network.host_fault = "no address";
	visit->facts.network.loopback_fault = "127.0.0.1: Network is unreachable";
	assert_string_equal(judge(visit, "host name", DOCTOR_WARNING)->fix,
			    "echo '127.0.1.1 here' | tee -a /etc/hosts");
	assert_string_equal(judge(visit, "loopback", DOCTOR_MISSING)->fix, "ip link set lo up");
}

VISIT_TEST(few_open_files_are_told_and_hardly_any_are_missing)
{
	visit->facts.limits.files = 256;
	assert_string_equal(judge(visit, "open files", DOCTOR_WARNING)->fix, "ulimit -n 1024");
	visit->facts.limits.most_files = 256;
	assert_contains(judge(visit, "open files", DOCTOR_WARNING)->fix, "as root");
	visit->facts.limits.most_files = visit->facts.limits.files = 32;
	judge(visit, "open files", DOCTOR_MISSING);
	visit->facts.limits.most_files = visit->facts.limits.files = DOCTOR_UNKNOWN;
	assert_string_equal(judge(visit, "open files", DOCTOR_OK)->found, "no limit");
}

VISIT_TEST(threads_are_counted_in_workers)
{
	struct doctor_limits *limits = &visit->facts.limits;

	limits->processes = 300 + 110 * 3 + 1;
	assert_contains(judge(visit, "processes", DOCTOR_OK)->found, "room for 3 workers");
	limits->group_processes_left = 219;
	assert_contains(judge(visit, "processes", DOCTOR_WARNING)->fix, "pids.max");
	limits->group_processes_left = DOCTOR_UNKNOWN;
	limits->processes = 300 + 109;
	assert_contains(judge(visit, "processes", DOCTOR_MISSING)->fix, "ulimit -u");
	limits->processes = 100; /* fewer than run already */
	judge(visit, "processes", DOCTOR_MISSING);
}

VISIT_TEST(a_job_without_a_group_is_well_and_its_reason_is_told)
{
	assert_contains(judge(visit, "control group", DOCTOR_OK)->found,
			"each job runs in its own");
	visit->facts.limits.group_fault = "control groups version 2 are not mounted";
	assert_null(strstr(judge(visit, "control group", DOCTOR_OK)->found, "systemd"));
	visit->facts.limits.group_fault = "cannot create one under /x: Permission denied";
	visit->facts.limits.is_group_refused = true;
	assert_contains(
		judge(visit, "control group", DOCTOR_OK)->found,
		"(cannot create one under /x: Permission denied); to get one: systemd-run --user");
}

VISIT_TEST(cores_are_told_with_what_they_make_for_workers)
{
	assert_string_equal(judge(visit, "cores", DOCTOR_OK)->found,
			    "4 usable; each of 2 workers gets OMP_NUM_THREADS=2");
	visit->facts.limits.cores = 1.5;
	assert_string_equal(judge(visit, "cores", DOCTOR_OK)->found,
			    "1.5 usable; each of 2 workers gets OMP_NUM_THREADS=1");
}

VISIT_TEST(memory_is_counted_in_workers_and_the_tighter_limit_counts)
{
	struct doctor_limits *limits = &visit->facts.limits;

	limits->group_memory_left = 2 * 620 * 1000000LL;
	assert_string_equal(judge(visit, "memory", DOCTOR_OK)->found,
			    "1.2 GB left: room for 2 workers with 620 MB each");
	limits->group_memory_left -= 1;
	assert_contains(judge(visit, "memory", DOCTOR_WARNING)->fix, "control group");
	limits->memory_available = 600 * 1000000LL;
	assert_contains(judge(visit, "memory", DOCTOR_MISSING)->fix, "stop other programs");
	limits->memory_available = DOCTOR_UNKNOWN;
	limits->group_memory_left = 0;
	judge(visit, "memory", DOCTOR_MISSING);
}

VISIT_TEST(a_limit_on_addresses_is_told_only_where_there_is_one)
{
	doctor_evaluate(&visit->facts, visit->arena, &visit->report);
	assert_null(find(visit, "address space"));
	visit->facts.limits.address_space = 4 * GIGABYTE;
	assert_string_equal(judge(visit, "address space", DOCTOR_WARNING)->fix,
			    "ulimit -v unlimited");
}

TEST_WITH(fixture_begin, fixture_end, jobs_need_a_place_to_be_remembered)
{
	struct visit *visit = *state;

	visit->facts.state_folder.free_bytes = 500000000;
	judge(visit, "state folder", DOCTOR_WARNING);
	visit->facts.state_folder.free_bytes = 5000000;
	judge(visit, "state folder", DOCTOR_MISSING);
	visit->facts.state_folder.fault = "/x: Read-only file system";
	assert_string_equal(judge(visit, "state folder", DOCTOR_MISSING)->found,
			    "/x: Read-only file system");
}

VISIT_TEST(shared_memory_of_a_container_is_little)
{
	visit->facts.shared_memory = 64 << 20;
	assert_contains(judge(visit, "/dev/shm", DOCTOR_WARNING)->fix, "size=2g");
	visit->facts.shared_memory = DOCTOR_UNKNOWN;
	assert_contains(judge(visit, "/dev/shm", DOCTOR_WARNING)->fix, "mount -t tmpfs");
}

VISIT_TEST(a_gpu_needs_driver_device_rights_and_a_fitting_package)
{
	struct doctor_gpu *gpu = &visit->facts.gpu;

	gpu->n_devices = 2;
	assert_contains(judge(visit, "gpu", DOCTOR_WARNING)->found, "without a driver");
	gpu->driver = "550.54";
	assert_contains(judge(visit, "gpu", DOCTOR_WARNING)->fix, "nvidia-modprobe");
	gpu->n_nodes = 2;
	assert_contains(judge(visit, "gpu", DOCTOR_WARNING)->found, "tensorflow-cpu does not use");
	gpu->dealt.fault = "it does not respond";
	assert_string_equal(judge(visit, "gpu", DOCTOR_WARNING)->found, "it does not respond");
	gpu->dealt.fault = NULL;
	visit->facts.tensorflow.package = "tensorflow";
	assert_string_equal(judge(visit, "gpu", DOCTOR_OK)->found, "2 with NVIDIA driver 550.54");
	gpu->node_fault = "/dev/nvidia0: Permission denied";
	assert_contains(judge(visit, "gpu", DOCTOR_WARNING)->fix, "usermod");
}

VISIT_TEST(gpus_are_told_with_their_models_and_who_holds_them)
{
	struct doctor_gpu *gpu = &visit->facts.gpu;

	gpus_read("Driver Version: 550.54\nGPU 0: A100 (UUID: GPU-a)\nGPU 1: A100 (UUID: GPU-b)\n"
		  "GPU 2: T4 (UUID: GPU-c)\n",
		  visit->arena, &gpu->dealt);
	gpu->driver = gpu->dealt.driver;
	gpu->holders = "";
	visit->facts.tensorflow.package = "tensorflow";
	assert_string_equal(judge(visit, "gpu", DOCTOR_OK)->found,
			    "3 with NVIDIA driver 550.54: 0,1 A100; 2 T4");
	assert_string_equal(judge(visit, "gpus in use", DOCTOR_OK)->found,
			    "none by this user's jobs");
	gpu->holders = "job 'x' holds 0,1";
	assert_string_equal(judge(visit, "gpus in use", DOCTOR_OK)->found, "job 'x' holds 0,1");
}

VISIT_TEST(a_clock_is_judged_only_where_it_is_known)
{
	visit->facts.is_clock_synchronized = false;
	judge(visit, "clock", DOCTOR_WARNING);
	visit->facts.is_clock_known = false;
	doctor_evaluate(&visit->facts, visit->arena, &visit->report);
	assert_null(find(visit, "clock"));
}

VISIT_TEST(a_cluster_is_never_missing)
{
	struct doctor_kubernetes *kubernetes = &visit->facts.kubernetes;

	assert_contains(judge(visit, "kubernetes", DOCTOR_OK)->found, "no kubeconfig");
	*kubernetes = (struct doctor_kubernetes){.context = "dev",
						 .server = "https://10.0.0.1",
						 .user = "ada",
						 .namespace_name = "work"};
	assert_string_equal(judge(visit, "kubernetes", DOCTOR_OK)->found,
			    "https://10.0.0.1, context 'dev' as 'ada', namespace 'work'");
	kubernetes->context = kubernetes->user = NULL;
	assert_contains(judge(visit, "kubernetes", DOCTOR_OK)->found, "service account");
	kubernetes->skips_verify = true;
	assert_contains(judge(visit, "kubernetes", DOCTOR_WARNING)->found, "not verified");
	kubernetes->fault = "user 'ada': the token ended";
	assert_contains(judge(visit, "kubernetes", DOCTOR_WARNING)->fix, "get-contexts");
	kubernetes->is_malformed = true;
	assert_contains(judge(visit, "kubernetes", DOCTOR_WARNING)->fix, "KUBECONFIG");
}

VISIT_TEST(the_report_as_json_has_every_row)
{
	visit->facts.network.loopback_fault = "127.0.0.1: Network is unreachable";
	judge(visit, "loopback", DOCTOR_MISSING);
	struct json *object CLEANUP(json_cleanup) = doctor_report_json(&visit->report);
	const struct json *rows = json_get(object, "rows");

	assert_false(json_as_bool(json_get(object, "ready"), true));
	assert_int_equal(json_count(rows), visit->report.n_rows);
	assert_string_equal(json_as_string(json_get(json_at(rows, 0), "name"), ""), "python");
	assert_null(json_get(json_at(rows, 0), "fix"));
}

VISIT_TEST(a_python_for_another_framework_lacks_nothing)
{
	visit->facts.tensorflow = (struct doctor_tensorflow){0};
	visit->facts.frameworks = (struct doctor_frameworks){.torch = "2.15.0", .jax = "0.10.1"};
	assert_string_equal(judge(visit, "pytorch", DOCTOR_OK)->found, "2.15.0");
	assert_string_equal(judge(visit, "jax", DOCTOR_OK)->found, "0.10.1");
	assert_int_equal(doctor_count(&visit->report, DOCTOR_MISSING), 0);
	assert_null(find(visit, "tensorflow"));
	assert_null(find(visit, "libtensorflow"));
}
