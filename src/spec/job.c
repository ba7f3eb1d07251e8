/* Properties of a job that was read, its words and signals. Reading is in spec/job_read.c. */
#include "spec/job.h"

#include "base/line_text.h"
#include "base/names.h"

#include <signal.h>
#include <strings.h>

const char *const restart_policy_words[4] = {
	[RESTART_NEVER] = "Never",
	[RESTART_ON_FAILURE] = "OnFailure",
	[RESTART_ALWAYS] = "Always",
	[RESTART_EXIT_CODE] = "ExitCode",
};

const char *const restart_scope_words[3] = {
	[RESTART_SCOPE_REPLICA] = "replica",
	[RESTART_SCOPE_JOB] = "job",
	[RESTART_SCOPE_WORKER] = "worker",
};

const char *const clean_policy_words[3] = {
	[CLEAN_NONE] = "None",
	[CLEAN_RUNNING] = "Running",
	[CLEAN_ALL] = "All",
};

const char *const job_services_words[SERVICES_COUNT] = {
	[SERVICES_PER_REPLICA] = "per-replica",
	[SERVICES_PER_JOB] = "per-job",
};

const char *const stop_reason_words[STOP_REASON_COUNT] = {
	[STOP_INTERRUPTED] = "interrupted", [STOP_TERMINATED] = "terminated",
	[STOP_HANGUP] = "hangup",           [STOP_QUIT] = "quit",
	[STOP_USER_SIGNAL_1] = "SIGUSR1",   [STOP_USER_SIGNAL_2] = "SIGUSR2",
	[STOP_REQUESTED] = "stopped",
};

static const int signals[STOP_REASON_COUNT] = {
	[STOP_INTERRUPTED] = SIGINT, [STOP_TERMINATED] = SIGTERM,    [STOP_HANGUP] = SIGHUP,
	[STOP_QUIT] = SIGQUIT,       [STOP_USER_SIGNAL_1] = SIGUSR1, [STOP_USER_SIGNAL_2] = SIGUSR2,
	[STOP_REQUESTED] = SIGTERM,
};

/* 128 + the signal that would have killed a shell's command in the same way. */
int stop_reason_exit_code(const char *word)
{
	int reason = name_find_word(stop_reason_words, STOP_REASON_COUNT, word);

	return 128 + (reason < 0 || reason == STOP_REQUESTED ? SIGINT : signals[reason]);
}

enum stop_reason stop_signal_reason(int number)
{
	enum stop_reason reason = 0;

	while (reason < STOP_REQUESTED && signals[reason] != number)
		reason++;
	return reason;
}

int stop_signal_read(const char *word, int *ret_number, struct err *err)
{
	const char *name =
		strncasecmp(word, "SIG", strlen("SIG")) == 0 ? word + strlen("SIG") : word;
	int64_t number = 1;

	while (number < NSIG && !(sigabbrev_np((int) number) &&
				  text_equals_ignoring_case(name, sigabbrev_np((int) number))))
		number++;
	if (number == NSIG && text_read_int(word, 1, NSIG - 1, &number, NULL) < 0)
		return err_set(
			err, ERR_INVALID,
			"unknown signal '%s'; usual ones are TERM, INT, HUP, QUIT, USR1 and USR2",
			word);
	*ret_number = (int) number;
	return 0;
}

char *stop_signal_format(int number)
{
	const char *name = sigabbrev_np(number);

	return name ? mem_format("SIG%s", name) : mem_format("%d", number);
}

struct job *job_ref(const struct job *job)
{
	struct job *shared = (struct job *) job; /* the job is always ours, whatever the pointer's
						    const says */

	shared->n_references++;
	return shared;
}

void job_free(struct job *job)
{
	if (!job || --job->n_references > 0)
		return;
	json_free(job->document);
	arena_free(job->arena); /* the job itself is in it */
}

void job_cleanup(struct job **job)
{
	job_free(*job);
}

void job_set_uid(struct job *job, const char *uid)
{
	job->uid = arena_copy_text(job->arena, uid);
}

