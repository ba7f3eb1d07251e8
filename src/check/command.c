#include "check/command.h"

#include "base/names.h"
#include "check/task.h"

#include <assert.h>

/* Servers have nothing to save, and a client that waits for a dead server does not react to
 * SIGTERM. */
#define GRACE "3s"
/* Unresponsive tasks are waited for one after the other: this many must fit into the step's
 * time. */
#define SILENT_TASKS 4
/* Time for a task to answer the roll call. */
#define ROLL_CALL_PATIENCE "5s"
#define WORDS_MOST 48 /* without those of the place */
/* How muster is called in its image. */
#define PROGRAM_OF_IMAGE "muster"

/* A growing argument list. */
struct words {
	char **list;
	size_t count, most;
	struct arena *arena;
};

static void add_command_word(struct words *words, const char *word)
{
	assert(words->count + 1 < words->most);
	words->list[words->count++] = arena_copy_text(words->arena, word);
}

static void add_command_option(struct words *words, const char *name, const char *value)
{
	if (!value)
		return;
	add_command_word(words, name);
	add_command_word(words, value);
}

static void add_number_option(struct words *words, const char *name, int64_t number)
{
	add_command_option(words, name, arena_format(words->arena, "%lld", (long long) number));
}

/* On this machine or on a cluster. */
static void add_place(struct words *words, const struct check_request *request)
{
	if (!request->is_on_kubernetes)
		return;
	add_command_option(words, "--on", "kubernetes");
	for (const char *const *word = request->place; *word; word++)
		add_command_word(words, *word);
}

/* The program that a replica runs: this program, or the one in its image. */
static const char *program_of_replica(const struct check *check,
				      const struct check_programs *programs)
{
	return check->request.is_on_kubernetes ? PROGRAM_OF_IMAGE : programs->muster;
}

/* Every job of a check is a foreground run that prints lines unchanged. */
static void begin_run(struct words *words, const struct check *check, enum check_job job,
		      const struct check_programs *programs)
{
	const struct check_request *request = &check->request;

	add_command_word(words, programs->muster);
	add_command_word(words, "run");
	add_place(words, request);
	add_command_option(words, "--state-dir", request->state_dir);
	add_command_option(words, "--color", "never");
	add_command_option(words, "--grace", GRACE);
	add_command_option(words, "--name", check->jobs[job].name);
	if (request->libtensorflow)
		add_command_option(words, "--env",
				   arena_format(words->arena, "MUSTER_LIBTENSORFLOW=%s",
						request->libtensorflow));
}

static void add_servers(struct words *words, const struct check *check,
			const struct check_programs *programs)
{
	if (check->request.is_setup_only)
		add_command_word(words, "--detach");
	/* On a cluster the clients are separate jobs. */
	if (check->request.is_on_kubernetes)
		add_command_word(words, "--no-network-policy");
	add_number_option(words, "--workers", check->request.workers);
	add_number_option(words, "--ps", check->request.ps);
	add_command_word(words, "--");
	add_command_word(words, program_of_replica(check, programs));
	add_command_word(words, "server");
	add_command_word(words, "--network");
	add_command_option(words, "--output", "json");
}

/* "grpc://a:1,grpc://b:2": all our own servers, or only the workers; remote ones as given. */
static char *join_targets(const struct check *check, bool are_workers, struct arena *arena)
{
	struct text text CLEANUP(text_done) = {0};
	const struct check_request *request = &check->request;

	for (size_t i = 0; i < request->n_servers; i++)
		text_addf(&text, "%s%s", text.len ? "," : "", request->servers[i].url);
	for (size_t i = 0; !request->is_remote && i < check->n_tasks; i++)
		if (!are_workers || text_starts_with(check->tasks[i].name, "worker-"))
			text_addf(&text, "%s%s", text.len ? "," : "", check->tasks[i].target);
	return arena_copy_text(arena, text_of(&text));
}

static const char *time_of_task(const struct check *check, struct arena *arena)
{
	msec time = check->request.timeout / SILENT_TASKS;

	return arena_format(arena, "%llds", (long long) msec_to_whole_seconds(time));
}

static void add_probe(struct words *words, const struct check *check,
		      const struct check_programs *programs, const char *timeout)
{
	add_command_word(words, "--");
	add_command_word(words, program_of_replica(check, programs));
	add_command_word(words, "probe");
	add_command_option(words, "--server", join_targets(check, false, words->arena));
	add_command_option(words, "--timeout", timeout);
	add_command_option(words, "--output", "json");
}

/* Clients of running servers: ours, or remote ones. */
static void add_clients(struct words *words, const struct check *check,
			const struct check_programs *programs)
{
	add_number_option(words, "--workers", check->n_workers);
	add_command_word(words, programs->model);
	add_command_word(words, check_model_words[check->request.model]);
	add_command_option(words, "--servers", join_targets(check, true, words->arena));
	add_number_option(words, "--workers", check->n_workers);
	add_number_option(words, "--ps", (int64_t) check->n_tasks - check_count_workers(check));
	/* A second check on the same servers must not find variables of the first one. */
	add_command_option(words, "--container", check->request.name);
}

