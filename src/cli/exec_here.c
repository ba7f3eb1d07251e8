#include "cli/exec_here.h"

#include "base/mem.h"
#include "base/text.h"
#include "engine/backend_local_start.h"
#include "engine/process_mark.h"
#include "io/process.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* By its marks a process counts as the job's, and would be ended with what the job has left. */
static bool is_mark(const char *entry)
{
	return text_starts_with(entry, ENVIRONMENT_JOB_MARK "=") ||
	       text_starts_with(entry, ENVIRONMENT_ATTEMPT_MARK "=");
}

/* The entries of a text, and NULL. Caller frees the list. */
static char **list_entries(struct text *text)
{
	size_t count = 0, capacity = 0;
	char **entries = NULL;

	for (size_t at = 0; at < text->len; at += strlen(text->bytes + at) + 1) {
		mem_grow(&entries, &capacity, count + 1, sizeof(*entries));
		if (!is_mark(text->bytes + at))
			entries[count++] = text->bytes + at;
	}
	mem_grow(&entries, &capacity, count, sizeof(*entries));
	entries[count] = NULL;
	return entries;
}

static int enter_folder(const struct replica_status *replica, struct err *err)
{
	char *folder CLEANUP(mem_free_text) = mem_format("/proc/%d/cwd", (int) replica->pid);

	if (chdir(folder) < 0)
		return err_set_errno(err, errno, "cannot enter the working folder of %s-%d",
				     replica->role, replica->index);
	return 0;
}

/* A pid may be another process by now; a mark is of one attempt. */
static bool is_running(const char *job_uid, const struct replica_status *replica)
{
	char *mark CLEANUP(mem_free_text) =
		local_start_mark(job_uid, replica->role, replica->index, replica->attempt);

	return replica->pid > 0 && process_has_mark((pid_t) replica->pid, mark);
}

/* PATH is the replica's, in which the program is looked for. */
static int go_on_as(char **environment, const char *const *command, struct err *err)
{
	char **own = environ;

	environ = environment;
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	execvp(command[0], (char *const *) command);
	environ = own;
	return errno == ENOENT ? err_set(err, ERR_NOT_FOUND, "%s: no such program", command[0])
			       : err_set_errno(err, errno, "cannot run '%s'", command[0]);
}

int exec_here(const char *job_uid, const struct replica_status *replica, const char *const *command,
	      struct err *err)
{
	struct text text CLEANUP(text_done) = {0};

	if (!is_running(job_uid, replica))
		return err_set(err, ERR_CONFLICT,
			       "%s-%d does not run (%s), and so has no environment to run in",
			       replica->role, replica->index, replica_state_words[replica->state]);
	int rc = process_add_environment((pid_t) replica->pid, &text, err);

	if (rc == 0)
		rc = enter_folder(replica, err);
	if (rc < 0)
		return rc;
	char **environment CLEANUP(mem_free_any) = list_entries(&text);

	return go_on_as(environment, command, err);
}
