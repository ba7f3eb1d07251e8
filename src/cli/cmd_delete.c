/* muster delete: ends jobs that run, and forgets them with their logs. */
#include "cli/command.h"
#include "cli/lookup.h"
#include "cli/options.h"
#include "cli/output.h"
#include "core/job.h"

/* Asks for the end; a job that has ended stays as it is. Only a job that is not there is told of:
 * whatever else is in the way, forgetting meets it again. */
static int begin_end(struct client *client, const char *argument, struct err *err)
{
	const char *name;

	if (lookup_name(argument, &name, err))
		return err->code;
	int rc = client->functions->stop(client, name, stop_reason_words[STOP_REQUESTED], -1, err);

	return rc == ERR_NOT_FOUND ? lookup_hint(client, name, err) : 0;
}

static int forget(struct client *client, const char *argument, struct err *err)
{
	const char *name;

	if (lookup_name(argument, &name, err))
		return err->code;
	int rc = client->functions->remove(client, name, err);

	/* Somebody else was faster, or the name was given twice. */
	return rc == ERR_NOT_FOUND ? 0 : rc;
}

/* Every job is asked to end before the first is waited for, so that they end side by side. */
static int delete_named(struct client *client, const char *const *names, size_t count)
{
	struct err err = {0};
	int exit_code = EXIT_DONE;

	for (size_t i = 0; i < count; i++)
		if (begin_end(client, names[i], &err))
			exit_code = output_fail(&err);
	for (size_t i = 0; i < count; i++)
		if (forget(client, names[i], &err))
			exit_code = output_fail(&err);
	return exit_code;
}

static int delete_finished(struct client *client)
{
	struct err err = {0};
	struct client_row *rows = NULL;
	size_t count = 0;
	int exit_code = EXIT_DONE;

	if (client->functions->list(client, &rows, &count, &err))
		return output_fail(&err);
	for (size_t i = 0; i < count; i++) {
		if (!rows[i].is_finished)
			continue;
		int rc = client->functions->remove(client, rows[i].name, &err);
		if (rc && rc != ERR_NOT_FOUND)
			exit_code = output_fail(&err);
	}
	client_rows_free(rows, count);
	return exit_code;
}

static int delete_run(const struct options *options)
{
	struct err err = {0};
	struct client *client CLEANUP(lookup_close) = NULL;
	bool is_all_finished = option_flag(options, "all-finished");
	size_t count;
	const char *const *names = options_arguments(options, &count);

	if (is_all_finished == (count > 0)) {
		output_say("delete: name the jobs, or give --all-finished");
		return EXIT_WRONG_USE;
	}
	if (lookup_open(options, &client, &err))
		return output_fail(&err);
	return is_all_finished ? delete_finished(client) : delete_named(client, names, count);
}

static const struct option_row rows_of_delete[] = {
	{.name = "all-finished", .kind = OPTION_FLAG, .one_line = "every job that has ended"},
	{0},
};

const struct command command_delete = {
	.name = "delete",
	.group = "Act",
	.arguments = "[OPTIONS] JOB...\n[OPTIONS] --all-finished",
	.one_line = "end jobs that run, and forget them with their logs",
	.examples = "  muster delete digits-x7k2p\n"
		    "  muster delete --all-finished\n",
	.options = rows_of_delete,
	.most_arguments = COMMAND_ANY_NUMBER,
	.run = delete_run,
};
