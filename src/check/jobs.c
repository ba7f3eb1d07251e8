#include "check/jobs.h"

#include "base/exit_code.h"
#include "check/child.h"
#include "check/command.h"
#include "io/child.h"
#include "io/file.h"
#include "io/folder.h"
#include "io/own_process.h"
#include "io/process.h"
#include "jobs/client.h"
#include "jobs/state_folder.h"
#include "spec/job.h"

#include <signal.h>

/* From SIGTERM to SIGKILL: a run gives its replicas a few seconds of grace period, and needs some
 * itself. A cluster deletes Pods in its own time, and a run killed before leaves them behind. */
#define PATIENCE (10 * MSEC_PER_SECOND)
#define PATIENCE_WITH_CLUSTER (120 * MSEC_PER_SECOND)

struct job_child {
	struct check_jobs *jobs;
	enum check_job job;
	struct check_child *child; /* NULL: none runs */
	bool follows; /* it follows the log of a job in the background */
	bool stops; /* it stops such a job */
	bool was_asked; /* was asked to end */
};

struct check_jobs {
	struct loop *loop;
	const char *state_folder;
	struct check *check;
	loop_fn on_news;
	void *data;
	struct arena *arena; /* for arguments and environment */
	struct check_programs programs;
	char **environment; /* of all children */
	struct client *client;
	struct job_child children[CHECK_JOB_COUNT];
};

static void notify_check_news(struct check_jobs *jobs)
{
	jobs->on_news(jobs->data);
}

/* Starting. */

static void on_line(const char *line, size_t len, void *data)
{
	struct job_child *child = data;

	check_add_line(child->jobs->check, child->job, line, len, loop_monotonic_now());
	notify_check_news(child->jobs);
}

static void report_check_start_failed(struct job_child *child, const struct err *err)
{
	struct check_jobs *jobs = child->jobs;
	char *line CLEANUP(mem_free_text) = mem_format("muster: %s", err->text);
	instant now = loop_monotonic_now();

	check_add_line(jobs->check, child->job, line, strlen(line), now);
	check_job_ended(jobs->check, child->job, EXIT_INTERNAL, NULL, now);
	notify_check_news(jobs);
}

static bool is_on_cluster(const struct check_jobs *jobs)
{
	return jobs->check->request.is_on_kubernetes;
}

static void start_check_job_child(struct job_child *child, char *const *arguments)
{
	struct err err = {0};
	const struct check_child_settings settings = {
		.loop = child->jobs->loop,
		.arguments = arguments,
		.environment = child->jobs->environment,
		.patience = is_on_cluster(child->jobs) ? PATIENCE_WITH_CLUSTER : PATIENCE,
		.on_line = on_line,
		.data = child,
	};

	if (check_child_start(&settings, &child->child, &err) < 0)
		report_check_start_failed(child, &err);
}

/* The content is compared, although the name has its hash: a file can be damaged or edited. */
int check_models_install(const char *state_folder, char **ret_path, struct err *err)
{
	char *folder CLEANUP(mem_free_text) = state_folder_programs(state_folder);
	char *path CLEANUP(mem_free_text) =
		mem_format("%s/check-%s.pyz", folder, check_models_hash);
	int rc = folder_check_own(state_folder, FOLDER_ADVICE_STATE, err);

	if (rc == 0)
		rc = folder_create(folder, err);
	if (rc == 0)
		rc = file_ensure(path, check_models_bytes, check_models_size, err);
	if (rc == 0)
		*ret_path = TAKE(path);
	return rc;
}

/* The models are written to disk when the first job needs them. */
static void start_job(struct job_child *child)
{
	struct check_jobs *jobs = child->jobs;
	struct check *check = jobs->check;
	char *models CLEANUP(mem_free_text) = NULL;
	struct err err = {0};

	check_job_started(check, child->job, loop_monotonic_now());
	if (child->job == CHECK_MODEL_JOB &&
	    check_models_install(jobs->state_folder, &models, &err) < 0) {
		report_check_start_failed(child, &err);
		return;
	}
	jobs->programs.model = models;
	start_check_job_child(child,
			      check_command(check, child->job, &jobs->programs, jobs->arena));
	jobs->programs.model = NULL;
}

