/* Judges what this machine has and allows, against what the processes of TensorFlow take. */
#include "doctor/findings.h"
#include "spec/threads.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MEGABYTE ((int64_t) 1000 * 1000)
#define GIGABYTE (1000 * MEGABYTE)

/* One small worker of TensorFlow 2.21, measured on two processors: its memory and its threads. */
#define MEMORY_OF_WORKER (620 * MEGABYTE)
#define THREADS_OF_WORKER 110
/* It used 3.1 GB of addresses while it trained; larger models and GPUs take many times that. */
#define ADDRESSES_OF_WORKER (8 * GIGABYTE)

#define WORKERS_TOLD 2 /* as many as a first job has */

#define FILES_NEEDED 64
#define FILES_ADVISED 1024 /* data pipelines keep a file open for each of their readers */

#define DISK_NEEDED (10 * MEGABYTE)
#define DISK_ADVISED GIGABYTE /* what one log file grows to before it is rotated */

/* A container of Docker has 64 MiB unless told otherwise, too little for loaders of data that run
 * in processes of their own. */
#define SHARED_MEMORY_ADVISED (128 * MEGABYTE)

struct size_text {
	char bytes[32];
};

/* "5.2 GB", "620 MB". */
static struct size_text size_of(int64_t bytes)
{
	struct size_text text;

	if (bytes >= GIGABYTE)
		snprintf(text.bytes, sizeof(text.bytes), "%.1f GB",
			 (double) bytes / (double) GIGABYTE);
	else
		snprintf(text.bytes, sizeof(text.bytes), "%" PRId64 " MB", bytes / MEGABYTE);
	return text;
}

/* The smaller of two where each may be unknown. */
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

static void judge_files(struct judgement *judgement)
{
	const struct doctor_limits *limits = &judgement->facts->limits;
	const char *fix = is_below(limits->most_files, FILES_ADVISED)
				  ? "ulimit -n 1024, as root or by /etc/security/limits.conf"
				  : "ulimit -n 1024";

	if (is_below(limits->most_files, FILES_NEEDED))
		judgement_add(judgement, "open files", DOCTOR_MISSING, fix,
			      "at most %" PRId64 ", but a job needs %d", limits->most_files,
			      FILES_NEEDED);
	else if (limits->files < 0)
		judgement_add(judgement, "open files", DOCTOR_OK, NULL, "no limit");
	else if (is_below(limits->files, FILES_ADVISED))
		judgement_add(judgement, "open files", DOCTOR_WARNING, fix,
			      "at most %" PRId64 " per process; data readers may need more",
			      limits->files);
	else
		judgement_add(judgement, "open files", DOCTOR_OK, NULL, "%" PRId64 " per process",
			      limits->files);
}

/* Threads that may still be started: by this user's limit, and by that of the control group. */
static int64_t threads_left(const struct doctor_limits *limits)
{
	int64_t left = DOCTOR_UNKNOWN;

	if (limits->processes >= 0 && limits->threads_in_use >= 0)
		left = limits->processes > limits->threads_in_use
			       ? limits->processes - limits->threads_in_use
			       : 0;
	return least_of(left, limits->group_processes_left);
}

static void judge_processes(struct judgement *judgement)
{
	const struct doctor_limits *limits = &judgement->facts->limits;
	int64_t left = threads_left(limits);
	int64_t n_workers = left / THREADS_OF_WORKER;
	bool is_group = left == limits->group_processes_left;
	const char *fix = is_group ? "raise pids.max of the control group (docker run "
				     "--pids-limit, systemd TasksMax=)"
				   : "ulimit -u unlimited, as root or by "
				     "/etc/security/limits.conf";

	if (limits->is_proc_missing)
		judgement_add(judgement, "processes", DOCTOR_MISSING,
			      "sudo mount -t proc proc /proc",
			      "/proc is not mounted; muster needs it to find its processes");
	else if (left < 0)
		judgement_add(judgement, "processes", DOCTOR_OK, NULL, "no limit");
	else if (n_workers < 2)
		judgement_add(judgement, "processes",
			      n_workers < 1 ? DOCTOR_MISSING : DOCTOR_WARNING, fix,
			      "room for %" PRId64 " more threads, but a TensorFlow worker has %d",
			      left, THREADS_OF_WORKER);
	else
		judgement_add(judgement, "processes", DOCTOR_OK, NULL,
			      "%" PRId64 " more threads: room for %" PRId64 " workers with %d each",
			      left, n_workers, THREADS_OF_WORKER);
}

