/* Processes by /proc. Everything is read each time: nothing is cached. */
#include "io/process.h"

#include "base/mem.h"
#include "io/file.h"
#include "io/folder.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>

#define PROC_PATH_SIZE 64
#define PROC_LINE_SIZE 4096
/* How long to wait for a process that has no environment at the moment. One that executes a program
 * may wait for a CPU; one that exits may be stuck in a device. */
#define BEGINNING_LIMIT_MS 2000
#define ENDING_LIMIT_MS 50

#define STATUS_LIMIT ((size_t) 1024 * 1024) /* 65,536 groups */

/* Numbered as in proc(5). */
enum stat_field {
	FIELD_STATE = 3,
	FIELD_PARENT = 4,
	FIELD_FLAGS = 9,
	FIELD_FIRST_TIME = 14, /* user and system time of the process, then of its children */
	FIELD_LAST_TIME = 17,
	FIELD_THREADS = 20,
	FIELD_START_TIME = 22,
	FIELD_MEMORY = 24,
	FIELD_CODE_START = 26,
	FIELD_ENVIRONMENT_START = 50,
	FIELD_ENVIRONMENT_END = 51,
};

struct proc_path {
	char text[PROC_PATH_SIZE];
};

/* "/proc/4711/stat" */
static struct proc_path proc_path(pid_t pid, const char *name)
{
	struct proc_path path;

	snprintf(path.text, sizeof(path.text), "/proc/%d/%s", (int) pid, name);
	return path;
}

char *process_stat_status(pid_t pid)
{
	char *text = NULL;
	size_t len;
	int rc = file_read_whole(proc_path(pid, "status").text, STATUS_LIMIT, &text, &len, NULL);

	return rc < 0 ? NULL : text;
}

/* "SigBlk:\t0000000000010000" */
bool process_stat_has_signal(const char *status, const char *mask, int number)
{
	const char *line = strstr(status, mask);

	return line && strtoull(line + strlen(mask), NULL, 16) >> (number - 1) & 1;
}

/* Reads the beginning of a small file and appends a NUL; -1 (errno) when it cannot be read. */
static ssize_t read_beginning(const char *path, char *buf, size_t size)
{
	int fd CLEANUP(file_close) = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, buf, size - 1);

	if (len >= 0)
		buf[len] = '\0';
	return len;
}

/* Skips so many fields; NULL when there are fewer. */
static const char *skip_fields(const char *at, int count)
{
	for (; at && count > 0; count--) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	return at;
}

static uint64_t read_stat_field(const char *first, enum stat_field field)
{
	const char *at = skip_fields(first, field - FIELD_STATE);

	return at ? strtoull(at, NULL, 10) : 0;
}

/* The program's name is in parentheses and may contain any byte, also ')': fields follow the last
 * one, from the third on. */
bool process_stat_read(pid_t pid, struct process_stat *ret_stat)
{
	char line[PROC_LINE_SIZE];

	if (read_beginning(proc_path(pid, "stat").text, line, sizeof(line)) <= 0)
		return false;
	const char *first = skip_fields(strrchr(line, ')'), 1);

	if (!first)
		return false;
	*ret_stat = (struct process_stat){
		.state = *first,
		.parent = (pid_t) read_stat_field(first, FIELD_PARENT),
		.flags = (unsigned int) read_stat_field(first, FIELD_FLAGS),
		.n_threads = read_stat_field(first, FIELD_THREADS),
		.memory_pages = read_stat_field(first, FIELD_MEMORY),
		.start_time = read_stat_field(first, FIELD_START_TIME),
		.code_start = read_stat_field(first, FIELD_CODE_START),
		.environment_start = read_stat_field(first, FIELD_ENVIRONMENT_START),
		.environment_end = read_stat_field(first, FIELD_ENVIRONMENT_END),
	};
	for (int field = FIELD_FIRST_TIME; field <= FIELD_LAST_TIME; field++)
		ret_stat->cpu_ticks += read_stat_field(first, (enum stat_field) field);
	return true;
}

/* A zombie without other threads. If only the main thread of a process has exited, it is a zombie
 * with other threads: they may be running, or exiting with all files and ports still open. */
static bool has_ended(const struct process_stat *stat)
{
	return (stat->state == 'Z' && stat->n_threads <= 1) || stat->state == 'X';
}

/* The next number in /proc, which the caller has opened, or in a directory of threads; 0: all were
 * seen, or `proc` is NULL. */
