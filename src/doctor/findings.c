/* Makes the rows of the report from facts, in order. */
#include "doctor/doctor.h"

#include "base/mem.h"
#include "base/names.h"
#include "base/text.h"
#include "spec/environment.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

const char *const doctor_state_words[3] = {"ok", "warning", "missing"};

#define FOUND_SIZE 1024

/* Adds a row; `fix` is copied, without "sudo" for the superuser, unless the state is DOCTOR_OK. */
PRINTF_LIKE(5, 6)
static void finding_add(struct doctor_report *report, const char *name, enum doctor_state state,
			const char *fix, const char *format, ...)
{
	static const char sudo[] = "sudo ";
	char *copy = state == DOCTOR_OK ? NULL : arena_copy_text(report->arena, fix);
	char found[FOUND_SIZE];
	va_list values;

	/* The command as this user would write it. */
	for (char *word; copy && report->facts->is_superuser && (word = strstr(copy, sudo));)
		memmove(word, word + strlen(sudo), strlen(word + strlen(sudo)) + 1);

	va_start(values, format);
	vsnprintf(found, sizeof(found), format, values);
	va_end(values);
	assert(report->n_rows < DOCTOR_ROWS_LIMIT);
	report->rows[report->n_rows++] = (struct doctor_row){
		.name = name,
		.state = state,
		.found = arena_copy_text(report->arena, found),
		.fix = copy,
	};
}

/* Python, the frameworks in it, TensorFlow's C library and the packages that it needs. */

/* From this version on tf.keras is Keras 3, which supports none of the multi-process strategies. */
#define MINOR_OF_KERAS_3 16

/* Of "2.21.0": 21; -1 when it cannot be read. */
static int minor_of(const char *version)
{
	const char *dot = version ? strchr(version, '.') : NULL;

	return dot && isdigit((unsigned char) dot[1]) ? (int) strtol(dot + 1, NULL, 10) : -1;
}

static const char *pip_install(const struct doctor_report *report, const char *packages)
{
	const struct doctor_python *python = &report->facts->python;

	if (!python->interpreter || python->is_managed)
		return arena_format(report->arena,
				    "python3 -m venv ~/.venv && . ~/.venv/bin/activate && "
				    "pip install %s",
				    packages);
	struct text interpreter CLEANUP(text_done) = {0};

	shell_word_add(&interpreter, python->interpreter);
	return arena_format(report->arena, "%s -m pip install %s", text_of(&interpreter), packages);
}

static const char *pip_install_tensorflow(const struct doctor_report *report)
{
	return pip_install(report,
			   report->facts->gpu.driver ? "'tensorflow[and-cuda]'" : "tensorflow-cpu");
}

static void evaluate_python(struct doctor_report *report)
{
	const struct doctor_python *python = &report->facts->python;
	const char *version = python->version ? python->version : "version unknown";

	if (!python->interpreter)
		finding_add(report, "python", DOCTOR_MISSING,
			    "sudo apt-get install python3 python3-venv", "%s",
			    python->fault ? python->fault : "python3 not found in PATH");
	else if (python->virtual_env && !python->is_virtual_env)
		finding_add(report, "python", DOCTOR_WARNING, "unset VIRTUAL_ENV",
			    "%s, %s; VIRTUAL_ENV is %s, which has no Python", version,
			    python->interpreter, python->virtual_env);
	else
		finding_add(report, "python", DOCTOR_OK, NULL, "%s, %s%s", version,
			    python->interpreter,
			    python->is_virtual_env ? " (virtual environment)" : "");
}

static void evaluate_tensorflow(struct doctor_report *report)
{
	const struct doctor_tensorflow *tensorflow = &report->facts->tensorflow;

	finding_add(report, "tensorflow", DOCTOR_OK, NULL, "%s, %s in %s",
		    tensorflow->version ? tensorflow->version : "version unknown",
		    tensorflow->package ? tensorflow->package : "tensorflow", tensorflow->folder);
}

