#include "unit.h"

#include "base/json.h"
#include "base/mem.h"
#include "jobs/supervisor_id.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* A process that waits, and what a record would say if it was a supervisor. */
static pid_t start_supervisor(char **ret_text)
{
	struct process_identity identity;
	struct json *json CLEANUP(json_cleanup) = json_new_object();
	struct text text CLEANUP(text_done) = {0};
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	assert_int_equal(process_identify(pid, &identity, NULL), 0);
	const char *const sides[] = {"outer", "inner"};
	for (size_t i = 0; i < ARRAY_LEN(sides); i++) {
		struct json *side = json_object_at(json, sides[i]);

		json_set_integer(side, "pid", identity.pid);
		json_set_integer(side, "startTime", (int64_t) identity.start_time);
		json_set_string(side, "bootId", identity.boot_id);
		json_set_integer(side, "pidSpace", (int64_t) identity.pid_space);
	}
	json_add_compact(&text, json);
	*ret_text = text_take(&text);
	return pid;
}

/* The debugger's stop before the exit stands for a machine that lets it wait for a processor. */
TEST(a_supervisor_that_was_sent_kill_looks_after_nothing_although_it_is_there)
{
	char *text CLEANUP(mem_free_text) = NULL;
	pid_t pid = start_supervisor(&text);
	siginfo_t stopped;

	assert_int_equal(supervisor_fate(text), SUPERVISOR_ALIVE);
	if (ptrace(PTRACE_SEIZE, pid, NULL, (void *) PTRACE_O_TRACEEXIT) < 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		skip(); /* a container that forbids it */
	}
	kill(pid, SIGTERM);
	assert_int_equal(waitid(P_PID, (id_t) pid, &stopped, WSTOPPED), 0);
	assert_int_equal(supervisor_fate(text), SUPERVISOR_ALIVE);
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t) pid, &stopped, WSTOPPED), 0);
	assert_int_equal(stopped.si_status >> 8, PTRACE_EVENT_EXIT);
	assert_int_equal(supervisor_fate(text), SUPERVISOR_KILLED);
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	waitpid(pid, NULL, 0);
	assert_int_equal(supervisor_fate(text), SUPERVISOR_KILLED);
}
