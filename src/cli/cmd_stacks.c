/* muster stacks: the present Python stacks of a job's processes. */
#include "base/mem.h"
#include "cli/cluster_support.h"
#include "cli/commands.h"
#include "cli/found_job.h"
#include "cli/kube_cluster.h"
#include "cli/replica_name.h"
#include "jobs/processes.h"
#include "jobs/stacks_asker.h"
#include "spec/job.h"
#include "status/status.h"

struct call {
	const struct options *options;
	struct lookup *lookup;
	struct found_job found;
	struct job_state state;
	struct arena *arena; /* of the stacks */
	char *folder; /* of the job's logs; NULL: none on this machine */
	struct stacks stacks;
	struct loop *loop;
};

static void stacks_call_done(struct call *call)
{
	lookup_free(call->lookup);
	arena_free(call->arena);
	job_state_done(&call->state);
	free(call->folder);
	stacks_done(&call->stacks);
	loop_free(call->loop);
}

/* JOB [ROLE-INDEX ...] */
static bool is_replica_selected(const struct call *call, const struct replica_status *replica)
{
	const char *const *words = options_arguments(call->options);
	char *name CLEANUP(mem_free_text) = mem_format("%s-%d", replica->role, replica->index);

	for (size_t i = 1; words[0] && words[i]; i++)
		if (text_equals(words[i], name))
			return true;
	return options_n_arguments(call->options) <= 1;
}

static int find_job_of_stacks(struct call *call, struct err *err)
{
	const char *const *words = options_arguments(call->options);
	/* Without a name it is the one that runs: the one that hangs. */
	int rc =
		words[0] ? ERR_NOT_FOUND : lookup_only_running_job(call->lookup, &call->found, err);

	if (rc == ERR_NOT_FOUND)
		rc = lookup_job(call->lookup, words[0], &call->found, err);
	if (rc || job_state_read(&call->found, &call->state, err))
		return err->code;
	for (size_t i = 1; words[0] && words[i]; i++) {
		struct log_name replica;

		if (replica_name_take_log_name(words[i], &replica, err) < 0)
			return err->code;
		if (!status_replica(&call->state.status, replica.role, replica.index))
			return err_set(err, ERR_NOT_FOUND, "job '%s' has no %s", call->found.name,
				       words[i]);
	}
	return 0;
}

/* On this machine. */

static void on_stacks_done(void *data)
{
	struct call *call = data;

	loop_stop(call->loop);
}

static int add_stacks_here(struct call *call, struct err *err)
{
	const struct status *status = &call->state.status;
	struct stacks_replica *running CLEANUP(mem_free_any) =
		mem_new_array(status->n_replicas + 1, sizeof(*running));
	const char *uid =
		json_as_string(json_get_path(call->state.object, "metadata", "uid", NULL), "");
	size_t n_running = 0;
	int rc = call->found.client->functions->log_folder(call->found.client, call->found.name,
							   &call->folder, err);

	for (size_t i = 0; rc == 0 && i < status->n_replicas; i++) {
		const struct replica_status *replica = &status->replicas[i];

		if (is_replica_selected(call, replica) && replica->pid > 0)
			running[n_running++] =
				(struct stacks_replica){replica->role, replica->index,
							replica->attempt, (pid_t) replica->pid};
	}
	if (rc == 0 && n_running)
		rc = loop_new(&call->loop, err);
	if (rc < 0 || n_running == 0)
		return rc;
	const struct stacks_asker_settings settings = {call->loop, call->folder, uid,
						       on_stacks_done, call};
	struct stacks_asker *asker = stacks_asker_new(&settings, running, n_running);

	loop_run(call->loop);
	stacks_asker_read(asker, call->arena, &call->stacks);
	stacks_asker_free(asker);
	return 0;
}

