#include "cli/brought_logs.h"

#include "base/mem.h"
#include "cli/output.h"
#include "io/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>

static int make_folder(char **ret_folder, struct err *err)
{
	const char *parent = getenv("TMPDIR");
	char *folder CLEANUP(mem_free_text) =
		mem_format("%s/muster-logs-XXXXXX", parent && *parent ? parent : "/tmp");

	if (!mkdtemp(folder))
		return err_set_errno(err, errno, "cannot make folder '%s'", folder);
	*ret_folder = TAKE(folder);
	return 0;
}

/* For a call that ends when all is there. */
struct wait {
	struct brought_logs *brought;
	struct client_logs_request asked;
	struct loop_watch *signals[2];
};

static void on_over(void *data)
{
	struct wait *wait = data;

	wait->brought->is_over = true;
	loop_stop(wait->asked.loop);
}

static void on_trouble(const char *sentence, void *data)
{
	const struct wait *wait = data;

	wait->asked.on_trouble(sentence, wait->asked.data);
}

static void on_signal(int signal_number, void *data)
{
	struct wait *wait = data;

	wait->brought->signal_number = signal_number;
	loop_stop(wait->asked.loop);
}

static int bring(struct brought_logs *brought, const char *name,
		 const struct client_logs_request *request, struct err *err)
{
	return brought->client->functions->bring_logs(brought->client, name, request,
						      &brought->logs, err);
}

/* Runs the loop until all of it is there. */
static int bring_all(struct brought_logs *brought, const char *name,
		     const struct client_logs_request *request, struct err *err)
{
	struct wait wait = {.brought = brought, .asked = *request};
	struct client_logs_request own = *request;

	own.on_over = on_over;
	own.on_trouble = on_trouble;
	own.data = &wait;
	int rc = bring(brought, name, &own, err);

	if (rc < 0)
		return rc;
	wait.signals[0] = loop_watch_signal(request->loop, SIGINT, on_signal, &wait);
	wait.signals[1] = loop_watch_signal(request->loop, SIGTERM, on_signal, &wait);
	loop_run(request->loop);
	loop_watch_free(wait.signals[0]);
	loop_watch_free(wait.signals[1]);
	brought->client->functions->end_logs(TAKE(brought->logs));
	return 0;
}

int brought_logs_begin(struct brought_logs *brought, struct client *client, const char *name,
		       struct client_logs_request request, struct err *err)
{
	int rc = make_folder(&brought->folder, err);

	brought->client = client;
	request.folder = brought->folder;
	if (rc < 0)
		return rc;
	return request.follows ? bring(brought, name, &request, err)
			       : bring_all(brought, name, &request, err);
}

void brought_logs_done(struct brought_logs *brought)
{
	struct err err = {0};

	if (brought->logs)
		brought->client->functions->end_logs(brought->logs);
	if (brought->folder && folder_remove(AT_FDCWD, brought->folder, &err) < 0)
		output_say("%s", err.text);
	free(brought->folder);
	*brought = (struct brought_logs){0};
}
