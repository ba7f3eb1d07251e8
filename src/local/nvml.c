#include "local/nvml.h"

#include "base/exit_code.h"
#include "io/child.h"
#include "io/file.h"
#include "io/loop.h"

#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define LIBRARY "libnvidia-ml.so.1"
#define PROGRAM "nvidia-smi"
#define ANSWER_LIMIT 65536
/* A driver that no process keeps initialized takes a few seconds for its first answer. */
#define TIME_LIMIT (15 * MSEC_PER_SECOND)
#define PROCESSES_LIMIT 64 /* of one GPU */

/* Signs of a driver: its module, its device, that of WSL, its program. */
bool nvml_is_likely(void)
{
	static const char *const signs[] = {"/proc/driver/nvidia", "/dev/nvidiactl", "/dev/dxg"};
	const struct child_start program = {.program = PROGRAM, .environment = environ};

	for (size_t i = 0; i < ARRAY_LEN(signs); i++)
		if (access(signs[i], F_OK) == 0)
			return true;
	return child_check_program(&program, NULL) == 0;
}

/* The other process: its output is the answer. */

/* nvmlUtilization_t, nvmlMemory_t and nvmlProcessInfo_t. */
struct nvml_utilization {
	unsigned gpu, memory; /* percent */
};
struct nvml_memory {
	unsigned long long total, free, used; /* bytes */
};
struct nvml_process {
	unsigned pid;
	unsigned long long memory; /* bytes; UINT64_MAX: unknown */
	unsigned gpu_instance, compute_instance;
};

/* The functions used of nvml.h; each returns 0 for success. */
struct nvml {
	int (*init)(void);
	int (*driver_version)(char *version, unsigned size);
	int (*count)(unsigned *count);
	int (*device)(unsigned index, void **device);
	int (*name)(void *device, char *name, unsigned size);
	int (*uuid)(void *device, char *uuid, unsigned size);
	int (*mig_count)(void *device, unsigned *count); /* NULL in old versions, as the next */
	int (*mig_device)(void *device, unsigned index, void **mig_device);
	/* What a GPU does; each may be NULL, or not supported by a device. */
	int (*utilization)(void *device, struct nvml_utilization *utilization);
	int (*memory)(void *device, struct nvml_memory *memory);
	int (*temperature)(void *device, int sensor, unsigned *degrees);
	int (*power)(void *device, unsigned *milliwatts);
	int (*processes)(void *device, unsigned *count, struct nvml_process *processes);
};

#define NVML_TEXT_SIZE 96

static bool open_nvml(struct nvml *nvml)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return false;
	*(void **) &nvml->init = dlsym(library, "nvmlInit_v2");
	*(void **) &nvml->driver_version = dlsym(library, "nvmlSystemGetDriverVersion");
	*(void **) &nvml->count = dlsym(library, "nvmlDeviceGetCount_v2");
	*(void **) &nvml->device = dlsym(library, "nvmlDeviceGetHandleByIndex_v2");
	*(void **) &nvml->name = dlsym(library, "nvmlDeviceGetName");
	*(void **) &nvml->uuid = dlsym(library, "nvmlDeviceGetUUID");
	*(void **) &nvml->mig_count = dlsym(library, "nvmlDeviceGetMaxMigDeviceCount");
	*(void **) &nvml->mig_device = dlsym(library, "nvmlDeviceGetMigDeviceHandleByIndex");
	*(void **) &nvml->utilization = dlsym(library, "nvmlDeviceGetUtilizationRates");
	*(void **) &nvml->memory = dlsym(library, "nvmlDeviceGetMemoryInfo");
	*(void **) &nvml->temperature = dlsym(library, "nvmlDeviceGetTemperature");
	*(void **) &nvml->power = dlsym(library, "nvmlDeviceGetPowerUsage");
	*(void **) &nvml->processes = dlsym(library, "nvmlDeviceGetComputeRunningProcesses_v3");
	return nvml->init && nvml->driver_version && nvml->count && nvml->device && nvml->name &&
	       nvml->uuid;
}

