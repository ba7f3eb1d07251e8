#include "io/process_stat.h"

#include "io/file.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_SIZE 64
#define LINE_SIZE 4096
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

char *process_stat_status(pid_t pid)
{
	char path[PATH_SIZE], *text = NULL;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/status", (int) pid);
	return file_read_whole(path, STATUS_LIMIT, &text, &len, NULL) < 0 ? NULL : text;
}

/* "SigBlk:\t0000000000010000" */
bool process_stat_has_signal(const char *status, const char *mask, int number)
{
	const char *line = strstr(status, mask);

	return line && strtoull(line + strlen(mask), NULL, 16) >> (number - 1) & 1;
}

ssize_t process_stat_read_file(const char *path, char *buf, size_t size)
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
	char path[PATH_SIZE], line[LINE_SIZE];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int) pid);
	if (process_stat_read_file(path, line, sizeof(line)) <= 0)
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

bool process_stat_has_ended(const struct process_stat *stat)
{
	return (stat->state == 'Z' && stat->n_threads <= 1) || stat->state == 'X';
}

pid_t process_stat_next(DIR *proc)
{
	struct dirent *entry;

	while (proc && (entry = readdir(proc)))
		if (isdigit((unsigned char) entry->d_name[0]))
			return atoi(entry->d_name);
	return 0;
}
