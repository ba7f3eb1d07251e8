#include "local/machine_gpus.h"

#include "base/exit_code.h"
#include "io/child.h"
#include "io/file.h"
#include "io/loop.h"
#include "jobs/orphaned_job.h"
#include "jobs/record.h"

#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* The list of the NVIDIA driver. */

#define LIBRARY "libnvidia-ml.so.1"
#define PROGRAM "nvidia-smi"
#define ANSWER_LIMIT 65536
/* A driver that no process keeps initialized takes a few seconds for its first answer. */
#define TIME_LIMIT (15 * MSEC_PER_SECOND)

/* Signs of a driver: its module, its device, that of WSL, its program. */
static bool is_driver_likely(void)
{
	static const char *const signs[] = {"/proc/driver/nvidia", "/dev/nvidiactl", "/dev/dxg"};
	const struct child_start program = {.program = PROGRAM, .environment = environ};

	for (size_t i = 0; i < ARRAY_LEN(signs); i++)
		if (access(signs[i], F_OK) == 0)
			return true;
	return child_check_program(&program, NULL) == 0;
}

/* The other process: its output is the answer. */

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

static bool print_by_nvml(void)
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
		if (nvml.name(device, name, sizeof(name)))
			name[0] = '\0';
		printf("GPU %u: %s (UUID: %s)\n", i, name, uuid);
		print_mig_devices(&nvml, device);
	}
	return true;
}

