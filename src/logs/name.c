#include "logs/name.h"

#include "base/mem.h"
#include "base/text.h"

#include <string.h>

#define STDERR_PART ".stderr"

static const char *const endings[LOG_FILE_COUNT] = {
	[LOG_FILE_TEXT] = "log",
	[LOG_FILE_INDEX] = "index",
	[LOG_FILE_OLD_TEXT] = "log.1",
	[LOG_FILE_OLD_INDEX] = "index.1",
};

int log_name_make(const char *role, int index, int attempt, struct log_name *ret_name,
		  struct err *err)
{
	struct log_name name = {.index = index, .attempt = attempt};

	if (strlen(role) >= sizeof(name.role))
		return err_set(err, ERR_LIMIT, "role '%s' is longer than %d characters", role,
			       LOG_ROLE_SIZE - 1);
	memcpy(name.role, role, strlen(role));
	*ret_name = name;
	return 0;
}

char *log_name_path(const char *folder, const struct log_name *name, enum log_file file)
{
	return mem_format("%s/%s-%d.%d%s.%s", folder, name->role, name->index, name->attempt,
			  name->is_stderr ? STDERR_PART : "", endings[file]);
}

char *log_name_stderr_path(const char *stdout_path)
{
	const char *dot = strrchr(stdout_path, '.');

	return mem_format("%.*s" STDERR_PART "%s", (int) (dot - stdout_path), stdout_path, dot);
}

/* Reads the digits at `text`; returns the text after them, or NULL if there are none or too many
 * for any number of ours. */
static const char *read_digits(const char *text, int *ret_number)
{
	int number = 0;
	const char *at = text;

	for (; *at >= '0' && *at <= '9'; at++) {
		if (at - text == 9)
			return NULL;
		number = number * 10 + (*at - '0');
	}
	*ret_number = number;
	return at > text ? at : NULL;
}

bool log_name_read(const char *file_name, struct log_name *ret_name)
{
	struct log_name name = {0};
	const char *dot = strchr(file_name, '.');
	const char *dash = dot ? memrchr(file_name, '-', (size_t) (dot - file_name)) : NULL;

	if (!dash || dash == file_name || dash - file_name >= LOG_ROLE_SIZE)
		return false;
	memcpy(name.role, file_name, (size_t) (dash - file_name));
	if (read_digits(dash + 1, &name.index) != dot)
		return false;
	const char *ending = read_digits(dot + 1, &name.attempt);

	if (ending && text_starts_with(ending, STDERR_PART ".")) {
		name.is_stderr = true;
		ending += strlen(STDERR_PART);
	}
	if (!ending || *ending != '.')
		return false;
	if (strcmp(ending + 1, endings[LOG_FILE_TEXT]) != 0 &&
	    strcmp(ending + 1, endings[LOG_FILE_OLD_TEXT]) != 0)
		return false;
	*ret_name = name;
	return true;
}

int log_name_compare(const struct log_name *a, const struct log_name *b)
{
	int roles = strcmp(a->role, b->role);

	if (roles != 0)
		return roles;
	if (a->index != b->index)
		return a->index < b->index ? -1 : 1;
	if (a->is_stderr != b->is_stderr)
		return a->is_stderr ? 1 : -1;
	return (a->attempt > b->attempt) - (a->attempt < b->attempt);
}

bool log_name_same_replica(const struct log_name *a, const struct log_name *b)
{
	return a->index == b->index && strcmp(a->role, b->role) == 0;
}

bool log_name_same_stream(const struct log_name *a, const struct log_name *b)
{
	return a->is_stderr == b->is_stderr && log_name_same_replica(a, b);
}

bool log_name_is_listed(const struct log_name *list, size_t count, const struct log_name *name)
{
	for (size_t i = 0; i < count; i++)
		if (log_name_same_replica(&list[i], name))
			return true;
	return count == 0;
}