/* Nothing that anybody has to fix: without one it takes a kill of both processes of muster, and a
 * worker that hides, for something to be left. */
static void judge_group(struct judgement *judgement)
{
	const struct doctor_limits *limits = &judgement->facts->limits;

	if (!limits->group_fault)
		judgement_add(judgement, "control group", DOCTOR_OK, NULL,
			      "each job runs in its own control group, so all of its processes can "
			      "be stopped");
	else
		judgement_add(judgement, "control group", DOCTOR_OK, NULL,
			      "jobs do not get their own control group (%s)%s", limits->group_fault,
			      limits->is_group_refused ? "; to get one: systemd-run --user --scope "
							 "-p Delegate=yes muster run …"
						       : "");
}

static void judge_memory(struct judgement *judgement)
{
	const struct doctor_limits *limits = &judgement->facts->limits;
	int64_t left = least_of(limits->memory_available, limits->group_memory_left);
	int64_t n_workers = left / MEMORY_OF_WORKER;
	bool is_group = left == limits->group_memory_left;
	const char *fix = is_group ? "raise the memory limit of the control group (docker run "
				     "--memory, systemd MemoryMax=)"
				   : "stop other programs, or use a larger machine";

	if (left < 0)
		judgement_add(judgement, "memory", DOCTOR_WARNING, NULL, "unknown");
	else if (n_workers < 2)
		judgement_add(judgement, "memory", n_workers < 1 ? DOCTOR_MISSING : DOCTOR_WARNING,
			      fix, "%s left, but a TensorFlow worker needs %s", size_of(left).bytes,
			      size_of(MEMORY_OF_WORKER).bytes);
	else
		judgement_add(judgement, "memory", DOCTOR_OK, NULL,
			      "%s left: room for %" PRId64 " workers with %s each",
			      size_of(left).bytes, n_workers, size_of(MEMORY_OF_WORKER).bytes);
}

/* Only where there is a limit at all: hardly anybody sets one. */
static void judge_address_space(struct judgement *judgement)
{
	int64_t most = judgement->facts->limits.address_space;

	if (is_below(most, ADDRESSES_OF_WORKER))
		judgement_add(judgement, "address space", DOCTOR_WARNING, "ulimit -v unlimited",
			      "%s; TensorFlow reserves much more than it uses",
			      size_of(most).bytes);
}

static void judge_state_folder(struct judgement *judgement)
{
	const struct doctor_state_folder *folder = &judgement->facts->state_folder;
	const char *fix = "export MUSTER_STATE_DIR=/a/directory/with/space";

	if (folder->fault)
		judgement_add(judgement, "state folder", DOCTOR_MISSING, fix, "%s", folder->fault);
	else if (folder->store_fault)
		judgement_add(judgement, "state folder", DOCTOR_MISSING, fix, "%s",
			      folder->store_fault);
	else if (folder->free_bytes < 0)
		judgement_add(judgement, "state folder", DOCTOR_OK, NULL, "%s", folder->path);
	else if (folder->free_bytes < DISK_ADVISED)
		judgement_add(judgement, "state folder",
			      folder->free_bytes < DISK_NEEDED ? DOCTOR_MISSING : DOCTOR_WARNING,
			      fix, "%s has %s left for jobs and their logs", folder->path,
			      size_of(folder->free_bytes).bytes);
	else
		judgement_add(judgement, "state folder", DOCTOR_OK, NULL, "%s, %s free",
			      folder->path, size_of(folder->free_bytes).bytes);
}

static void judge_shared_memory(struct judgement *judgement)
{
	int64_t size = judgement->facts->shared_memory;
	const char *fix = "sudo mount -o remount,size=2g /dev/shm (docker run --shm-size=2g)";

	if (size < 0)
		judgement_add(judgement, "/dev/shm", DOCTOR_WARNING,
			      "sudo mount -t tmpfs -o mode=1777 tmpfs /dev/shm",
			      "missing or not writable; multi-process data loaders need it");
	else if (size < SHARED_MEMORY_ADVISED)
		judgement_add(judgement, "/dev/shm", DOCTOR_WARNING, fix,
			      "%s; multi-process data loaders need more", size_of(size).bytes);
	else
		judgement_add(judgement, "/dev/shm", DOCTOR_OK, NULL, "%s", size_of(size).bytes);
}

