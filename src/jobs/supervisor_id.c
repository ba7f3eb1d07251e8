#include "jobs/supervisor_id.h"

#include "io/file.h"
#include "io/loop.h"
#include "io/own_group.h"

#include <poll.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

static void set_host(char host[65])
{
	struct utsname names;

	if (uname(&names) == 0)
		snprintf(host, 65, "%s", names.nodename);
}

static struct json *identity_write(const struct process_identity *identity)
{
	struct json *json = json_new_object();

	json_set_integer(json, "pid", identity->pid);
	json_set_integer(json, "startTime", (int64_t) identity->start_time);
	json_set_string(json, "bootId", identity->boot_id);
	json_set_integer(json, "pidSpace", (int64_t) identity->pid_space);
	return json;
}

static bool identity_read(const struct json *json, struct process_identity *ret_identity)
{
	ret_identity->pid = (pid_t) json_as_integer(json_get(json, "pid"), 0);
	ret_identity->start_time = (uint64_t) json_as_integer(json_get(json, "startTime"), 0);
	ret_identity->pid_space = (uint64_t) json_as_integer(json_get(json, "pidSpace"), 0);
	snprintf(ret_identity->boot_id, sizeof(ret_identity->boot_id), "%s",
		 json_get_string(json, "bootId", ""));
	return ret_identity->pid > 0;
}

static void add_identities(struct json *object, const struct process_identity *outer,
			   const struct process_identity *inner)
{
	char host[65] = "";

	set_host(host);
	json_set_string(object, "host", host);
	json_set(object, "outer", identity_write(outer));
	json_set(object, "inner", identity_write(inner));
}

int supervisor_id_write_own(bool is_alone, char **ret_text, struct err *err)
{
	struct process_identity outer = {0}, inner = {0};
	int rc = process_identify(is_alone ? getpid() : getppid(), &outer, err);

	if (rc == 0)
		rc = process_identify(getpid(), &inner, err);
	if (rc < 0)
		return rc;
	struct json *json CLEANUP(json_cleanup) = json_new_object();

	add_identities(json, &outer, &inner);
	json_set_string(json, "group", own_group_folder());
	*ret_text = json_compact_text(json);
	return 0;
}

void supervisor_id_add_own(struct json *object)
{
	struct process_identity own = {0};

	if (process_identify(getpid(), &own, NULL) == 0)
		add_identities(object, &own, &own);
}

bool supervisor_id_read(const char *text, struct supervisor_id *ret_id)
{
	struct json *json CLEANUP(json_cleanup) = NULL;
	struct supervisor_id id = {0};

	if (!text || !text[0] || json_read(text, strlen(text), &json, NULL) < 0)
		return false;
	snprintf(id.host, sizeof(id.host), "%s", json_get_string(json, "host", ""));
	if (!identity_read(json_get(json, "outer"), &id.outer) ||
	    !identity_read(json_get(json, "inner"), &id.inner))
		return false;
	*ret_id = id;
	return true;
}

void supervisor_end_group(const char *text)
{
	struct json *json CLEANUP(json_cleanup) = NULL;
	struct supervisor_id id;

	if (!supervisor_id_read(text, &id) || json_read(text, strlen(text), &json, NULL) < 0)
		return;
	own_group_clean_up(json_get_string(json, "group", ""), &id.outer);
}

static bool looks_after_it(const struct process_identity *identity)
{
	pid_t pid = process_find(identity);

	return pid && !process_is_being_killed(pid);
}

bool supervisor_is_alive(const char *text)
{
	struct supervisor_id id;

	return supervisor_id_read(text, &id) && looks_after_it(&id.outer) &&
	       looks_after_it(&id.inner);
}

pid_t supervisor_find(const char *text)
{
	struct supervisor_id id;

	return supervisor_id_read(text, &id) ? process_find(&id.inner) : 0;
}

enum supervisor_fate supervisor_fate(const char *text)
{
	struct supervisor_id id;
	struct process_identity own;
	struct json *json CLEANUP(json_cleanup) = NULL;
	char host[65] = "";

	if (text && text[0] && json_read(text, strlen(text), &json, NULL) == 0 &&
	    json_get(json, "cluster"))
		return SUPERVISOR_ON_CLUSTER;
	if (!supervisor_id_read(text, &id))
		return SUPERVISOR_NONE;
	if (supervisor_is_alive(text))
		return SUPERVISOR_ALIVE;
	if (process_need_proc(NULL) < 0)
		return SUPERVISOR_UNSEEN;
	if (process_identify(getpid(), &own, NULL) < 0 ||
	    text_equals(own.boot_id, id.outer.boot_id))
		return SUPERVISOR_KILLED;
	set_host(host);
	return text_equals(host, id.host) ? SUPERVISOR_REBOOTED : SUPERVISOR_ELSEWHERE;
}

/* A pidfd; -1: it is not alive, or this process itself. */
static int open_process(const struct process_identity *identity)
{
	pid_t pid = process_find(identity);
	int fd = pid && pid != getpid() ? (int) syscall(SYS_pidfd_open, pid, 0) : -1;

	/* Only now does the pid surely belong to the process of the pidfd. */
	if (fd >= 0 && process_find(identity) != pid)
		file_close(&fd);
	return fd;
}

size_t supervisor_open(const char *text, int ret_fds[2])
{
	struct supervisor_id id;
	size_t count = 0;

	if (!supervisor_id_read(text, &id))
		return 0;
	ret_fds[count] = open_process(&id.inner);
	count += ret_fds[count] >= 0;
	ret_fds[count] = open_process(&id.outer);
	return count + (ret_fds[count] >= 0);
}

void supervisor_wait(const char *text, instant until)
{
	int fds[2];
	size_t count = supervisor_open(text, fds);

	for (size_t i = 0; i < count; i++) {
		struct pollfd end = {.fd = fds[i], .events = POLLIN};

		poll(&end, 1, loop_milliseconds_until(until));
		file_close(&fds[i]);
	}
}
