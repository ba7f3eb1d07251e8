#include "jobs/client.h"

#include "base/mem.h"
#include "reconcile/summary.h"
#include "spec/job.h"
#include "store/store.h"

int client_read_job(const struct json *tfjob, struct job **ret_job, struct err *err)
{
	struct faults faults CLEANUP(faults_done) = {0};

	if (job_read(tfjob, NULL, JOB_LENIENT, &faults, ret_job) < 0)
		return err_set(err, ERR_IO, "job '%s' cannot be read: %s: %s",
			       json_as_string(json_get_path(tfjob, "metadata", "name", NULL), ""),
			       faults.list[0].path, faults.list[0].sentence);
	return 0;
}

bool client_job_is_unsupervised(const struct json *job)
{
	const struct json *supervisor = json_get_path(job, "status", CLIENT_SUPERVISED_BY, NULL);

	return text_equals(json_as_string(supervisor, NULL), "");
}

bool client_job_is_served(const struct json *job)
{
	return json_get_path(job, "status", CLIENT_SERVED_BY, NULL);
}

struct client_row client_row_new(const struct store_record *record, const struct summary *summary,
				 const char *namespace_name)
{
	return (struct client_row){
		.name = mem_copy_text(record->name),
		.uid = mem_copy_text(record->uid),
		.state = mem_copy_text(summary->state),
		.roles = mem_copy_text(summary->roles),
		.where = namespace_name ? mem_format("kubernetes/%s", namespace_name)
					: mem_copy_text("local"),
		.namespace_name = mem_copy_text(namespace_name),
		.command = mem_copy_text(summary->command),
		.message = mem_copy_text(summary->message),
		.version = record->version,
		.running = summary->running,
		.wanted = summary->wanted,
		.restarts = summary->restarts,
		.exit_code = summary->exit_code,
		.is_finished = summary->is_finished,
		.created = record->created,
		.start_time = summary->start_time,
		.completion_time = summary->completion_time,
	};
}

void client_row_done(struct client_row *row)
{
	free(row->name);
	free(row->uid);
	free(row->state);
	free(row->roles);
	free(row->where);
	free(row->namespace_name);
	free(row->command);
	free(row->message);
	free(row->gpus);
}

void client_rows_free(struct client_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		client_row_done(&rows[i]);
	free(rows);
}