static pid_t next_process(DIR *proc)
{
	struct dirent *entry;

	while (proc && (entry = readdir(proc)))
		if (isdigit((unsigned char) entry->d_name[0]))
			return atoi(entry->d_name);
	return 0;
}

int process_need_proc(struct err *err)
{
	if (access("/proc/self", F_OK) == 0)
		return 0;
	return err_set(err, ERR_UNSUPPORTED,
		       "/proc is not mounted, but muster needs it to see processes; to mount it: "
		       "mount -t proc proc /proc");
}

static bool read_boot_id(char *buf, size_t size)
{
	if (read_beginning("/proc/sys/kernel/random/boot_id", buf, size) <= 0)
		return false;
	buf[strcspn(buf, "\n")] = '\0';
	return true;
}

/* Of this process if `pid` is 0. 0 when it may not be read: of another user's process, or one that
 * may not dump core. */
static uint64_t pid_space_of(pid_t pid)
{
	struct proc_path path = proc_path(pid, "ns/pid");
	struct stat space;

	return stat(pid ? path.text : "/proc/self/ns/pid", &space) == 0 ? (uint64_t) space.st_ino
									: 0;
}

void process_hide_memory(void)
{
	prctl(PR_SET_DUMPABLE, 0);
}

/* What /proc adds to all times since boot for this process: ticks (time_namespaces(7)). */
static uint64_t time_offset(void)
{
	char offsets[PROC_LINE_SIZE];

	if (read_beginning("/proc/self/timens_offsets", offsets, sizeof(offsets)) <= 0)
		return 0;
	const char *boot = strstr(offsets, "boottime");

	return boot ? (uint64_t) (strtoll(boot + strlen("boottime"), NULL, 10) *
				  sysconf(_SC_CLK_TCK))
		    : 0;
}

int process_identify(pid_t pid, struct process_identity *ret_identity, struct err *err)
{
	struct process_identity identity = {.pid = pid};
	struct process_stat line;

	if (!process_stat_read(pid, &line) || has_ended(&line))
		return err_set(err, ERR_NOT_FOUND, "process %d does not exist", (int) pid);
	if (!read_boot_id(identity.boot_id, sizeof(identity.boot_id)))
		return err_set_errno(err, errno, "cannot read this machine's boot id");
	identity.start_time = line.start_time - time_offset();
	identity.pid_space = pid_space_of(pid);
	*ret_identity = identity;
	return 0;
}

static bool is_that_process(pid_t pid, uint64_t start_time)
{
	struct process_stat line;

	return process_stat_read(pid, &line) && line.start_time == start_time && !has_ended(&line);
}

/* The process's pid in its own, innermost namespace: the last number of "NSpid:". */
static pid_t innermost_pid(pid_t pid)
{
	char *status CLEANUP(mem_free_text) = process_stat_status(pid);
	char *numbers = status ? strstr(status, "\nNSpid:") : NULL;

	if (!numbers)
		return 0;
	numbers += strlen("\nNSpid:");
	numbers[strcspn(numbers, "\n")] = '\0';
	return atoi(strrchr(numbers, '\t') + 1);
}

/* In a namespace below ours, the process has another pid in ours. One of an unrelated namespace
 * cannot be seen. */
static pid_t find_elsewhere(const struct process_identity *identity, uint64_t start_time)
{
	DIR *proc CLEANUP(folder_close) = opendir("/proc");

	for (pid_t pid; (pid = next_process(proc));) {
		uint64_t space = pid_space_of(pid);

		if (is_that_process(pid, start_time) &&
		    (space == 0 || space == identity->pid_space) &&
		    innermost_pid(pid) == identity->pid)
			return pid;
	}
	return 0;
}

pid_t process_find(const struct process_identity *identity)
{
	char boot_id[sizeof(identity->boot_id)];

	if (!read_boot_id(boot_id, sizeof(boot_id)) || !text_equals(boot_id, identity->boot_id))
		return 0;
	uint64_t start_time = identity->start_time + time_offset();

	if (identity->pid_space != pid_space_of(0))
		return find_elsewhere(identity, start_time);
	return is_that_process(identity->pid, start_time) ? identity->pid : 0;
}

bool process_has_loaded(pid_t pid, const char *part)
{
	char line[PROC_LINE_SIZE];
	FILE *maps = fopen(proc_path(pid, "maps").text, "re");
	bool is_found = false;

	while (maps && !is_found && fgets(line, sizeof(line), maps))
		is_found = strstr(line, part) != NULL;
	if (maps)
		fclose(maps);
	return is_found;
}