/* Only `muster server` and `muster check` need it: Python has its own copy. */
static void evaluate_library(struct doctor_report *report)
{
	const struct doctor_library *library = &report->facts->library;

	if (library->path)
		finding_add(report, "libtensorflow", DOCTOR_OK, NULL, "%s, %s (%s)",
			    library->version ? library->version : "version unknown", library->path,
			    library->origin);
	else
		finding_add(report, "libtensorflow", DOCTOR_WARNING, pip_install_tensorflow(report),
			    "muster server and muster check cannot run: %s", library->fault);
}

static void evaluate_tf_keras(struct doctor_report *report)
{
	const struct doctor_tensorflow *tensorflow = &report->facts->tensorflow;
	int minor = minor_of(tensorflow->version);
	char package[64] = "tf-keras";

	if (minor >= 0 && minor < MINOR_OF_KERAS_3) {
		finding_add(report, "tf-keras", DOCTOR_OK, NULL,
			    "not needed: TensorFlow %s has Keras 2", tensorflow->version);
		return;
	}
	if (minor >= 0)
		snprintf(package, sizeof(package), "'tf-keras==2.%d.*'", minor);
	if (!tensorflow->tf_keras)
		finding_add(report, "tf-keras", DOCTOR_WARNING, pip_install(report, package),
			    "not installed; Keras models need it to train on several processes "
			    "(TF_USE_LEGACY_KERAS=1)");
	else if (minor >= 0 && minor_of(tensorflow->tf_keras) != minor)
		finding_add(report, "tf-keras", DOCTOR_WARNING, pip_install(report, package),
			    "%s is not compatible with TensorFlow %s", tensorflow->tf_keras,
			    tensorflow->version);
	else
		finding_add(report, "tf-keras", DOCTOR_OK, NULL, "%s", tensorflow->tf_keras);
}

static void evaluate_software(struct doctor_report *report)
{
	const struct doctor_frameworks *others = &report->facts->frameworks;
	bool has_tensorflow = report->facts->tensorflow.folder;
	const char *scikit_learn = report->facts->tensorflow.scikit_learn;

	evaluate_python(report);
	if (others->torch)
		finding_add(report, "pytorch", DOCTOR_OK, NULL, "%s", others->torch);
	if (others->jax)
		finding_add(report, "jax", DOCTOR_OK, NULL, "%s", others->jax);
	if (!has_tensorflow) {
		if (report->facts->python.interpreter && !others->torch && !others->jax)
			finding_add(report, "framework", DOCTOR_MISSING,
				    arena_format(report->arena, "%s  # or torch, or jax",
						 pip_install_tensorflow(report)),
				    "no TensorFlow, PyTorch or JAX in this Python");
		return;
	}
	evaluate_tensorflow(report);
	evaluate_library(report);
	evaluate_tf_keras(report);
	finding_add(report, "scikit-learn", scikit_learn ? DOCTOR_OK : DOCTOR_WARNING,
		    pip_install(report, "scikit-learn"), "%s",
		    scikit_learn ? scikit_learn
				 : "not installed; the examples use its handwritten digits");
}

/* Ports, loopback, the machine's name. */

/* A few jobs of some replicas use up fewer ports than this. */
#define PORTS_ADVISED 100

static void evaluate_ports(struct doctor_report *report)
{
	const struct doctor_network *network = &report->facts->network;
	const char *fix = "sudo sysctl -w net.ipv4.ip_local_port_range='32768 60999'";

	if (network->port_fault)
		finding_add(report, "ports", DOCTOR_MISSING, fix, "%s", network->port_fault);
	else if (network->high_port - network->low_port + 1 < PORTS_ADVISED)
		finding_add(report, "ports", DOCTOR_WARNING, fix,
			    "only %d to %d are available; the kernel's ephemeral port range uses "
			    "the others",
			    network->low_port, network->high_port);
	else
		finding_add(report, "ports", DOCTOR_OK, NULL, "%d to %d", network->low_port,
			    network->high_port);
}