static void print_mig_devices(const struct nvml *nvml, void *device)
{
	char uuid[NVML_TEXT_SIZE];
	unsigned count = 0;
	void *mig_device;

	if (!nvml->mig_count || !nvml->mig_device || nvml->mig_count(device, &count))
		return;
	for (unsigned i = 0; i < count; i++)
		if (!nvml->mig_device(device, i, &mig_device) &&
		    !nvml->uuid(mig_device, uuid, sizeof(uuid)))
			printf("  MIG - Device %u: (UUID: %s)\n", i, uuid);
}

/* "LOAD 0: BUSY USED TOTAL DEGREES MILLIWATTS", then "PROCESS PID BYTES" for each; -1: unknown. */
static void print_load(const struct nvml *nvml, void *device, unsigned number)
{
	struct nvml_process processes[PROCESSES_LIMIT];
	unsigned count = PROCESSES_LIMIT, degrees = 0, milliwatts = 0;
	struct nvml_utilization utilization;
	struct nvml_memory memory;
	bool has_memory = nvml->memory && !nvml->memory(device, &memory);

	printf("LOAD %u: %d %lld %lld %d %d\n", number,
	       nvml->utilization && !nvml->utilization(device, &utilization) ? (int) utilization.gpu
									     : -1,
	       has_memory ? (long long) memory.used : -1,
	       has_memory ? (long long) memory.total : -1,
	       nvml->temperature && !nvml->temperature(device, 0, &degrees) ? (int) degrees : -1,
	       nvml->power && !nvml->power(device, &milliwatts) ? (int) milliwatts : -1);
	if (!nvml->processes || nvml->processes(device, &count, processes))
		return;
	for (unsigned i = 0; i < count; i++)
		printf("PROCESS %u %lld\n", processes[i].pid, (long long) processes[i].memory);
}

static bool print_by_nvml(bool are_loads)
{
	char version[NVML_TEXT_SIZE], name[NVML_TEXT_SIZE], uuid[NVML_TEXT_SIZE];
	struct nvml nvml;
	unsigned count = 0;
	void *device;

	if (!open_nvml(&nvml) || nvml.init() || nvml.count(&count))
		return false;
	if (!nvml.driver_version(version, sizeof(version)))
		printf("Driver Version: %s\n", version);
	for (unsigned i = 0; i < count; i++) {
		if (nvml.device(i, &device) || nvml.uuid(device, uuid, sizeof(uuid)))
			continue; /* it has fallen off the bus */
		if (are_loads) {
			print_load(&nvml, device, i);
			continue;
		}
		if (nvml.name(device, name, sizeof(name)))
			name[0] = '\0';
		printf("GPU %u: %s (UUID: %s)\n", i, name, uuid);
		print_mig_devices(&nvml, device);
	}
	return true;
}

static void set_streams(int output_fd)
{
	int nothing = open("/dev/null", O_RDWR);

	dup2(nothing, STDIN_FILENO);
	dup2(output_fd, STDOUT_FILENO);
	dup2(nothing, STDERR_FILENO);
	/* It may hang in the kernel, and others wait for these to close. */
	close_range(STDERR_FILENO + 1, ~0U, 0);
}

NORETURN static void answer(int output_fd, bool are_loads)
{
	char *const arguments[] = {PROGRAM, "-L", NULL};
	const struct child_start program = {
		.program = PROGRAM,
		.arguments = arguments,
		.environment = environ,
	};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	set_streams(output_fd);
	if (print_by_nvml(are_loads) || are_loads)
		_exit(fflush(stdout) ? 1 : 0);
	(void) child_exec(&program, NULL);
	_exit(EXIT_NO_PROGRAM);
}

/* Our side. */

/* Reads to the end. False after the time limit, or too much output. */
static bool read_gpu_query_output(int fd, instant until, struct text *text)
{
	struct pollfd readable = {.fd = fd, .events = POLLIN};
	char part[4096];

	for (;;) {
		msec left = instant_since(loop_monotonic_now(), until);
		int n_ready = left > 0 ? poll(&readable, 1, (int) left) : 0;

		if (n_ready < 0 && errno == EINTR)
			continue;
		ssize_t n = n_ready > 0 ? read(fd, part, sizeof(part)) : -1;

		if (n == 0)
			return true;
		if (n < 0 || text->len + (size_t) n > ANSWER_LIMIT)
			return false;
		text_add_bytes(text, part, (size_t) n);
	}
}

