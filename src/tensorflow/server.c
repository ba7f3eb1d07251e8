#include "tensorflow/server.h"

#include "base/protobuf.h"

#include <assert.h>

int server_start(const struct library *library, const struct text *server_def, const char *protocol,
		 const char **ret_target, struct err *err)
{
	struct TF_Status *status = library->new_status();
	struct TF_Server *server =
		library->new_server(text_of(server_def), server_def->len, status);
	int rc = 0;

	if (library->get_code(status) == TF_CODE_OK)
		library->server_start(server, status);
	if (library->get_code(status) == TF_CODE_OK)
		*ret_target = library->server_target(server);
	/* ServerFactory::GetFactory searches the factories linked into the library; its message
	 * contains the whole cluster. */
	else if (library->get_code(status) == TF_CODE_NOT_FOUND)
		rc = err_set(err, ERR_UNSUPPORTED,
			     "TensorFlow %s in '%s' has no server for protocol '%s'",
			     library->version(), library->path, protocol);
	else
		rc = err_set(err, ERR_REFUSED, "TensorFlow cannot create the server: %s",
			     library->message(status));
	library->delete_status(status);
	return rc;
}

/* Field numbers. */
enum {
	SERVER_CLUSTER = 1,
	SERVER_JOB_NAME = 2,
	SERVER_TASK_INDEX = 3,
	SERVER_SESSION_CONFIG = 4,
	SERVER_PROTOCOL = 5,
	CLUSTER_JOB = 1,
	JOB_NAME = 1,
	JOB_TASKS = 2,
	ENTRY_KEY = 1,
	ENTRY_VALUE = 2,
	CONFIG_INTER_OP_THREADS = 5,
	CONFIG_GPU_OPTIONS = 6,
	GPU_MEMORY_FRACTION = 1,
};

/* Readers ignore the order of map entries. Python's protobuf (upb) writes the last one first,
 * because it fills its buffer from the end. */
static void add_job(const struct spec_job *job, struct text *cluster_def)
{
	struct text job_def CLEANUP(text_done) = {0};

	protobuf_add_text(&job_def, JOB_NAME, job->name);
	/* A map entry has both its fields, even with default values. */
	for (size_t i = job->n_tasks; i-- > 0;) {
		struct text entry CLEANUP(text_done) = {0};

		protobuf_add_number(&entry, ENTRY_KEY, job->tasks[i].index);
		protobuf_add_text(&entry, ENTRY_VALUE, job->tasks[i].address);
		protobuf_add_message(&job_def, JOB_TASKS, &entry);
	}
	protobuf_add_message(cluster_def, CLUSTER_JOB, &job_def);
}

static void add_session_config(const struct server_settings *settings, struct text *message)
{
	struct text config CLEANUP(text_done) = {0};
	struct text gpu_options CLEANUP(text_done) = {0};

	if (settings->inter_op_threads > 0)
		protobuf_add_number(&config, CONFIG_INTER_OP_THREADS, settings->inter_op_threads);
	if (settings->gpu_memory_fraction > 0) {
		protobuf_add_double(&gpu_options, GPU_MEMORY_FRACTION,
				    settings->gpu_memory_fraction);
		protobuf_add_message(&config, CONFIG_GPU_OPTIONS, &gpu_options);
	}
	if (config.len > 0)
		protobuf_add_message(message, SERVER_SESSION_CONFIG, &config);
}

void server_def_add(const struct cluster_spec *spec, const struct server_settings *settings,
		    struct text *message)
{
	struct text cluster_def CLEANUP(text_done) = {0};

	assert(spec->own);
	for (size_t i = 0; i < spec->n_jobs; i++)
		add_job(&spec->jobs[i], &cluster_def);
	protobuf_add_message(message, SERVER_CLUSTER, &cluster_def);
	protobuf_add_text(message, SERVER_JOB_NAME, spec->own->job);
	if (spec->own->index > 0)
		protobuf_add_number(message, SERVER_TASK_INDEX, spec->own->index);
	add_session_config(settings, message);
	protobuf_add_text(message, SERVER_PROTOCOL, settings->protocol);
}