/* Processes that form the cluster themselves. */
static void add_cluster(struct words *words, const struct check *check,
			const struct check_programs *programs)
{
	bool has_servers = check->request.model == CHECK_PS2;

	if (has_servers) {
		add_command_word(words, "--chief");
		add_number_option(words, "--ps", check->request.ps);
		add_command_word(words, "--ps-server");
		add_command_word(words, "--worker-server");
	}
	add_number_option(words, "--workers", check->n_workers);
	add_command_word(words, programs->model);
	add_command_word(words, check_model_words[check->request.model]);
}

static void add_model(struct words *words, const struct check *check,
		      const struct check_programs *programs)
{
	const struct check_request *request = &check->request;

	if (check_model_brings_servers(request->model))
		add_cluster(words, check, programs);
	else
		add_clients(words, check, programs);
	if (request->is_sync)
		add_command_word(words, "--sync-replicas");
	if (request->steps > 0)
		add_number_option(words, "--steps", request->steps);
	add_command_option(words, "--data-dir", request->data_dir);
	/* Models that notice a silence themselves give more detail than we could. */
	add_number_option(words, "--timeout", msec_to_whole_seconds(request->timeout / 2));
}

static struct words words_new(const struct check *check, struct arena *arena)
{
	struct words words = {.most = WORDS_MOST, .arena = arena};

	if (check->request.is_on_kubernetes)
		for (const char *const *word = check->request.place; *word; word++)
			words.most++;
	words.list = arena_take_array(arena, words.most, sizeof(*words.list));
	return words;
}

char **check_command(const struct check *check, enum check_job job,
		     const struct check_programs *programs, struct arena *arena)
{
	struct words words = words_new(check, arena);

	begin_run(&words, check, job, programs);
	switch (job) {
	case CHECK_SERVERS_JOB:
		add_servers(&words, check, programs);
		break;
	case CHECK_PROBE_JOB:
		add_probe(&words, check, programs, time_of_task(check, arena));
		break;
	case CHECK_ROLL_CALL_JOB:
		add_probe(&words, check, programs, ROLL_CALL_PATIENCE);
		break;
	case CHECK_MODEL_JOB:
		add_model(&words, check, programs);
		break;
	case CHECK_JOB_COUNT:
		break;
	}
	return words.list;
}

/* Jobs in the background. */

static bool says_which_cluster(const char *option)
{
	static const char *const names[] = {"--context", "--kubeconfig", "--namespace",
					    "--request-timeout"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (text_equals(option, names[i]))
			return true;
	return false;
}

/* Where an existing job is. Options of the place are pairs. */
static void add_cluster_of(struct words *words, const struct check_request *request)
{
	if (!request->is_on_kubernetes)
		return;
	for (const char *const *word = request->place; *word; word += 2)
		if (says_which_cluster(word[0]))
			add_command_option(words, word[0], word[1]);
}

static struct words command_on_job(const struct check *check, const char *program, const char *name,
				   struct arena *arena)
{
	struct words words = words_new(check, arena);

	add_command_word(&words, program);
	add_command_word(&words, name);
	add_command_option(&words, "--state-dir", check->request.state_dir);
	add_cluster_of(&words, &check->request);
	return words;
}

char **check_command_follow(const struct check *check, enum check_job job,
			    const struct check_programs *programs, struct arena *arena)
{
	struct words words = command_on_job(check, programs->muster, "logs", arena);

	add_command_word(&words, "--follow");
	add_command_word(&words, "--prefix");
	add_command_option(&words, "--color", "never");
	add_command_word(&words, check->jobs[job].name);
	return words.list;
}

char **check_command_stop(const struct check *check, enum check_job job,
			  const struct check_programs *programs, struct arena *arena)
{
	struct words words = command_on_job(check, programs->muster, "stop", arena);

	add_command_option(&words, "--grace", GRACE);
	add_command_word(&words, check->jobs[job].name);
	return words.list;
}

/* As users type it. */

static void add_command_line(const struct words *words, struct text *text)
{
	for (size_t i = 0; i < words->count; i++) {
		if (i > 0)
			text_add_char(text, ' ');
		shell_word_add(text, words->list[i]);
	}
}

void check_command_describe_stop(const struct check *check, struct text *text)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct words words = command_on_job(check, "muster", "stop", arena);

	add_command_word(&words, check->request.name);
	add_command_line(&words, text);
}

void check_command_describe_try(const struct check *check, struct text *text)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct words words = words_new(check, arena);

	add_command_word(&words, "muster");
	add_command_word(&words, "check");
	add_command_word(&words, "remote");
	add_place(&words, &check->request);
	add_command_option(&words, "--servers", check->tasks[0].target);
	add_command_line(&words, text);
}