/* Whether a mask of the whole process has the signal (proc(5)). */
static bool has_signal(pid_t pid, const char *mask, int number)
{
	char *status CLEANUP(mem_free_text) = process_stat_status(pid);

	return status && process_stat_has_signal(status, mask, number);
}

/* SIGKILL stays among the pending signals of the whole process until all its threads have exited.
 * This also holds while no thread has been scheduled to exit (a machine with too few CPUs). */
bool process_is_being_killed(pid_t pid)
{
	return has_signal(pid, "\nShdPnd:", SIGKILL);
}

bool process_catches(pid_t pid, int number)
{
	return has_signal(pid, "\nSigCgt:", number);
}

bool process_ignores(int signal_number)
{
	struct sigaction action;

	return sigaction(signal_number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

bool process_usage_add(pid_t pid, struct process_usage *usage)
{
	struct process_stat line;

	if (!process_stat_read(pid, &line) || has_ended(&line))
		return false;
	usage->cpu += (msec) (line.cpu_ticks * MSEC_PER_SECOND / (uint64_t) sysconf(_SC_CLK_TCK));
	usage->memory += (int64_t) line.memory_pages * sysconf(_SC_PAGESIZE);
	return true;
}

void process_each_child(pid_t parent, void (*fn)(pid_t pid, void *data), void *data)
{
	DIR *proc CLEANUP(folder_close) = opendir("/proc");
	struct process_stat line;

	for (pid_t pid; (pid = next_process(proc));)
		if (process_stat_read(pid, &line) && line.parent == parent)
			fn(pid, data);
}

enum reading {
	READING_DONE,
	READING_NONE, /* it has none, may not be read, or has exited */
	READING_BEGINS, /* it has none yet */
	READING_ENDS, /* it no longer has one, and is about to be a zombie */
};

/* Between the memory of one program and that of the next, a process has no environment; also when
 * it exits, until it is a zombie. The address of the code is the last one that the kernel sets when
 * a program starts (load_elf_binary in fs/binfmt_elf.c). A process that has an environment now got
 * it after nothing could be read. A kernel thread never has one. */
static enum reading reading_of_nothing(pid_t pid)
{
	struct process_stat line;

	if (!process_stat_read(pid, &line) || has_ended(&line) ||
	    line.flags & PROCESS_FLAG_KERNEL_THREAD)
		return READING_NONE;
	bool has_some = line.environment_end > line.environment_start;

	if (line.flags & PROCESS_FLAG_EXITING)
		return READING_ENDS;
	return line.code_start == 0 || has_some ? READING_BEGINS : READING_NONE;
}

/* `socket` as /proc/PID/fd shows it. */
static bool has_socket(pid_t pid, const char *socket)
{
	DIR *folder CLEANUP(folder_close) = opendir(proc_path(pid, "fd").text);
	char link[PROC_PATH_SIZE];
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		ssize_t len = readlinkat(dirfd(folder), entry->d_name, link, sizeof(link) - 1);

		link[len > 0 ? len : 0] = '\0';
		if (text_equals(link, socket))
			return true;
	}
	return false;
}

bool process_read_name(pid_t pid, char name[PROCESS_NAME_SIZE])
{
	if (pid <= 0 || read_beginning(proc_path(pid, "comm").text, name, PROCESS_NAME_SIZE) <= 0)
		return false;
	name[strcspn(name, "\n")] = '\0';
	return true;
}

pid_t process_of_socket(uint64_t inode, char program[PROCESS_NAME_SIZE])
{
	DIR *proc CLEANUP(folder_close) = opendir("/proc");
	char socket[PROC_PATH_SIZE];
	pid_t pid;

	snprintf(socket, sizeof(socket), "socket:[%" PRIu64 "]", inode);
	while ((pid = next_process(proc)) && !has_socket(pid, socket))
		continue;
	return process_read_name(pid, program) ? pid : 0;
}

/* All of an environ file: entries, each followed by a NUL. False when it cannot be opened. */
static bool read_entries(const char *path, struct text *environment)
{
	char chunk[PROC_LINE_SIZE];
	int fd CLEANUP(file_close) = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = 0;

	while (fd >= 0 && (len = read(fd, chunk, sizeof(chunk))) > 0)
		text_add_bytes(environment, chunk, (size_t) len);
	return fd >= 0;
}

static enum reading read_environment(pid_t pid, struct text *environment)
{
	struct process_stat line;

	if (!read_entries(proc_path(pid, "environ").text, environment) && errno != ESRCH)
		return READING_NONE;
	/* Its main thread alone has exited. The environment belongs to all threads; each one that
	 * has not exited can show it. */
	bool is_of_threads = environment->len == 0 && process_stat_read(pid, &line) &&
			     line.state == 'Z' && !has_ended(&line);
	DIR *threads CLEANUP(folder_close) =
		is_of_threads ? opendir(proc_path(pid, "task").text) : NULL;

	for (pid_t thread; environment->len == 0 && (thread = next_process(threads));) {
		char *name CLEANUP(mem_free_text) = mem_format("task/%d/environ", (int) thread);

		read_entries(proc_path(pid, name).text, environment);
	}
	return environment->len > 0 ? READING_DONE : reading_of_nothing(pid);
}

/* The first entry that begins with this text, or is this text; NULL when there is none. */
static const char *find_entry(const struct text *environment, const char *text, bool is_whole)
{
	for (size_t at = 0; at < environment->len; at++) {
		const char *entry = environment->bytes + at;

		if (is_whole ? text_equals(entry, text) : text_starts_with(entry, text))
			return entry;
		at += strlen(entry);
	}
	return NULL;
}

bool process_read_variable(pid_t pid, const char *name, char **ret_value)
{
	struct text environment CLEANUP(text_done) = {0};
	char *beginning CLEANUP(mem_free_text) = mem_format("%s=", name);
	enum reading reading = read_environment(pid, &environment);
	const char *entry =
		reading == READING_DONE ? find_entry(&environment, beginning, false) : NULL;

	if (reading == READING_BEGINS || reading == READING_ENDS)
		return false;
	*ret_value = entry ? mem_copy_text(entry + strlen(beginning)) : NULL;
	return true;
}

/* The kernel gives /proc/PID to the process's user, unless the process may not be traced. */
static bool is_process_of_user(pid_t pid)
{
	struct stat folder;

	return stat(proc_path(pid, "").text, &folder) == 0 && folder.st_uid == geteuid();
}

/* /proc/PID is root's also if another user started a setuid program; the real user is who started
 * it. */
static bool is_started_by_us(pid_t pid)
{
	static const char name[] = "\nUid:";
	char *status CLEANUP(mem_free_text) = process_stat_status(pid);
	const char *line = status ? strstr(status, name) : NULL;

	return line && strtoul(line + strlen(name), NULL, 10) == getuid();
}

static bool read_stable(pid_t pid, struct text *environment)
{
	for (int tries = 0;; tries++) {
		text_clear(environment);
		enum reading reading = read_environment(pid, environment);
		int limit = reading == READING_BEGINS ? BEGINNING_LIMIT_MS
			    : reading == READING_ENDS ? ENDING_LIMIT_MS
						      : 0;

		if (tries >= limit)
			return reading == READING_DONE;
		poll(NULL, 0, 1);
	}
}

int process_add_environment(pid_t pid, struct text *text, struct err *err)
{
	if (read_stable(pid, text))
		return 0;
	return kill(pid, 0) < 0 && errno == ESRCH
		       ? err_set(err, ERR_NOT_FOUND, "process %d does not exist", (int) pid)
		       : err_set(err, ERR_REFUSED, "the environment of process %d cannot be read",
				 (int) pid);
}

bool process_has_mark(pid_t pid, const char *entry)
{
	struct text environment CLEANUP(text_done) = {0};

	return read_stable(pid, &environment) && find_entry(&environment, entry, true);
}

void process_each_marked(const char *entry, void (*fn)(pid_t pid, void *data), void *data)
{
	DIR *proc CLEANUP(folder_close) = opendir("/proc");
	struct text environment CLEANUP(text_done) = {0}; /* the memory is reused */

	for (pid_t pid; (pid = next_process(proc));)
		if (is_process_of_user(pid) && read_stable(pid, &environment) &&
		    find_entry(&environment, entry, true) && is_started_by_us(pid))
			fn(pid, data);
}

/* T: stopped by a signal; t: by a tracer (proc(5)). */
static void check_stopped_process(pid_t pid, void *data)
{
	bool *is_stopped = data;
	struct process_stat line;

	if (*is_stopped || !process_stat_read(pid, &line))
		return;
	if (line.state == 'T' || line.state == 't')
		*is_stopped = true;
	else
		process_each_child(pid, check_stopped_process, data);
}

bool process_is_stopped(pid_t pid)
{
	bool is_stopped = false;

	check_stopped_process(pid, &is_stopped);
	return is_stopped;
}