/* Jobs here use 127.0.0.1, but programs that look up their own host name fail. */
static void evaluate_host_name(struct doctor_report *report)
{
	const struct doctor_network *network = &report->facts->network;
	struct text fix CLEANUP(text_done) = {0};
	char *line CLEANUP(mem_free_text) = mem_format("127.0.1.1 %s", network->host_name);

	text_add(&fix, "echo ");
	shell_word_add(&fix, line);
	text_add(&fix, " | sudo tee -a /etc/hosts");
	finding_add(report, "host name", network->host_fault ? DOCTOR_WARNING : DOCTOR_OK,
		    text_of(&fix), "%s%s%s", network->host_name, network->host_fault ? ": " : "",
		    network->host_fault ? network->host_fault : "");
}

/* The resources and limits of this machine, compared with the needs of TensorFlow's processes. */

#define MEGABYTE ((int64_t) 1000 * 1000)
#define GIGABYTE (1000 * MEGABYTE)

/* One small worker of TensorFlow 2.21, measured on two CPUs: its memory and its threads. */
#define MEMORY_OF_WORKER (620 * MEGABYTE)
#define THREADS_OF_WORKER 110
/* It used 3.1 GB of address space while it trained; larger models and GPUs need many times that. */
#define ADDRESSES_OF_WORKER (8 * GIGABYTE)

#define WORKERS_TOLD 2 /* as many as a first job has */

#define FILES_NEEDED 64
#define FILES_ADVISED 1024 /* data pipelines keep a file open for each of their readers */

#define DISK_NEEDED (10 * MEGABYTE)
#define DISK_ADVISED GIGABYTE /* a log file grows to this size before it is rotated */

/* A Docker container has 64 MiB by default, too little for multi-process data loaders. */
#define SHARED_MEMORY_ADVISED (128 * MEGABYTE)

struct size_text {
	char bytes[32];
};

/* "5.2 GB", "620 MB". */
static struct size_text size_text_of(int64_t bytes)
{
	struct size_text text;

	if (bytes >= GIGABYTE)
		snprintf(text.bytes, sizeof(text.bytes), "%.1f GB",
			 (double) bytes / (double) GIGABYTE);
	else
		snprintf(text.bytes, sizeof(text.bytes), "%" PRId64 " MB", bytes / MEGABYTE);
	return text;
}

/* The smaller of two numbers, each of which may be unknown. */
static int64_t least_of(int64_t a, int64_t b)
{
	if (a < 0 || b < 0)
		return a < 0 ? b : a;
	return a < b ? a : b;
}

static bool is_below(int64_t limit, int64_t number)
{
	return limit >= 0 && limit < number;
}

static void evaluate_files(struct doctor_report *report)
{
	const struct doctor_limits *limits = &report->facts->limits;
	const char *fix = is_below(limits->most_files, FILES_ADVISED)
				  ? "ulimit -n 1024, as root or by /etc/security/limits.conf"
				  : "ulimit -n 1024";

	if (is_below(limits->most_files, FILES_NEEDED))
		finding_add(report, "open files", DOCTOR_MISSING, fix,
			    "at most %" PRId64 ", but a job needs %d", limits->most_files,
			    FILES_NEEDED);
	else if (limits->files < 0)
		finding_add(report, "open files", DOCTOR_OK, NULL, "no limit");
	else if (is_below(limits->files, FILES_ADVISED))
		finding_add(report, "open files", DOCTOR_WARNING, fix,
			    "at most %" PRId64 " per process; data readers may need more",
			    limits->files);
	else
		finding_add(report, "open files", DOCTOR_OK, NULL, "%" PRId64 " per process",
			    limits->files);
}