/* Ending. */

/* On this machine the job's supervisor is asked to stop, and the log ends with the job. */
static void end_in_background(struct check_jobs *jobs, enum check_job job)
{
	/* A job that has ended needs no stop. */
	(void) jobs->client->functions->stop(jobs->client, jobs->check->jobs[job].name,
					     stop_reason_words[STOP_REQUESTED], -1, NULL);
}

static bool is_in_background(const struct job_child *child)
{
	return child->jobs->check->request.is_setup_only && child->job == CHECK_SERVERS_JOB;
}

/* Reads the status of a job's record; false: none (yet). */
static bool read_check_job_status(struct check_jobs *jobs, enum check_job job, struct arena *arena,
				  struct status *ret_status)
{
	struct client *client = jobs->client;
	struct json *object CLEANUP(json_cleanup) = NULL;

	return client->functions->get(client, jobs->check->jobs[job].name, &object, NULL) == 0 &&
	       status_read(json_get(object, "status"), arena, ret_status, NULL) == 0;
}

static struct job_child *find_child(struct check_jobs *jobs, pid_t pid)
{
	for (enum check_job job = 0; job < CHECK_JOB_COUNT; job++) {
		struct job_child *child = &jobs->children[job];

		if (child->child && check_child_pid(child->child) == pid)
			return child;
	}
	return NULL;
}

static void on_exit_of(struct job_child *child, const struct child_exit *ended)
{
	struct check_jobs *jobs = child->jobs;
	int exit_code = ended->signal ? EXIT_BY_SIGNAL + ended->signal : ended->exit_code;

	check_child_finish(TAKE(child->child));
	if (is_in_background(child) && !child->follows && !child->stops && exit_code == 0) {
		/* The servers are up in the background: now their log is followed. */
		child->follows = true;
		start_check_job_child(child, check_command_follow(jobs->check, child->job,
								  &jobs->programs, jobs->arena));
		return;
	}
	/* Servers without a follower must not be left running unnoticed. On a cluster the stop is a
	 * separate command, which ends when the Pods are deleted. */
	if (child->follows && is_on_cluster(jobs)) {
		child->follows = false;
		child->stops = true;
		start_check_job_child(child, check_command_stop(jobs->check, child->job,
								&jobs->programs, jobs->arena));
		return;
	}
	if (child->follows && !child->was_asked)
		end_in_background(jobs, child->job);
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct status status;
	bool has_status = read_check_job_status(jobs, child->job, arena, &status);

	check_job_ended(jobs->check, child->job, exit_code, has_status ? &status : NULL,
			loop_monotonic_now());
}

/* Operations on all jobs. */

void check_jobs_reap(struct check_jobs *jobs)
{
	struct child_exit ended;
	bool has_children;

	while (child_reap(&ended, &has_children, NULL, NULL)) {
		struct job_child *child = find_child(jobs, ended.pid);

		if (child)
			on_exit_of(child, &ended);
	}
	notify_check_news(jobs);
}

void check_jobs_serve(struct check_jobs *jobs)
{
	for (enum check_job job = 0; job < CHECK_JOB_COUNT; job++) {
		struct job_child *child = &jobs->children[job];
		bool is_wanted = check_wants(jobs->check, job);

		if (is_wanted && !jobs->check->jobs[job].has_started)
			start_job(child);
		/* A `muster run -d` ends soon by itself; only then it is known whether there is a
		 * job to stop. */
		if (is_wanted || !child->child || child->was_asked ||
		    (is_in_background(child) && !child->follows))
			continue;
		child->was_asked = true;
		if (child->follows && !is_on_cluster(jobs))
			end_in_background(jobs, job);
		else
			check_child_terminate(child->child, loop_monotonic_now());
	}
}

instant check_jobs_escalate_signal(struct check_jobs *jobs, instant now)
{
	instant wake_at = INSTANT_NEVER;

	for (enum check_job job = 0; job < CHECK_JOB_COUNT; job++)
		if (jobs->children[job].child)
			wake_at = instant_min(wake_at, check_child_escalate_signal(
							       jobs->children[job].child, now));
	return wake_at;
}