NORETURN static void answer(int output_fd)
{
	char *const arguments[] = {PROGRAM, "-L", NULL};
	const struct child_start program = {
		.program = PROGRAM,
		.arguments = arguments,
		.environment = environ,
	};
	int nothing = open("/dev/null", O_RDWR);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(nothing, STDIN_FILENO);
	dup2(output_fd, STDOUT_FILENO);
	dup2(nothing, STDERR_FILENO);
	if (print_by_nvml())
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

/* Appends the output of `nvidia-smi -L`: from NVML (libnvidia-ml.so.1), else from that program.
 * NVML is opened in a separate process, because the driver may hang or crash. Without a sign of a
 * driver, this costs a few system calls, and nothing is appended. ERR_UNREACHABLE: there is a
 * driver, and it does not respond. */
static int gpu_list_read(struct text *text, struct err *err)
{
	int ends[2];

	if (!is_driver_likely())
		return 0;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_set_errno(err, errno, "cannot list the GPUs");
	pid_t pid = fork();

	if (pid == 0)
		answer(ends[1]);
	int fd CLEANUP(file_close) = ends[0];

	close(ends[1]);
	if (pid < 0)
		return err_set_errno(err, errno, "cannot list the GPUs");
	return collect_gpu_query(pid, fd, text, err);
}

/* Those that may be assigned, and who holds them. */

void machine_gpus_find(const char *visible, struct arena *arena, struct gpus *ret_gpus)
{
	struct text text CLEANUP(text_done) = {0};
	struct err err = {0};

	*ret_gpus = (struct gpus){0};
	if (text_equals(visible, "") || text_equals(visible, "-1"))
		return;
	if (gpu_list_read(&text, &err) < 0)
		ret_gpus->fault = arena_copy_text(arena, err.text);
	else if (text.len)
		gpus_read(text_of(&text), arena, ret_gpus);
	gpus_limit(ret_gpus, visible, arena);
}

static gpu_set position_of(const struct gpus *gpus, int number)
{
	for (size_t i = 0; i < gpus->count; i++)
		if (gpus->list[i].number == number)
			return (gpu_set) 1 << i;
	return 0;
}

/* GPUs of the owner of claim `first`; none if an earlier claim had the same owner. */
static gpu_set held_by_owner(const struct gpus *gpus, const struct claim_list *claims, size_t first)
{
	const char *owner = claims->list[first].owner_uid;
	gpu_set held = 0;

	for (size_t i = 0; i < claims->count; i++) {
		if (!text_equals(claims->list[i].owner_uid, owner))
			continue;
		if (i < first)
			return 0;
		held |= position_of(gpus, claims->list[i].number);
	}
	return held;
}

int machine_gpus_held(const struct gpus *gpus, struct claims *claims, const char *own_uid,
		      gpu_set *ret_held, struct text *holders, struct err *err)
{
	struct claim_list all CLEANUP(claim_list_done) = {0};
	int rc = claims->functions->list(claims, CLAIM_GPU, &all, err);

	if (rc < 0)
		return rc;
	*ret_held = 0;
	for (size_t i = 0; i < all.count; i++) {
		gpu_set held = held_by_owner(gpus, &all, i);

		if (!held || text_equals(all.list[i].owner_uid, own_uid))
			continue;
		*ret_held |= held;
		text_addf(holders, "%sjob '%s' holds ", holders->len ? "; " : "",
			  all.list[i].job_name ? all.list[i].job_name : all.list[i].owner_uid);
		gpus_add_names(gpus, held, holders);
	}
	return 0;
}

/* gpu_assignment_create with the GPUs that other jobs do not hold. */
static int machine_gpus_assign(const struct gpus *gpus, const struct job *job,
			       struct claims *claims, const struct gpu_assignment *last,
			       struct arena *arena, struct gpu_assignment *ret_deal,
			       struct text *told, struct err *err)
{
	struct text holders CLEANUP(text_done) = {0};
	gpu_set held, free;
	int rc = machine_gpus_held(gpus, claims, job->uid, &held, &holders, err);

	if (rc < 0)
		return rc;
	free = gpus_all(gpus) & ~held & ~gpu_assignment_all(last);
	rc = gpu_assignment_create(job, gpus, free, last, text_of(&holders), arena, ret_deal, err);
	if (rc == 0)
		gpu_assignment_describe(job, gpus, ret_deal, free, text_of(&holders), told);
	return rc;
}

static bool has_claims(const struct claim_list *claims, const char *uid)
{
	for (size_t i = 0; i < claims->count; i++)
		if (text_equals(claims->list[i].owner_uid, uid))
			return true;
	return false;
}

int machine_gpus_check(const struct gpus *gpus, const struct job *job, struct store *store,
		       struct text *told, struct err *err)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct claim_list claims CLEANUP(claim_list_done) = {0};
	struct gpu_assignment deal;
	int rc = gpu_assignment_check(job, gpus, err);

	if (rc == 0)
		rc = store->claims->functions->list(store->claims, CLAIM_GPU, &claims, err);
	if (rc < 0 || (job->waits_for_gpus && !has_claims(&claims, job->uid)))
		return rc;
	/* A job that cannot be cleaned up keeps its GPUs, and is named. A deleted job has none. */
	for (size_t i = 0; i < claims.count; i++) {
		struct store_record record CLEANUP(store_record_done) = {0};
		const struct claim *claim = &claims.list[i];

		if (claim->job_name)
			(void) !orphaned_job_get(store, claim->job_name, &record, NULL);
		else
			(void) !store->claims->functions->release(store->claims, CLAIM_GPU,
								  claim->owner_uid, NULL);
	}
	return machine_gpus_assign(gpus, job, store->claims, NULL, arena, &deal, told, err);
}

int machine_gpus_check_free(const struct gpus *gpus, const struct job *job,
			    const char *state_folder, struct text *told, struct err *err)
{
	struct store *store CLEANUP(store_cleanup) = NULL;

	if (gpus->count == 0)
		return 0;
	int rc = store_sqlite_open(state_folder, &store, err);

	return rc < 0 ? rc : machine_gpus_check(gpus, job, store, told, err);
}

/* Those of one job. */

/* The store records all shares together. */
static int save_gpu_claims(const struct local_gpus *gpus, const struct gpu_assignment *deal,
			   const char *uid, struct err *err)
{
	gpu_set all = gpu_assignment_all(deal);
	int numbers[GPUS_LIMIT];
	size_t count = 0;

	for (size_t i = 0; i < gpus->gpus->count; i++)
		if (all >> i & 1)
			numbers[count++] = gpus->gpus->list[i].number;
	return gpus->claims->functions->hold(gpus->claims, CLAIM_GPU, uid, numbers, count, err);
}