static void evaluate_processes(struct doctor_report *report)
{
	const struct doctor_limits *limits = &report->facts->limits;
	bool is_known = limits->processes >= 0 && limits->threads_in_use >= 0;
	int64_t unused = limits->processes - limits->threads_in_use;
	/* Threads that may still be started, by the limits of user and control group. */
	int64_t left = least_of(!is_known    ? DOCTOR_UNKNOWN
				: unused > 0 ? unused
					     : 0,
				limits->group_processes_left);
	int64_t n_workers = left / THREADS_OF_WORKER;
	bool is_group = left == limits->group_processes_left;
	const char *fix = is_group ? "raise pids.max of the control group (docker run "
				     "--pids-limit, systemd TasksMax=)"
				   : "ulimit -u unlimited, as root or by "
				     "/etc/security/limits.conf";

	if (limits->is_proc_missing)
		finding_add(report, "processes", DOCTOR_MISSING, "sudo mount -t proc proc /proc",
			    "/proc is not mounted; muster needs it to find its processes");
	else if (left < 0)
		finding_add(report, "processes", DOCTOR_OK, NULL, "no limit");
	else if (n_workers < 2)
		finding_add(report, "processes", n_workers < 1 ? DOCTOR_MISSING : DOCTOR_WARNING,
			    fix,
			    "room for %" PRId64 " more threads, but a TensorFlow worker has %d",
			    left, THREADS_OF_WORKER);
	else
		finding_add(report, "processes", DOCTOR_OK, NULL,
			    "%" PRId64 " more threads: room for %" PRId64 " workers with %d each",
			    left, n_workers, THREADS_OF_WORKER);
}

/* No fault to fix: without a control group, processes are left only if both processes of muster are
 * killed and a worker hides. */
static void evaluate_group(struct doctor_report *report)
{
	const struct doctor_limits *limits = &report->facts->limits;

	if (!limits->group_fault)
		finding_add(report, "control group", DOCTOR_OK, NULL,
			    "each job runs in its own control group, so all of its processes can "
			    "be stopped");
	else
		finding_add(report, "control group", DOCTOR_OK, NULL,
			    "jobs do not get their own control group (%s)%s", limits->group_fault,
			    limits->is_group_refused ? "; to get one: systemd-run --user --scope "
						       "-p Delegate=yes muster run …"
						     : "");
}

static void evaluate_memory(struct doctor_report *report)
{
	const struct doctor_limits *limits = &report->facts->limits;
	int64_t left = least_of(limits->memory_available, limits->group_memory_left);
	int64_t n_workers = left / MEMORY_OF_WORKER;
	bool is_group = left == limits->group_memory_left;
	const char *fix = is_group ? "raise the memory limit of the control group (docker run "
				     "--memory, systemd MemoryMax=)"
				   : "stop other programs, or use a larger machine";

	if (left < 0)
		finding_add(report, "memory", DOCTOR_WARNING, NULL, "unknown");
	else if (n_workers < 2)
		finding_add(report, "memory", n_workers < 1 ? DOCTOR_MISSING : DOCTOR_WARNING, fix,
			    "%s left, but a TensorFlow worker needs %s", size_text_of(left).bytes,
			    size_text_of(MEMORY_OF_WORKER).bytes);
	else
		finding_add(report, "memory", DOCTOR_OK, NULL,
			    "%s left: room for %" PRId64 " workers with %s each",
			    size_text_of(left).bytes, n_workers,
			    size_text_of(MEMORY_OF_WORKER).bytes);
}

static void evaluate_state_folder(struct doctor_report *report)
{
	const struct doctor_state_folder *folder = &report->facts->state_folder;
	const char *fix = "export MUSTER_STATE_DIR=/a/directory/with/space";

	if (folder->fault || folder->store_fault)
		finding_add(report, "state folder", DOCTOR_MISSING, fix, "%s",
			    folder->fault ? folder->fault : folder->store_fault);
	else if (folder->free_bytes < 0)
		finding_add(report, "state folder", DOCTOR_OK, NULL, "%s", folder->path);
	else if (folder->free_bytes < DISK_ADVISED)
		finding_add(report, "state folder",
			    folder->free_bytes < DISK_NEEDED ? DOCTOR_MISSING : DOCTOR_WARNING, fix,
			    "%s has %s left for jobs and their logs", folder->path,
			    size_text_of(folder->free_bytes).bytes);
	else
		finding_add(report, "state folder", DOCTOR_OK, NULL, "%s, %s free", folder->path,
			    size_text_of(folder->free_bytes).bytes);
}

