/* Processes as /proc tells of them. Everything is read anew: nothing here is remembered. */
#include "io/process.h"

#include "base/mem.h"
#include "base/text.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROC_PATH_SIZE 64
#define PROC_LINE_SIZE 4096
#define FLUX_LIMIT_MS 50

/* What we use of /proc/PID/stat, numbered as in proc(5). */
enum stat_field {
	FIELD_STATE = 3,
	FIELD_PARENT = 4,
	FIELD_FLAGS = 9,
	FIELD_THREADS = 20,
	FIELD_START_TIME = 22,
	FIELD_ENVIRONMENT_END = 51,
};
struct stat_line {
	char state;
	pid_t parent;
	unsigned int flags;
	uint64_t n_threads;
	uint64_t start_time;
	uint64_t environment_end; /* address; 0 before a program has begun and after it has ended */
};

/* PF_EXITING and PF_KTHREAD of include/linux/sched.h */
#define FLAG_EXITING 0x4
#define FLAG_KERNEL_THREAD 0x00200000

/* Reads the beginning of a small file and puts a NUL behind; -1 (errno) when it cannot be read. */
static ssize_t read_beginning(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	ssize_t len = read(fd, buf, size - 1);

	close(fd);
	if (len >= 0)
		buf[len] = '\0';
	return len;
}

/* Moves on by so many fields; NULL when there are not so many. */
static const char *skip_fields(const char *at, int count)
{
	for (; at && count > 0; count--) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	return at;
}

static uint64_t read_field(const char *first, enum stat_field field)
{
	const char *at = skip_fields(first, field - FIELD_STATE);

	return at ? strtoull(at, NULL, 10) : 0;
}

/* The program's name stands in parentheses and may hold any byte, ')' too: what follows the last
 * one is fields, from the third on. */
static bool read_stat(pid_t pid, struct stat_line *ret_line)
{
	char path[PROC_PATH_SIZE], line[PROC_LINE_SIZE];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int) pid);
	if (read_beginning(path, line, sizeof(line)) <= 0)
		return false;
	const char *first = skip_fields(strrchr(line, ')'), 1);

	if (!first)
		return false;
	*ret_line = (struct stat_line){
		.state = *first,
		.parent = (pid_t) read_field(first, FIELD_PARENT),
		.flags = (unsigned int) read_field(first, FIELD_FLAGS),
		.n_threads = read_field(first, FIELD_THREADS),
		.start_time = read_field(first, FIELD_START_TIME),
		.environment_end = read_field(first, FIELD_ENVIRONMENT_END),
	};
	return true;
}

/* A zombie that has other threads still is one whose main thread alone has ended. The others may
 * work on, or be on their way out with all files open, ports among them. */
static bool has_ended(const struct stat_line *line)
{
	return (line->state == 'Z' && line->n_threads <= 1) || line->state == 'X';
}

static bool read_boot_id(char *buf, size_t size)
{
	if (read_beginning("/proc/sys/kernel/random/boot_id", buf, size) <= 0)
		return false;
	buf[strcspn(buf, "\n")] = '\0';
	return true;
}

/* 0 when it may not be known: another user's process. */
static uint64_t pid_space_of(const char *process_name)
{
	char path[PROC_PATH_SIZE];
	struct stat space;

	snprintf(path, sizeof(path), "/proc/%s/ns/pid", process_name);
	return stat(path, &space) == 0 ? (uint64_t) space.st_ino : 0;
}

int process_identify(pid_t pid, struct process_identity *ret_identity, struct err *err)
{
	struct process_identity identity = {.pid = pid};
	struct stat_line line;
	char name[PROC_PATH_SIZE / 2];

	snprintf(name, sizeof(name), "%d", (int) pid);
	if (!read_stat(pid, &line) || has_ended(&line))
		return err_set(err, ERR_NOT_FOUND, "process %d does not exist", (int) pid);
	if (!read_boot_id(identity.boot_id, sizeof(identity.boot_id)))
		return err_set_errno(err, errno, "cannot read this machine's boot id");
	identity.start_time = line.start_time;
	identity.pid_space = pid_space_of(name);
	*ret_identity = identity;
	return 0;
}

