/* Fields are read from the end: a host's name may have any character in it. */
#include "kube/lease_holder.h"

#include "base/mem.h"
#include "base/text.h"
#include "io/process.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <unistd.h>

#define SEPARATOR '_'

int lease_holder_new(char **ret_text, struct err *err)
{
	struct process_identity own;
	struct utsname names = {.nodename = ""};
	uint32_t number = 0;
	int rc = process_identify(getpid(), &own, err);

	if (rc < 0)
		return rc;
	uname(&names);
	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return err_set(err, ERR_IO, "cannot get a random number");
	*ret_text = mem_format("%.100s_%d_%llu_%llu_%s_%08x", names.nodename, (int) own.pid,
			       (unsigned long long) own.start_time,
			       (unsigned long long) own.pid_space, own.boot_id, number);
	return 0;
}

/* Cuts the last field off; NULL where there is none. */
static const char *take_last(char *text)
{
	char *separator = strrchr(text, SEPARATOR);

	if (!separator)
		return NULL;
	*separator = '\0';
	return separator + 1;
}

static bool take_last_number(char *text, int64_t high, int64_t *ret_number)
{
	const char *field = take_last(text);

	return field && text_read_int(field, 0, high, ret_number, NULL) == 0;
}

/* What is left of `text` is the host. */
static bool read_fields(char *text, struct process_identity *ret_identity)
{
	int64_t pid, start_time, pid_space;
	const char *number = take_last(text);
	const char *boot_id = take_last(text);

	if (!number || !boot_id || !take_last_number(text, INT64_MAX, &pid_space) ||
	    !take_last_number(text, INT64_MAX, &start_time) ||
	    !take_last_number(text, INT_MAX, &pid))
		return false;
	ret_identity->pid = (pid_t) pid;
	ret_identity->start_time = (uint64_t) start_time;
	ret_identity->pid_space = (uint64_t) pid_space;
	snprintf(ret_identity->boot_id, sizeof(ret_identity->boot_id), "%s", boot_id);
	return true;
}

enum lease_fate lease_holder_fate(const char *text)
{
	char *fields CLEANUP(mem_free_text) = mem_copy_text(text);
	struct process_identity holder = {0}, own;

	if (!read_fields(fields, &holder) || process_identify(getpid(), &own, NULL) < 0 ||
	    !text_equals(holder.boot_id, own.boot_id) || holder.pid_space != own.pid_space)
		return LEASE_FATE_UNKNOWN;
	if (!process_is_alive(&holder))
		return LEASE_FATE_GONE;
	return process_is_stopped(holder.pid) ? LEASE_FATE_UNKNOWN : LEASE_FATE_ALIVE;
}

char *lease_holder_describe(const char *text)
{
	char *fields CLEANUP(mem_free_text) = mem_copy_text(text);
	struct process_identity holder = {0};
	struct err plain = {0};

	if (read_fields(fields, &holder))
		err_set(&plain, ERR_EXISTS, "muster on %s (process %d)", fields, (int) holder.pid);
	else
		err_set(&plain, ERR_EXISTS, "%s", text);
	return mem_copy_text(plain.text);
}
