#include "cli/fetched_logs.h"

#include "base/mem.h"
#include "command/output.h"
#include "io/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>

int temporary_folder_create(const char *name, char **ret_path, struct err *err)
{
	const char *parent = getenv("TMPDIR");
	char *path CLEANUP(mem_free_text) =
		mem_format("%s/%s-XXXXXX", parent && *parent ? parent : "/tmp", name);

	if (!mkdtemp(path))
		return err_set_errno(err, errno, "cannot create directory '%s'", path);
	*ret_path = TAKE(path);
	return 0;
}

/* For a command that ends when all was fetched. */
struct wait {
	struct fetched_logs *fetched;
	struct loop *loop;
	struct loop_watch *signals[2];
};

static void on_over(void *data)
{
	struct wait *wait = data;

	wait->fetched->is_over = true;
	loop_stop(wait->loop);
}

static void on_fetch_signal(int signal_number, void *data)
{
	struct wait *wait = data;

	wait->fetched->signal_number = signal_number;
	loop_stop(wait->loop);
}

int fetched_logs_begin(struct fetched_logs *fetched, const struct found_job *job,
		       struct client_logs_request request, struct err *err)
{
	int rc = temporary_folder_create("muster-logs", &fetched->folder, err);

	fetched->client = job->client;
	request.folder = fetched->folder;
	return rc < 0 ? rc
		      : job->client->functions->fetch_logs(job->client, job->name, &request,
							   &fetched->logs, err);
}

int fetched_logs_get(struct fetched_logs *fetched, const struct found_job *job,
		     struct client_logs_request request, struct err *err)
{
	struct wait wait = {.fetched = fetched, .loop = request.loop};

	request.on_known = NULL;
	request.on_over = on_over;
	request.data = &wait;
	int rc = fetched_logs_begin(fetched, job, request, err);

	if (rc < 0)
		return rc;
	wait.signals[0] = loop_watch_signal(request.loop, SIGINT, on_fetch_signal, &wait);
	wait.signals[1] = loop_watch_signal(request.loop, SIGTERM, on_fetch_signal, &wait);
	loop_run(request.loop);
	loop_watch_free(wait.signals[0]);
	loop_watch_free(wait.signals[1]);
	job->client->functions->end_logs(TAKE(fetched->logs));
	return 0;
}

msec fetched_logs_known_until(const struct fetched_logs *fetched)
{
	return fetched->client->functions->logs_known_until(fetched->logs);
}

void fetched_logs_done(struct fetched_logs *fetched)
{
	struct err err = {0};

	if (fetched->logs)
		fetched->client->functions->end_logs(fetched->logs);
	if (fetched->folder && folder_remove(AT_FDCWD, fetched->folder, &err) < 0)
		output_print_message("%s", err.text);
	free(fetched->folder);
	*fetched = (struct fetched_logs){0};
}
