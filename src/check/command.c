#include "check/command.h"

#include "base/names.h"

/* Servers have nothing to save, and a client that waits for a dead server ignores SIGTERM. */
#define GRACE "3s"
/* So many unresponsive tasks, waited for one by one, must fit into the step's time. */
#define SILENT_TASKS 4
/* Time for a task to answer the roll call. */
#define ROLL_CALL_PATIENCE (5 * MSEC_PER_SECOND)

/* A growing argument list, which ends with NULL. */
struct words {
	char **list;
	size_t count;
	struct arena *arena;
};

/* The words end with NULL. */
static void add(struct words *words, ...)
{
	va_list list;

	va_start(list, words);
	for (const char *word; (word = va_arg(list, const char *));) {
		words->list = arena_grow(words->arena, words->list, words->count + 1,
					 sizeof(*words->list));
		words->list[words->count++] = arena_copy_text(words->arena, word);
	}
	va_end(list);
}

static void add_option(struct words *words, const char *name, const char *value)
{
	if (value)
		add(words, name, value, NULL);
}

static void add_number(struct words *words, const char *name, int64_t number)
{
	add(words, name, arena_format(words->arena, "%lld", (long long) number), NULL);
}

/* On this machine or on a cluster. */
static void add_place(struct words *words, const struct check_request *request)
{
	if (!request->is_on_kubernetes)
		return;
	add(words, "--on", "kubernetes", NULL);
	for (const char *const *word = request->place; *word; word++)
		add(words, *word, NULL);
}

/* The program that a replica runs: this program, or the one in its image. */
static const char *program_of_replica(const struct check *check,
				      const struct check_programs *programs)
{
	return check->request.is_on_kubernetes ? "muster" : programs->muster;
}

static void add_servers(struct words *words, const struct check *check,
			const struct check_programs *programs)
{
	if (check->request.is_setup_only)
		add(words, "--detach", NULL);
	/* On a cluster the clients are separate jobs. */
	if (check->request.is_on_kubernetes)
		add(words, "--no-network-policy", NULL);
	add_number(words, "--workers", check->request.workers);
	add_number(words, "--ps", check->request.ps);
	add(words, "--", program_of_replica(check, programs), "server", "--network", "--output",
	    "json", NULL);
}

/* "grpc://a:1,grpc://b:2": all our own servers, or only the workers; remote ones as given. */
static char *join_targets(const struct check *check, bool are_workers, struct arena *arena)
{
	struct text text CLEANUP(text_done) = {0};
	const struct check_request *request = &check->request;
	const char *name = NULL;
	struct json *task;

	for (size_t i = 0; i < request->n_servers; i++)
		text_addf(&text, "%s%s", text.len ? "," : "", request->servers[i].url);
	while (!request->is_remote && json_next(check->tasks, &name, &task))
		if (!are_workers || text_starts_with(name, "worker-"))
			text_addf(&text, "%s%s", text.len ? "," : "",
				  json_get_string(task, "target", ""));
	return arena_copy_text(arena, text_of(&text));
}

/* Clients of running servers: ours, or remote ones. */
static void add_clients(struct words *words, const struct check *check,
			const struct check_programs *programs)
{
	int n_workers = check_count_workers(check);

	add_number(words, "--workers", check->n_workers);
	add(words, programs->model, check_model_words[check->request.model], "--servers",
	    join_targets(check, true, words->arena), NULL);
	add_number(words, "--workers", check->n_workers);
	add_number(words, "--ps", (int64_t) json_count(check->tasks) - n_workers);
	/* A second check on the same servers must not find variables of the first one. */
	add_option(words, "--container", check->request.name);
}

/* Processes that form the cluster themselves. */
static void add_cluster(struct words *words, const struct check *check,
			const struct check_programs *programs)
{
	if (check->request.model == CHECK_PS2) {
		add(words, "--chief", NULL);
		add_number(words, "--ps", check->request.ps);
		add(words, "--ps-server", "--worker-server", NULL);
	}
	add_number(words, "--workers", check->n_workers);
	add(words, programs->model, check_request_model(&check->request), NULL);
	if (!check_request_trains(&check->request))
		add(words, "--no-training", NULL);
}

