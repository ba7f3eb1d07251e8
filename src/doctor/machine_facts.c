/* Limits of this process and its control group, memory, the disk of the state directory, GPUs. */
#include "base/text.h"
#include "doctor/facts.h"
#include "io/control_group.h"
#include "io/file.h"
#include "io/folder.h"
#include "io/own_group.h"
#include "io/process.h"
#include "local/machine_gpus.h"
#include "store/store.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define PROBE_SIZE 4096

/* The text of a small file; "" when it cannot be read. Caller frees. */
static char *read_fact_file(const char *path)
{
	char *text = file_read_text(path);

	return text ? text : mem_copy_text("");
}

static int64_t limit_of(rlim_t value)
{
	return value == RLIM_INFINITY || value > INT64_MAX ? DOCTOR_UNKNOWN : (int64_t) value;
}

/* /proc/loadavg: "0.20 0.18 0.12 RUNNING/ALL LAST_PID". */
static int64_t count_threads(void)
{
	char *text CLEANUP(mem_free_text) = read_fact_file("/proc/loadavg");
	const char *slash = strchr(text, '/');

	return slash ? strtoll(slash + 1, NULL, 10) : DOCTOR_UNKNOWN;
}

static int64_t read_available_memory(void)
{
	static const char title[] = "MemAvailable:";
	char *text CLEANUP(mem_free_text) = read_fact_file("/proc/meminfo");
	const char *line = strstr(text, title);

	return line ? strtoll(line + strlen(title), NULL, 10) * 1024 : DOCTOR_UNKNOWN;
}

static void try_own_group(struct doctor_limits *limits, struct arena *arena)
{
	struct err err;
	int rc = own_group_try(&err);

	if (rc < 0)
		limits->group_fault = arena_copy_text(arena, err.text);
	limits->is_group_refused = rc == ERR_REFUSED;
}

void doctor_collect_limits(struct doctor_limits *limits, struct arena *arena)
{
	struct rlimit files = {0}, processes = {.rlim_cur = RLIM_INFINITY},
		      addresses = {.rlim_cur = RLIM_INFINITY};

	getrlimit(RLIMIT_NOFILE, &files);
	getrlimit(RLIMIT_NPROC, &processes);
	getrlimit(RLIMIT_AS, &addresses);
	*limits = (struct doctor_limits){
		.is_proc_missing = process_need_proc(NULL) < 0,
		.files = limit_of(files.rlim_cur),
		.most_files = limit_of(files.rlim_max),
		/* This limit does not apply to the superuser. */
		.processes = geteuid() ? limit_of(processes.rlim_cur) : DOCTOR_UNKNOWN,
		.threads_in_use = count_threads(),
		.group_processes_left = control_group_read(CONTROL_GROUP_PROCESSES),
		.cores = cores_real(),
		.address_space = limit_of(addresses.rlim_cur),
		.memory_available = read_available_memory(),
		.group_memory_left = control_group_read(CONTROL_GROUP_MEMORY),
	};
	try_own_group(limits, arena);
}

/* The directory itself, or the nearest existing parent, in which it would be created. */
static char *find_existing(const char *path)
{
	char *folder CLEANUP(mem_free_text) = mem_copy_text(path);

	while (access(folder, F_OK) < 0 && errno == ENOENT) {
		char *slash = strrchr(folder, '/');

		if (!slash)
			return mem_copy_text(".");
		if (slash == folder)
			return mem_copy_text("/");
		*slash = '\0';
	}
	return TAKE(folder);
}

/* A file that is deleted when it is closed; -1 (errno). Some file systems cannot create a file
 * without a name. */