/* The driver may hang when the other process releases its devices, after its answer. */
static bool has_ended_by(pid_t pid, instant until)
{
	int process_fd CLEANUP(file_close) = (int) syscall(SYS_pidfd_open, pid, 0);
	struct pollfd end = {.fd = process_fd, .events = POLLIN};
	int n_ready;

	if (process_fd < 0)
		return true; /* without pidfds, its exit is waited for */
	do
		n_ready = poll(&end, 1, loop_milliseconds_until(until));
	while (n_ready < 0 && errno == EINTR);
	return n_ready > 0;
}

/* A process that hangs in the kernel survives even SIGKILL: then it is not waited for. */
static int collect_gpu_query(pid_t pid, int fd, struct text *text, struct err *err)
{
	instant until = loop_instant_after(TIME_LIMIT);
	bool is_over = read_gpu_query_output(fd, until, text) && has_ended_by(pid, until);
	int status = -1;

	if (!is_over)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, is_over ? 0 : WNOHANG) < 0 && errno == EINTR)
		;
	if (!is_over)
		return err_set(err, ERR_UNREACHABLE,
			       "the NVIDIA driver does not answer within %d s",
			       (int) (TIME_LIMIT / MSEC_PER_SECOND));
	if (status != 0)
		return err_set(err, ERR_UNREACHABLE,
			       "the NVIDIA driver does not respond; for details: '" PROGRAM "'");
	return 0;
}

/* NVML is opened in a separate process, because the driver may hang or crash. */
static int ask_driver(bool are_loads, struct text *text, struct err *err)
{
	int ends[2];

	if (!nvml_is_likely())
		return 0;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_set_errno(err, errno, "cannot list the GPUs");
	pid_t pid = fork();

	if (pid == 0)
		answer(ends[1], are_loads);
	int fd CLEANUP(file_close) = ends[0];

	close(ends[1]);
	if (pid < 0)
		return err_set_errno(err, errno, "cannot list the GPUs");
	return collect_gpu_query(pid, fd, text, err);
}

int nvml_list(struct text *text, struct err *err)
{
	return ask_driver(false, text, err);
}

/* The loads. */

static void read_process(const char *line, struct arena *arena, struct gpu_load *load)
{
	struct gpu_process process;
	long long memory;
	int pid;

	if (sscanf(line, "PROCESS %d %lld", &pid, &memory) != 2)
		return;
	process = (struct gpu_process){.pid = pid, .memory = memory};
	load->processes = arena_grow(arena, load->processes, load->n_processes, sizeof(process));
	load->processes[load->n_processes++] = process;
}

static void read_loads(char *lines, struct arena *arena, struct gpu_loads *ret_loads)
{
	*ret_loads = (struct gpu_loads){0};
	for (char *line; lines && (line = strsep(&lines, "\n")) && ret_loads->count < GPUS_LIMIT;) {
		struct gpu_load *load = &ret_loads->list[ret_loads->count];
		long long used, all;

		if (sscanf(line, "LOAD %d: %d %lld %lld %d %d", &load->number, &load->busy, &used,
			   &all, &load->degrees, &load->milliwatts) == 6) {
			load->memory_used = used;
			load->memory = all;
			ret_loads->count++;
		} else if (arena && ret_loads->count > 0) {
			read_process(line, arena, &load[-1]);
		}
	}
}

int nvml_loads(struct arena *arena, struct gpu_loads *ret_loads, struct err *err)
{
	struct text text CLEANUP(text_done) = {0};
	int rc = ask_driver(true, &text, err);
	char *lines CLEANUP(mem_free_text) = text_take(&text);

	read_loads(rc < 0 ? NULL : lines, arena, ret_loads);
	return rc;
}