static void evaluate_shared_memory(struct doctor_report *report)
{
	int64_t size = report->facts->shared_memory;
	const char *fix = "sudo mount -o remount,size=2g /dev/shm (docker run --shm-size=2g)";

	if (size < 0)
		finding_add(report, "/dev/shm", DOCTOR_WARNING,
			    "sudo mount -t tmpfs -o mode=1777 tmpfs /dev/shm",
			    "missing or not writable; multi-process data loaders need it");
	else if (size < SHARED_MEMORY_ADVISED)
		finding_add(report, "/dev/shm", DOCTOR_WARNING, fix,
			    "%s; multi-process data loaders need more", size_text_of(size).bytes);
	else
		finding_add(report, "/dev/shm", DOCTOR_OK, NULL, "%s", size_text_of(size).bytes);
}

/* "2 with NVIDIA driver 550.54: 0,1 NVIDIA A100-SXM4-40GB". */
static const char *describe_gpus(const struct doctor_report *report)
{
	const struct doctor_gpu *gpu = &report->facts->gpu;
	bool is_listed = gpu->dealt.count > 0;
	struct text text CLEANUP(text_done) = {0};

	text_addf(&text, "%zu", is_listed ? gpu->dealt.count : (size_t) gpu->n_nodes);
	if (gpu->driver)
		text_addf(&text, " with NVIDIA driver %s", gpu->driver);
	if (is_listed)
		text_add(&text, ": ");
	gpus_add_models(&gpu->dealt, &text);
	return arena_copy_text(report->arena, text_of(&text));
}

static void evaluate_driven_gpu(struct doctor_report *report)
{
	const struct doctor_gpu *gpu = &report->facts->gpu;
	const char *package = report->facts->tensorflow.package;

	if (gpu->dealt.fault)
		finding_add(report, "gpu", DOCTOR_WARNING, "nvidia-smi", "%s", gpu->dealt.fault);
	else if (gpu->n_nodes == 0 && gpu->dealt.count == 0)
		finding_add(report, "gpu", DOCTOR_WARNING,
			    "sudo nvidia-modprobe -u -c=0 (docker run --gpus all)",
			    "NVIDIA driver %s, but no device in /dev", gpu->driver);
	else if (gpu->node_fault)
		finding_add(report, "gpu", DOCTOR_WARNING, "sudo usermod -aG video $USER",
			    "NVIDIA driver %s: %s", gpu->driver, gpu->node_fault);
	else if (package && strstr(package, "cpu"))
		finding_add(report, "gpu", DOCTOR_WARNING,
			    "pip uninstall -y tensorflow-cpu && pip install "
			    "'tensorflow[and-cuda]'",
			    "%s; %s does not use them", describe_gpus(report), package);
	else
		finding_add(report, "gpu", DOCTOR_OK, NULL, "%s", describe_gpus(report));
}

static void evaluate_gpu(struct doctor_report *report)
{
	const struct doctor_gpu *gpu = &report->facts->gpu;

	if (gpu->driver || gpu->dealt.fault || gpu->dealt.count > 0)
		evaluate_driven_gpu(report);
	else if (gpu->n_devices > 0)
		finding_add(report, "gpu", DOCTOR_WARNING,
			    "sudo apt-get install nvidia-driver (docker run --gpus all)",
			    "NVIDIA GPUs without a driver: %d", gpu->n_devices);
	else
		finding_add(report, "gpu", DOCTOR_OK, NULL, "none; jobs run on CPUs");
	if (gpu->dealt.count > 0)
		finding_add(report, "gpus in use", DOCTOR_OK, NULL, "%s",
			    *gpu->holders ? gpu->holders : "none by this user's jobs");
}

/* Limits, memory, disk, devices, clock. */
static void evaluate_machine(struct doctor_report *report)
{
	double cores = report->facts->limits.cores;
	bool is_clock_right = report->facts->is_clock_synchronized;
	int64_t most_addresses = report->facts->limits.address_space;

	/* A fraction of a core counts as one thread. */
	finding_add(report, "cores", DOCTOR_OK, NULL,
		    "%g usable; each of %d workers gets " THREADS_VARIABLE "=%d", cores,
		    WORKERS_TOLD, threads_of_replica(0, cores, WORKERS_TOLD));
	evaluate_files(report);
	evaluate_processes(report);
	evaluate_group(report);
	evaluate_memory(report);
	/* Only if there is a limit, which is rare. */
	if (is_below(most_addresses, ADDRESSES_OF_WORKER))
		finding_add(report, "address space", DOCTOR_WARNING, "ulimit -v unlimited",
			    "%s; TensorFlow reserves much more than it uses",
			    size_text_of(most_addresses).bytes);
	evaluate_state_folder(report);
	evaluate_shared_memory(report);
	evaluate_gpu(report);
	if (report->facts->is_clock_known)
		finding_add(
			report, "clock", is_clock_right ? DOCTOR_OK : DOCTOR_WARNING,
			"sudo timedatectl set-ntp true", "%s",
			is_clock_right
				? "synchronized"
				: "not synchronized; matters when several machines train together");
}