static bool is_that_process(pid_t pid, uint64_t start_time)
{
	struct stat_line line;

	return read_stat(pid, &line) && line.start_time == start_time && !has_ended(&line);
}

/* Calls `fn` for every process that can be seen, until it says that it has seen enough. */
static void each_process(bool (*fn)(pid_t pid, void *data), void *data)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	if (!proc)
		return;
	while ((entry = readdir(proc)))
		if (isdigit((unsigned char) entry->d_name[0]) && fn(atoi(entry->d_name), data))
			break;
	closedir(proc);
}

/* The process's number in its own, innermost namespace: the last number of "NSpid:". */
static pid_t innermost_pid(pid_t pid)
{
	char path[PROC_PATH_SIZE], status[PROC_LINE_SIZE];

	snprintf(path, sizeof(path), "/proc/%d/status", (int) pid);
	if (read_beginning(path, status, sizeof(status)) <= 0)
		return 0;
	char *numbers = strstr(status, "\nNSpid:");

	if (!numbers)
		return 0;
	numbers += strlen("\nNSpid:");
	numbers[strcspn(numbers, "\n")] = '\0';
	return atoi(strrchr(numbers, '\t') + 1);
}

struct foreign_search {
	const struct process_identity *identity;
	bool is_found;
};

static bool match_foreign(pid_t pid, void *data)
{
	struct foreign_search *search = data;
	char name[PROC_PATH_SIZE / 2];

	snprintf(name, sizeof(name), "%d", (int) pid);
	search->is_found = is_that_process(pid, search->identity->start_time) &&
			   pid_space_of(name) == search->identity->pid_space &&
			   innermost_pid(pid) == search->identity->pid;
	return search->is_found;
}

/* In a namespace below ours, where it has another number here; one beside ours cannot be seen. */
static bool is_alive_elsewhere(const struct process_identity *identity)
{
	struct foreign_search search = {.identity = identity};

	each_process(match_foreign, &search);
	return search.is_found;
}

bool process_is_alive(const struct process_identity *identity)
{
	char boot_id[sizeof(identity->boot_id)];

	if (!read_boot_id(boot_id, sizeof(boot_id)) || !text_equals(boot_id, identity->boot_id))
		return false;
	if (identity->pid_space != pid_space_of("self"))
		return is_alive_elsewhere(identity);
	return is_that_process(identity->pid, identity->start_time);
}

struct child_search {
	pid_t parent;
	void (*fn)(pid_t pid, void *data);
	void *data;
};

static bool match_child(pid_t pid, void *data)
{
	struct child_search *search = data;
	struct stat_line line;

	if (read_stat(pid, &line) && line.parent == search->parent)
		search->fn(pid, search->data);
	return false;
}

void process_each_child(pid_t parent, void (*fn)(pid_t pid, void *data), void *data)
{
	struct child_search search = {parent, fn, data};

	each_process(match_child, &search);
}

enum reading {
	READING_DONE,
	READING_NONE, /* it has none, may not be read, or is no more */
	READING_LATER, /* it has none at this moment */
};

/* Between the memory of one program and that of the next a process has no environment, and again
 * when it ends, until it is a zombie. A thread of the kernel never has one. */
static enum reading reading_of_nothing(pid_t pid)
{
	struct stat_line line;

	if (!read_stat(pid, &line) || has_ended(&line) || line.flags & FLAG_KERNEL_THREAD)
		return READING_NONE;
	bool is_between = line.flags & FLAG_EXITING || line.environment_end == 0;

	return is_between ? READING_LATER : READING_NONE;
}

/* All of an environ file: entries, each with a NUL behind. False when it cannot be opened. */
static bool read_entries(const char *path, struct text *environment)
{
	char chunk[PROC_LINE_SIZE];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = 0;

	if (fd < 0)
		return false;
	while ((len = read(fd, chunk, sizeof(chunk))) > 0)
		text_add_bytes(environment, chunk, (size_t) len);
	close(fd);
	return true;
}

static bool has_lost_main_thread(pid_t pid)
{
	struct stat_line line;

	return read_stat(pid, &line) && line.state == 'Z' && !has_ended(&line);
}