static int open_nameless(const char *folder)
{
	char *path CLEANUP(mem_free_text) = mem_format("%s/.muster-XXXXXX", folder);
	int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
		return fd;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

/* 0 or errno. */
static int try_to_write(const char *folder)
{
	static const char zeros[PROBE_SIZE];
	int fd CLEANUP(file_close) = open_nameless(folder);

	return fd < 0 ? errno : file_write_all(fd, zeros, sizeof(zeros), NULL);
}

void doctor_collect_state_folder(struct doctor_state_folder *folder, const char *path,
				 struct arena *arena)
{
	char *existing CLEANUP(mem_free_text) = find_existing(path);
	int failure = try_to_write(existing);
	struct statvfs space;
	struct err err = {0};

	folder->path = arena_copy_text(arena, path);
	folder->free_bytes = statvfs(existing, &space) < 0
				     ? DOCTOR_UNKNOWN
				     : (int64_t) space.f_bavail * (int64_t) space.f_frsize;
	if (store_sqlite_check(path, &err) < 0)
		folder->store_fault = arena_copy_text(arena, err.text);
	if (failure)
		folder->fault =
			arena_format(arena, "%s is not writable: %s", existing, strerror(failure));
}

/* An NVIDIA (vendor 0x10de) display controller (PCI class 0x03). */
static bool is_gpu_of_nvidia(const char *device)
{
	char *vendor_path CLEANUP(mem_free_text) =
		mem_format("/sys/bus/pci/devices/%s/vendor", device);
	char *class_path CLEANUP(mem_free_text) =
		mem_format("/sys/bus/pci/devices/%s/class", device);
	char *vendor CLEANUP(mem_free_text) = read_fact_file(vendor_path);
	char *class CLEANUP(mem_free_text) = read_fact_file(class_path);

	return text_starts_with(vendor, "0x10de") && text_starts_with(class, "0x03");
}

static int count_devices(void)
{
	DIR *folder CLEANUP(folder_close) = opendir("/sys/bus/pci/devices");
	int count = 0;

	for (const struct dirent *entry; folder && (entry = readdir(folder));)
		count += is_gpu_of_nvidia(entry->d_name);
	return count;
}

/* /dev/nvidia0 and so on, without /dev/nvidiactl and similar. */
static void collect_nodes(struct doctor_gpu *gpu, struct arena *arena)
{
	static const char beginning[] = "nvidia";
	DIR *folder CLEANUP(folder_close) = opendir("/dev");

	for (const struct dirent *entry; folder && (entry = readdir(folder));) {
		const char *digits = entry->d_name + strlen(beginning);

		if (!text_starts_with(entry->d_name, beginning) ||
		    !isdigit((unsigned char) *digits))
			continue;
		char *path CLEANUP(mem_free_text) = mem_format("/dev/%s", entry->d_name);

		gpu->n_nodes++;
		if (access(path, R_OK | W_OK) < 0)
			gpu->node_fault = arena_format(arena, "%s: %s", path, strerror(errno));
	}
}

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22 …": the first word that
 * starts with a digit and has a dot. */
static const char *read_driver(struct arena *arena)
{
	char *text CLEANUP(mem_free_text) = read_fact_file("/proc/driver/nvidia/version");
	char *rest = text;

	text[strcspn(text, "\n")] = '\0';
	for (char *word; (word = strsep(&rest, " "));)
		if (isdigit((unsigned char) *word) && strchr(word, '.'))
			return arena_copy_text(arena, word);
	return *text ? "of an unknown version" : NULL;
}

/* A missing store is not created. */
static const char *find_holders(const struct gpus *gpus, const char *state_folder,
				struct arena *arena)
{
	struct text holders CLEANUP(text_done) = {0};
	struct store *store CLEANUP(store_cleanup) = NULL;
	gpu_set held;

	if (gpus->count == 0 || access(state_folder, F_OK) < 0 ||
	    store_sqlite_open(state_folder, &store, NULL) < 0)
		return "";
	int rc = machine_gpus_held(gpus, store->claims, NULL, &held, &holders, NULL);

	return rc < 0 ? "" : arena_copy_text(arena, text_of(&holders));
}

void doctor_collect_gpu(struct doctor_gpu *gpu, const char *state_folder, struct arena *arena)
{
	gpu->n_devices = count_devices();
	gpu->driver = read_driver(arena);
	collect_nodes(gpu, arena);
	machine_gpus_find(getenv(GPUS_VARIABLE), arena, &gpu->dealt);
	if (!gpu->driver)
		gpu->driver = gpu->dealt.driver;
	gpu->holders = find_holders(&gpu->dealt, state_folder, arena);
}