/* The cluster, which is optional. */

#define EDIT "${EDITOR:-vi} \"${KUBECONFIG:-$HOME/.kube/config}\""
#define CHOOSE "kubectl config get-contexts"

static const char *whose(const struct doctor_report *report)
{
	const struct doctor_kubernetes *kubernetes = &report->facts->kubernetes;

	if (!kubernetes->context)
		return "the service account of this Pod";
	return arena_format(report->arena, "context '%s'%s%s%s", kubernetes->context,
			    kubernetes->user ? " as '" : "",
			    kubernetes->user ? kubernetes->user : "", kubernetes->user ? "'" : "");
}

static void evaluate_kubernetes(struct doctor_report *report)
{
	const struct doctor_kubernetes *kubernetes = &report->facts->kubernetes;

	if (kubernetes->fault)
		finding_add(report, "kubernetes", DOCTOR_WARNING,
			    kubernetes->is_malformed ? EDIT : CHOOSE, "%s", kubernetes->fault);
	else if (!kubernetes->server)
		finding_add(report, "kubernetes", DOCTOR_OK, NULL,
			    "no kubeconfig; jobs can run on this machine only");
	else if (kubernetes->skips_verify)
		finding_add(report, "kubernetes", DOCTOR_WARNING, EDIT,
			    "%s, %s, whose certificate is not verified (insecure-skip-tls-verify)",
			    kubernetes->server, whose(report));
	else
		finding_add(report, "kubernetes", DOCTOR_OK, NULL, "%s, %s, namespace '%s'",
			    kubernetes->server, whose(report), kubernetes->namespace_name);
}

void doctor_evaluate(const struct doctor_facts *facts, struct arena *arena,
		     struct doctor_report *ret_report)
{
	const char *loopback_fault = facts->network.loopback_fault;
	const char *private_fault = facts->network.private_fault;

	*ret_report = (struct doctor_report){.facts = facts, .arena = arena};
	evaluate_software(ret_report);
	finding_add(ret_report, "loopback", loopback_fault ? DOCTOR_MISSING : DOCTOR_OK,
		    "sudo ip link set lo up", "%s",
		    loopback_fault ? loopback_fault : "127.0.0.1 answers");
	evaluate_ports(ret_report);
	evaluate_host_name(ret_report);
	/* Few users need one, so it is no fault if there is none. */
	finding_add(ret_report, "private net", DOCTOR_OK, NULL, "%s%s",
		    private_fault ? "none: " : "",
		    private_fault ? private_fault : "available: muster run --private-network");
	evaluate_machine(ret_report);
	evaluate_kubernetes(ret_report);
}

size_t doctor_count(const struct doctor_report *report, enum doctor_state state)
{
	size_t count = 0;

	for (size_t i = 0; i < report->n_rows; i++)
		count += report->rows[i].state == state;
	return count;
}

struct json *doctor_report_json(const struct doctor_report *report)
{
	struct json *object = json_new_object();
	struct json *rows = json_new_array();

	for (size_t i = 0; i < report->n_rows; i++) {
		const struct doctor_row *row = &report->rows[i];

		/* "mend" is the former name of "fix". */
		json_append(rows,
			    json_new_texts("name", row->name, "state",
					   doctor_state_words[row->state], "found", row->found,
					   "fix", row->fix, "mend", row->fix, NULL));
	}
	json_set_bool(object, "ready", doctor_count(report, DOCTOR_MISSING) == 0);
	json_set(object, "rows", rows);
	return object;
}