static void signal_all(struct check_jobs *jobs, int number)
{
	for (enum check_job job = 0; job < CHECK_JOB_COUNT; job++)
		if (jobs->children[job].child)
			child_signal_group(check_child_pid(jobs->children[job].child), number);
}

void check_jobs_kill(struct check_jobs *jobs)
{
	signal_all(jobs, SIGKILL);
}

void check_jobs_speed_up(struct check_jobs *jobs)
{
	signal_all(jobs, is_on_cluster(jobs) ? SIGINT : SIGKILL);
}

/* Called before a step is given up: a paused process cannot answer. */
void check_jobs_find_stopped(struct check_jobs *jobs)
{
	for (enum check_job job = 0; job < CHECK_JOB_COUNT; job++) {
		struct arena *arena CLEANUP(arena_cleanup) = arena_new();
		struct job_child *child = &jobs->children[job];
		struct status status;

		if (!child->child || !read_check_job_status(jobs, job, arena, &status))
			continue;
		/* Of each replica on this machine. */
		for (size_t i = 0; i < status.n_replicas; i++) {
			const struct replica_status *replica = &status.replicas[i];

			if (replica->state == REPLICA_RUNNING && replica->pid > 0)
				check_record_stopped(
					jobs->check, job,
					arena_format(arena, "%s-%d", replica->role, replica->index),
					process_is_stopped((pid_t) replica->pid));
		}
	}
}

/* Jobs of a passed check are useless; those of a failed one have the logs. */
void check_jobs_delete(struct check_jobs *jobs)
{
	const struct check *check = jobs->check;

	for (enum check_job job = 0; job < CHECK_JOB_COUNT; job++) {
		if (!check->jobs[job].has_started || check_wants(check, job))
			continue;
		/* If that fails, it stays in `muster ps -a`, where a user can delete it. */
		(void) jobs->client->functions->remove(jobs->client, check->jobs[job].name, NULL);
	}
}

/* Beginning and end. */

/* The user's settings (MUSTER_TIMEOUT, MUSTER_QUIET …) must not change the jobs of a check. */
static bool is_kept(const char *entry)
{
	return !text_starts_with(entry, "MUSTER_") ||
	       text_starts_with(entry, "MUSTER_STATE_DIR=") ||
	       text_starts_with(entry, "MUSTER_LIBTENSORFLOW=");
}

static char **make_environment(struct arena *arena)
{
	size_t count = 0, n_kept = 0;

	while (environ[count])
		count++;
	char **kept = arena_take_array(arena, count + 1, sizeof(*kept));

	for (size_t i = 0; i < count; i++)
		if (is_kept(environ[i]))
			kept[n_kept++] = environ[i];
	return kept;
}

int check_jobs_new(struct loop *loop, const char *state_folder, struct check *check,
		   loop_fn on_news, void *data, struct check_jobs **ret_jobs, struct err *err)
{
	char *own_program CLEANUP(mem_free_text) = own_program_path();
	struct client *client;
	int rc = client_local_new(state_folder, &client, err);

	if (rc < 0)
		return rc;
	struct check_jobs *jobs = mem_new(sizeof(*jobs));

	*jobs = (struct check_jobs){
		.loop = loop,
		.state_folder = state_folder,
		.check = check,
		.on_news = on_news,
		.data = data,
		.client = client,
		.arena = arena_new(),
	};
	jobs->environment = make_environment(jobs->arena);
	jobs->programs.muster = arena_copy_text(jobs->arena, own_program);
	for (enum check_job job = 0; job < CHECK_JOB_COUNT; job++)
		jobs->children[job] = (struct job_child){.jobs = jobs, .job = job};
	*ret_jobs = jobs;
	return 0;
}

void check_jobs_free(struct check_jobs *jobs)
{
	if (!jobs)
		return;
	check_jobs_kill(jobs);
	for (enum check_job job = 0; job < CHECK_JOB_COUNT; job++)
		check_child_finish(jobs->children[job].child);
	jobs->client->functions->free(jobs->client);
	arena_free(jobs->arena);
	free(jobs);
}