/* The environment belongs to all threads; each one that has not ended can show it. */
static void read_entries_of_threads(pid_t pid, struct text *environment)
{
	char path[PROC_PATH_SIZE];
	const struct dirent *entry;

	snprintf(path, sizeof(path), "/proc/%d/task", (int) pid);
	DIR *threads = opendir(path);

	while (threads && environment->len == 0 && (entry = readdir(threads))) {
		if (!isdigit((unsigned char) entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%d/environ", (int) pid,
			 atoi(entry->d_name));
		read_entries(path, environment);
	}
	if (threads)
		closedir(threads);
}

static enum reading read_environment(pid_t pid, struct text *environment)
{
	char path[PROC_PATH_SIZE];

	snprintf(path, sizeof(path), "/proc/%d/environ", (int) pid);
	if (!read_entries(path, environment) && errno != ESRCH)
		return READING_NONE;
	if (environment->len == 0 && has_lost_main_thread(pid))
		read_entries_of_threads(pid, environment);
	return environment->len > 0 ? READING_DONE : reading_of_nothing(pid);
}

/* The first entry that begins so; NULL when there is none. */
static const char *find_entry(const struct text *environment, const char *beginning)
{
	for (size_t at = 0; at < environment->len; at++) {
		const char *entry = environment->bytes + at;

		if (text_starts_with(entry, beginning))
			return entry;
		at += strlen(entry);
	}
	return NULL;
}

static bool holds_entry(const struct text *environment, const char *entry)
{
	for (size_t at = 0; at < environment->len; at++) {
		if (text_equals(environment->bytes + at, entry))
			return true;
		at += strlen(environment->bytes + at);
	}
	return false;
}

bool process_has_mark(pid_t pid, const char *entry)
{
	struct text environment CLEANUP(text_done) = {0};

	return read_environment(pid, &environment) == READING_DONE &&
	       holds_entry(&environment, entry);
}

bool process_read_variable(pid_t pid, const char *name, char **ret_value)
{
	struct text environment CLEANUP(text_done) = {0};
	char *beginning CLEANUP(mem_free_text) = mem_format("%s=", name);
	enum reading reading = read_environment(pid, &environment);
	const char *entry = reading == READING_DONE ? find_entry(&environment, beginning) : NULL;

	if (reading == READING_LATER)
		return false;
	*ret_value = entry ? mem_copy_text(entry + strlen(beginning)) : NULL;
	return true;
}

struct mark_search {
	const char *entry;
	struct text environment; /* of the process that is looked at; the memory is used again */
	void (*fn)(pid_t pid, void *data);
	void *data;
};

/* The kernel gives /proc/PID to the process's user, unless the process may not be traced. */
static bool is_ours(pid_t pid)
{
	char path[PROC_PATH_SIZE];
	struct stat folder;

	snprintf(path, sizeof(path), "/proc/%d", (int) pid);
	return stat(path, &folder) == 0 && folder.st_uid == geteuid();
}

/* Beginning a program takes far less than a millisecond; the limit is for one that hangs. */
static bool read_settled(pid_t pid, struct text *environment)
{
	for (int tries = 0; tries < FLUX_LIMIT_MS; tries++) {
		text_clear(environment);
		enum reading reading = read_environment(pid, environment);

		if (reading != READING_LATER)
			return reading == READING_DONE;
		poll(NULL, 0, 1);
	}
	return false;
}

static bool match_mark(pid_t pid, void *data)
{
	struct mark_search *search = data;

	if (is_ours(pid) && read_settled(pid, &search->environment) &&
	    holds_entry(&search->environment, search->entry))
		search->fn(pid, search->data);
	return false;
}

void process_each_marked(const char *entry, void (*fn)(pid_t pid, void *data), void *data)
{
	struct mark_search search = {.entry = entry, .fn = fn, .data = data};

	each_process(match_mark, &search);
	text_done(&search.environment);
}

/* T: stopped by a signal; t: by a tracer (proc(5)). */
static void look_whether_stopped(pid_t pid, void *data)
{
	bool *is_stopped = data;
	struct stat_line line;

	if (*is_stopped || !read_stat(pid, &line))
		return;
	if (line.state == 'T' || line.state == 't')
		*is_stopped = true;
	else
		process_each_child(pid, look_whether_stopped, data);
}

bool process_is_stopped(pid_t pid)
{
	bool is_stopped = false;

	look_whether_stopped(pid, &is_stopped);
	return is_stopped;
}