/* The stored stacks of a job that has finished. */
static void read_kept(struct call *call)
{
	for (size_t i = 0; call->folder && i < call->state.status.n_replicas; i++) {
		const struct replica_status *replica = &call->state.status.replicas[i];
		char *path CLEANUP(mem_free_text) = job_attempt_file(
			call->folder, replica->role, replica->index, replica->attempt, STACKS_FILE);
		char *kept CLEANUP(mem_free_text) =
			is_replica_selected(call, replica) ? stacks_file_text(path) : NULL;

		if (kept)
			stacks_read(&call->stacks, kept, replica->role, replica->index,
				    call->arena);
	}
}

/* In Pods. */

static int add_stacks_of_pods(struct call *call, struct err *err)
{
	const struct status *status = &call->state.status;
	const struct replica_status **running CLEANUP(mem_free_any) =
		mem_new_array(status->n_replicas + 1, sizeof(*running));
	struct stacks_on_cluster_call pods = {
		.options = call->options,
		.namespace_name = call->found.namespace_name,
		.replicas = running,
		.arena = call->arena,
	};

	if (client_read_job(call->state.object, &call->state.job, err) < 0)
		return err->code;
	pods.job = call->state.job;
	for (size_t i = 0; i < status->n_replicas; i++) {
		const struct replica_status *replica = &status->replicas[i];

		if (is_replica_selected(call, replica) && replica->pod &&
		    job_role(pods.job, replica->role) && replica->state == REPLICA_RUNNING)
			running[pods.n_replicas++] = replica;
	}
	int rc = pods.n_replicas ? cluster_support->add_stacks(&pods, &call->stacks, err) : 0;

	if (rc != ERR_UNSUPPORTED)
		return rc;
	/* A user can add py-spy while the Pods run. */
	char *words CLEANUP(mem_free_text) = found_job_words(&call->found);
	const struct err fault = *err;

	return err_set(err, ERR_UNSUPPORTED,
		       "job '%s': %s; add it to the image, or to a running Pod: "
		       "muster exec %s %s-%d -- pip install py-spy",
		       call->found.name, fault.text, words, running[0]->role, running[0]->index);
}

static int print_job_stacks(struct call *call, struct err *err)
{
	struct text text CLEANUP(text_done) = {0};
	bool has_ended = call->stacks.count == 0;

	if (has_ended)
		read_kept(call);
	if (call->stacks.count == 0)
		return err_set(err, ERR_NOT_FOUND,
			       "job '%s': no process is running, and no stacks were saved",
			       call->found.name);
	if (has_ended)
		output_print_message(
			"job '%s' has finished; these stacks were saved before it was stopped",
			call->found.name);
	bool has_all_threads = option_flag(call->options, "all-threads");

	if (option_text(call->options, "output")) {
		struct json *list CLEANUP(json_cleanup) =
			stacks_to_json(&call->stacks, has_all_threads);

		output_add_object(list, "json");
		return 0;
	}
	stacks_describe(&call->stacks, has_all_threads, &text);
	output_add(&text);
	return 0;
}

static int stacks_run(const struct options *options)
{
	struct call call CLEANUP(stacks_call_done) = {
		.options = options, .lookup = lookup_new(options), .arena = arena_new()};
	struct err err = {0};

	int rc = find_job_of_stacks(&call, &err);

	if (rc == 0)
		rc = call.found.namespace_name ? add_stacks_of_pods(&call, &err)
					       : add_stacks_here(&call, &err);
	if (rc == 0)
		rc = print_job_stacks(&call, &err);
	return rc < 0 ? output_fail(&err) : EXIT_DONE;
}

static const struct option_row rows_of_stacks[] = {
	FLAG("all-threads", "print the stacks of all threads (default: main threads only)"),
	WORDS("output", "json", NULL, "print an array with one object for each stack",
	      .letter = 'o'),
	CLUSTER_JOB_ROWS,
	{0},
};

const struct command command_stacks = {
	.name = "stacks",
	.group = "Inspect",
	.arguments = "[OPTIONS] [JOB [ROLE-INDEX...]]",
	.one_line = "print the Python stacks of a job's processes",
	.examples = "  muster stacks digits-x7k2p\n"
		    "  muster stacks --all-threads digits-x7k2p worker-1\n",
	.options = rows_of_stacks,
	.most_arguments = COMMAND_ANY_NUMBER,
	.run = stacks_run,
};