const struct role *job_role(const struct job *job, const char *role_name)
{
	for (size_t i = 0; i < job->n_roles; i++)
		if (text_equals(job->roles[i].name, role_name))
			return &job->roles[i];
	return NULL;
}

const struct role *job_role_of_kind(const struct job *job, enum role_kind kind)
{
	for (size_t i = 0; i < job->n_roles; i++)
		if (job->roles[i].kind == kind)
			return &job->roles[i];
	return NULL;
}

int job_replica_count(const struct job *job)
{
	int count = 0;

	for (size_t i = 0; i < job->n_roles; i++)
		count += job->roles[i].replicas;
	return count;
}

void role_describe_command(const struct role *role, size_t most_columns, struct text *text)
{
	struct text words CLEANUP(text_done) = {0};

	if (!role)
		return;
	shell_words_add(&words, role->container.command);
	if (words.len > 0 && role->container.args)
		text_add_char(&words, ' ');
	shell_words_add(&words, role->container.args);
	line_add_cut(text, text_of(&words), words.len, most_columns);
}

void job_describe_size(const struct job *job, struct text *text)
{
	for (size_t i = 0; i < job->n_roles; i++)
		text_addf(text, "%s%s=%d", i ? " " : "", job->roles[i].name,
			  job->roles[i].replicas);
}

bool job_restarts_whole(const struct job *job, const struct role *role)
{
	if (job->restart_scope == RESTART_SCOPE_WORKER)
		return role->kind != ROLE_WORKER && role->kind != ROLE_EVALUATOR;
	return job->restart_scope == RESTART_SCOPE_JOB;
}

bool job_resizes_whole(const struct job *job, const struct role *role)
{
	if (role->kind == ROLE_EVALUATOR || (role->kind == ROLE_WORKER && job->is_dynamic))
		return false;
	return job_restarts_whole(job, role);
}

const struct role *job_leader_role(const struct job *job)
{
	const struct role *chief = job_role_of_kind(job, ROLE_CHIEF);

	return chief ? chief : job_role_of_kind(job, ROLE_MASTER);
}

const struct role *job_deciding_role(const struct job *job)
{
	const struct role *leader = job_leader_role(job);
	const struct role *worker = job_role_of_kind(job, ROLE_WORKER);

	if (leader && leader->replicas > 0)
		return leader;
	return worker && worker->replicas > 0 ? worker : NULL;
}

const struct role *job_default_role(const struct job *job)
{
	const struct role *role = job_deciding_role(job);

	return role || job->n_roles == 0 ? role : &job->roles[0];
}

struct job_limits job_limits(const struct job *job)
{
	struct job_limits sum = {0};
	bool has_cores = true, has_memory = true;

	for (size_t i = 0; i < job->n_roles; i++) {
		const struct role *role = &job->roles[i];

		sum.cores += role->replicas * role->container.cpu_limit;
		sum.memory += role->replicas * role->container.memory_limit;
		has_cores &= role->replicas == 0 || role->container.cpu_limit > 0;
		has_memory &= role->replicas == 0 || role->container.memory_limit > 0;
	}
	return (struct job_limits){has_cores ? sum.cores : 0, has_memory ? sum.memory : 0};
}

int stop_signal_of(const struct job *job)
{
	int reason = name_find_word(stop_reason_words, STOP_REASON_COUNT, job->stop_reason);

	if (job->stop_signal)
		return job->stop_signal;
	return reason < 0 || (reason == STOP_HANGUP && !job->elastic_id) ? SIGTERM
									 : signals[reason];
}

char *job_pod_name(const struct job *job, const struct role *role, int index)
{
	return mem_format("%s-%s-%d", job->name, role->name, index);
}

char *job_words_new(const char *namespace_name, const char *name, const char *choice)
{
	if (!choice)
		choice = "";
	return namespace_name ? mem_format("kubernetes/%s/%s%s", namespace_name, name, choice)
			      : mem_format("%s%s", name, choice);
}