/* One try; ERR_CONFLICT when another job was faster. */
static int try_to_deal(struct local_gpus *gpus, const struct job *job, bool is_new,
		       struct text *told, struct err *err)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct gpu_assignment deal;

	text_clear(told);
	int rc = machine_gpus_assign(gpus->gpus, job, gpus->claims, is_new ? NULL : &gpus->deal,
				     arena, &deal, told, err);

	if (rc == 0)
		rc = save_gpu_claims(gpus, &deal, job->uid, err);
	if (rc < 0)
		return rc;
	arena_free(gpus->arena);
	gpus->arena = TAKE(arena);
	gpus->deal = deal;
	return 0;
}

int local_gpus_assign(struct local_gpus *gpus, const struct job *job, const char *role, int index,
		      struct text *told, struct err *err)
{
	bool is_new = !gpus->arena || job_resizes_whole(job, job_role(job, role));
	int rc = ERR_CONFLICT;

	if (!gpus->gpus || gpus->gpus->count == 0 || gpu_assignment_find(&gpus->deal, role, index))
		return 0;
	while (rc == ERR_CONFLICT)
		rc = try_to_deal(gpus, job, is_new, told, err);
	if (rc != ERR_LIMIT || !job->elastic_id)
		return rc;
	if (!gpus->has_told_shortage)
		text_add(told, err->text);
	gpus->has_told_shortage = true;
	return 0;
}

int local_gpus_release(struct local_gpus *gpus, const char *uid, const char *role, int index,
		       struct err *err)
{
	struct gpu_share *hands = gpus->deal.hands;
	const struct gpu_share *hand = gpu_assignment_find(&gpus->deal, role, index);

	if (!hand)
		return 0;
	hands[hand - hands] = hands[--gpus->deal.count];
	int rc = save_gpu_claims(gpus, &gpus->deal, uid, err);

	if (gpus->deal.count == 0)
		local_gpus_done(gpus);
	return rc;
}

void local_gpus_done(struct local_gpus *gpus)
{
	arena_free(gpus->arena);
	gpus->arena = NULL;
	gpus->deal = (struct gpu_assignment){0};
}

static const struct gpu_share *find_assigned_gpus(const struct local_gpus *gpus, const char *role,
						  int index)
{
	const struct gpu_share *hand = gpu_assignment_find(&gpus->deal, role, index);

	return hand && !hand->is_own ? hand : NULL;
}

/* The first GPU of each replica comes first: LOCAL_RANK is its place. */
static void add_common_ids(const struct local_gpus *gpus, struct text *text)
{
	const struct gpu_assignment *deal = &gpus->deal;
	gpu_set rest = gpu_assignment_all(deal);

	for (size_t i = 0; i < deal->count; i++) {
		gpu_set first = deal->hands[i].set & -deal->hands[i].set & rest;

		if (first)
			text_add(text, text->len ? "," : "");
		if (first)
			gpus_add_ids(gpus->gpus, first, text);
		rest &= ~first;
	}
	if (rest)
		text_add(text, ",");
	if (rest)
		gpus_add_ids(gpus->gpus, rest, text);
}

const char *local_gpus_visible(const struct local_gpus *gpus, const struct job *job,
			       const char *role, int index, struct arena *arena)
{
	const struct gpu_share *hand = find_assigned_gpus(gpus, role, index);
	struct text text CLEANUP(text_done) = {0}, all CLEANUP(text_done) = {0};

	if (!hand)
		return NULL;
	if (job->has_common_gpus && hand->set && !gpus_have_mig(gpus->gpus))
		add_common_ids(gpus, &text);
	else
		gpus_add_ids(gpus->gpus, hand->set, &text);
	gpus_add_ids(gpus->gpus, gpus_all(gpus->gpus), &all);
	return text_equals(text_of(&text), text_of(&all)) ? NULL
							  : arena_copy_text(arena, text_of(&text));
}

char *local_gpus_names(const struct local_gpus *gpus, const char *role, int index)
{
	const struct gpu_share *hand = find_assigned_gpus(gpus, role, index);
	struct text text = {0};

	if (!hand)
		return NULL;
	gpus_add_names(gpus->gpus, hand->set, &text);
	return text_take(&text);
}