static void add_model(struct words *words, const struct check *check,
		      const struct check_programs *programs)
{
	const struct check_request *request = &check->request;

	if (check_request_needs_no_servers(request))
		add_cluster(words, check, programs);
	else
		add_clients(words, check, programs);
	if (request->is_sync)
		add(words, "--sync-replicas", NULL);
	if (request->steps > 0)
		add_number(words, "--steps", request->steps);
	add_option(words, "--data-dir", request->data_dir);
	/* Models that notice a silence themselves give more detail than we could. */
	add_number(words, "--timeout", msec_to_whole_seconds(request->timeout / 2));
}

/* Every job of a check is a foreground run that prints lines unchanged. */
char **check_command(const struct check *check, enum check_job job,
		     const struct check_programs *programs, struct arena *arena)
{
	const struct check_request *request = &check->request;
	struct words words = {.arena = arena};
	msec patience =
		job == CHECK_PROBE_JOB ? request->timeout / SILENT_TASKS : ROLL_CALL_PATIENCE;

	add(&words, programs->muster, "run", NULL);
	add_place(&words, request);
	add_option(&words, "--state-dir", request->state_dir);
	add(&words, "--color", "never", "--grace", GRACE, "--name", check->jobs[job].name, NULL);
	if (request->libtensorflow)
		add_option(&words, "--env",
			   arena_format(arena, "MUSTER_LIBTENSORFLOW=%s", request->libtensorflow));
	if (job == CHECK_SERVERS_JOB)
		add_servers(&words, check, programs);
	else if (job == CHECK_MODEL_JOB)
		add_model(&words, check, programs);
	else
		add(&words, "--", program_of_replica(check, programs), "check", "probe",
		    "--servers", join_targets(check, false, arena), "--timeout",
		    arena_format(arena, "%llds", (long long) msec_to_whole_seconds(patience)),
		    NULL);
	return words.list;
}

/* Jobs in the background. */

/* A command about an existing job, and where that job is. Options of the place are pairs. */
static struct words command_on_job(const struct check *check, const char *program, const char *name,
				   struct arena *arena)
{
	static const char *const of_cluster[] = {"--context", "--kubeconfig", "--namespace",
						 "--request-timeout"};
	const struct check_request *request = &check->request;
	struct words words = {.arena = arena};

	add(&words, program, name, NULL);
	add_option(&words, "--state-dir", request->state_dir);
	if (!request->is_on_kubernetes)
		return words;
	for (const char *const *word = request->place; *word; word += 2)
		if (name_find_word(of_cluster, ARRAY_LEN(of_cluster), word[0]) >= 0)
			add_option(&words, word[0], word[1]);
	return words;
}

char **check_command_follow(const struct check *check, enum check_job job,
			    const struct check_programs *programs, struct arena *arena)
{
	struct words words = command_on_job(check, programs->muster, "logs", arena);

	add(&words, "--follow", "--prefix", "--color", "never", check->jobs[job].name, NULL);
	return words.list;
}

char **check_command_stop(const struct check *check, enum check_job job,
			  const struct check_programs *programs, struct arena *arena)
{
	struct words words = command_on_job(check, programs->muster, "stop", arena);

	add(&words, "--grace", GRACE, check->jobs[job].name, NULL);
	return words.list;
}

void check_command_describe_stop(const struct check *check, struct text *text)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct words words = command_on_job(check, "muster", "stop", arena);

	add(&words, check->request.name, NULL);
	shell_words_add(text, (const char *const *) words.list);
}

void check_command_describe_try(const struct check *check, struct text *text)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct words words = {.arena = arena};
	const char *first = check_first_with(check->tasks, "target");

	add(&words, "muster", "check", "remote", NULL);
	add_place(&words, &check->request);
	add(&words, "--servers",
	    json_as_string(json_get_path(check->tasks, first, "target", NULL), ""), NULL);
	shell_words_add(text, (const char *const *) words.list);
}