/* "2 with NVIDIA driver 550.54: 0,1 NVIDIA A100-SXM4-40GB". */
static const char *describe_gpus(const struct judgement *judgement)
{
	const struct doctor_gpu *gpu = &judgement->facts->gpu;
	bool is_listed = gpu->dealt.count > 0;
	struct text text CLEANUP(text_done) = {0};

	text_addf(&text, "%zu", is_listed ? gpu->dealt.count : (size_t) gpu->n_nodes);
	if (gpu->driver)
		text_addf(&text, " with NVIDIA driver %s", gpu->driver);
	if (is_listed)
		text_add(&text, ": ");
	gpus_add_models(&gpu->dealt, &text);
	return arena_copy_text(judgement->arena, text_of(&text));
}

static void judge_driven_gpu(struct judgement *judgement)
{
	const struct doctor_gpu *gpu = &judgement->facts->gpu;
	const char *package = judgement->facts->tensorflow.package;

	if (gpu->dealt.fault)
		judgement_add(judgement, "gpu", DOCTOR_WARNING, "nvidia-smi", "%s",
			      gpu->dealt.fault);
	else if (gpu->n_nodes == 0 && gpu->dealt.count == 0)
		judgement_add(judgement, "gpu", DOCTOR_WARNING,
			      "sudo nvidia-modprobe -u -c=0 (docker run --gpus all)",
			      "NVIDIA driver %s, but no device in /dev", gpu->driver);
	else if (gpu->node_fault)
		judgement_add(judgement, "gpu", DOCTOR_WARNING, "sudo usermod -aG video $USER",
			      "NVIDIA driver %s: %s", gpu->driver, gpu->node_fault);
	else if (package && strstr(package, "cpu"))
		judgement_add(judgement, "gpu", DOCTOR_WARNING,
			      "pip uninstall -y tensorflow-cpu && pip install "
			      "'tensorflow[and-cuda]'",
			      "%s; %s does not use them", describe_gpus(judgement), package);
	else
		judgement_add(judgement, "gpu", DOCTOR_OK, NULL, "%s", describe_gpus(judgement));
}

static void judge_held_gpus(struct judgement *judgement)
{
	const struct doctor_gpu *gpu = &judgement->facts->gpu;

	if (gpu->dealt.count > 0)
		judgement_add(judgement, "gpus in use", DOCTOR_OK, NULL, "%s",
			      *gpu->holders ? gpu->holders : "none by this user's jobs");
}

static void judge_gpu(struct judgement *judgement)
{
	const struct doctor_gpu *gpu = &judgement->facts->gpu;

	if (gpu->driver || gpu->dealt.fault || gpu->dealt.count > 0)
		judge_driven_gpu(judgement);
	else if (gpu->n_devices > 0)
		judgement_add(judgement, "gpu", DOCTOR_WARNING,
			      "sudo apt-get install nvidia-driver (docker run --gpus all)",
			      "NVIDIA GPUs without a driver: %d", gpu->n_devices);
	else
		judgement_add(judgement, "gpu", DOCTOR_OK, NULL, "none; jobs run on CPUs");
}

static void judge_clock(struct judgement *judgement)
{
	if (!judgement->facts->is_clock_known)
		return;
	if (judgement->facts->is_clock_synchronised)
		judgement_add(judgement, "clock", DOCTOR_OK, NULL, "synchronized");
	else
		judgement_add(judgement, "clock", DOCTOR_WARNING, "sudo timedatectl set-ntp true",
			      "not synchronized; matters when several machines train together");
}

/* A part of a core counts as one thread. */
static void judge_cores(struct judgement *judgement)
{
	double cores = judgement->facts->limits.cores;

	judgement_add(judgement, "cores", DOCTOR_OK, NULL,
		      "%g usable; each of %d workers gets " THREADS_VARIABLE "=%d", cores,
		      WORKERS_TOLD, threads_of_replica(0, cores, WORKERS_TOLD));
}

void judge_machine(struct judgement *judgement)
{
	judge_cores(judgement);
	judge_files(judgement);
	judge_processes(judgement);
	judge_group(judgement);
	judge_memory(judgement);
	judge_address_space(judgement);
	judge_state_folder(judgement);
	judge_shared_memory(judgement);
	judge_gpu(judgement);
	judge_held_gpus(judgement);
	judge_clock(judgement);
}
