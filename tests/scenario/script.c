/* Reads the lines of a transcript and plays them. */
#include "scenario/script.h"

#include "base/mem.h"
#include "base/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_WORDS 32

struct words {
	char *text;
	char *list[MOST_WORDS];
	size_t count;
};

static void words_done(struct words *words)
{
	free(words->text);
}

static struct words split(const char *line)
{
	struct words words = {.text = mem_copy_text(line)};
	char *rest = NULL;

	for (char *word = strtok_r(words.text, " ", &rest); word && words.count < MOST_WORDS;
	     word = strtok_r(NULL, " ", &rest))
		words.list[words.count++] = word;
	return words;
}

/* Splits "key=value" in place; the value of a word without '=' is "". */
static const char *value_of(char *word)
{
	char *equals = strchr(word, '=');

	if (!equals)
		return "";
	*equals = '\0';
	return equals + 1;
}

static msec duration_of(const char *text)
{
	msec duration = MSEC_NEVER;

	return text_equals(text, "never") || text_read_duration(text, &duration, NULL) < 0
		       ? MSEC_NEVER
		       : duration;
}

/* The job. */

static const char *const role_titles[] = {"Chief", "Evaluator", "Master", "PS", "Worker"};

static const char *title_of(const char *name)
{
	int found = name_find_word_ignoring_case(role_titles, ARRAY_LEN(role_titles), name);

	return found < 0 ? NULL : role_titles[found];
}

static void add_role(struct json *spec, const char *title, int replicas)
{
	struct json *role = json_object_at(json_object_at(spec, "tfReplicaSpecs"), title);
	struct json *template = json_object_at(json_object_at(role, "template"), "spec");
	struct json *container = json_new_object();
	struct json *containers = json_new_array();

	json_set_integer(role, "replicas", replicas);
	json_set_string(container, "name", "tensorflow");
	json_set_string(container, "image", "none");
	json_append(containers, container);
	json_set(template, "containers", containers);
}

static void set_restart_policy(struct json *spec, const char *title, const char *policy)
{
	struct json *roles = json_object_at(spec, "tfReplicaSpecs");

	for (size_t i = 0; i < ARRAY_LEN(role_titles); i++) {
		struct json *role = json_get(roles, role_titles[i]);

		if (role && (!title || text_equals(title, role_titles[i])))
			json_set_string(role, "restartPolicy", policy);
	}
}

struct policy_word {
	const char *word;
	const char *field; /* of runPolicy */
	enum { IS_TEXT, IS_NUMBER, IS_SECONDS, IS_TRUE } kind;
};

static const struct policy_word policy_words[] = {
	{"scope", "restartScope", IS_TEXT},
	{"clean", "cleanPodPolicy", IS_TEXT},
	{"backoff", "backoffLimit", IS_NUMBER},
	{"deadline", "activeDeadlineSeconds", IS_SECONDS},
	{"ttl", "ttlSecondsAfterFinished", IS_SECONDS},
	{"grace", "gracePeriodSeconds", IS_SECONDS},
	{"signal", "stopSignal", IS_TEXT},
	{"suspend", "suspend", IS_TRUE},
};

static void set_policy(struct json *policy, const struct policy_word *word, const char *value)
{
	switch (word->kind) {
	case IS_TEXT:
		json_set_string(policy, word->field, value);
		break;
	case IS_NUMBER:
		json_set_integer(policy, word->field, atoi(value));
		break;
	case IS_SECONDS:
		json_set_integer(policy, word->field, duration_of(value) / MSEC_PER_SECOND);
		break;
	case IS_TRUE:
		json_set_bool(policy, word->field, true);
		break;
	}
}

static bool set_policy_word(struct json *spec, const char *key, const char *value)
{
	for (size_t i = 0; i < ARRAY_LEN(policy_words); i++) {
		if (!text_equals(policy_words[i].word, key))
			continue;
		set_policy(json_object_at(spec, "runPolicy"), &policy_words[i], value);
		return true;
	}
	return false;
}

static bool set_job_word(struct json *spec, char *key, const char *value)
{
	const char *title = title_of(key);
	char *dot = strchr(key, '.');

	if (title) {
		add_role(spec, title, atoi(value));
	} else if (dot) {
		*dot = '\0';
		set_restart_policy(spec, title_of(key), value);
	} else if (text_equals(key, "restart")) {
		set_restart_policy(spec, NULL, value);
	} else if (text_equals(key, "success")) {
		json_set_string(spec, "successPolicy", value);
	} else if (text_equals(key, "dynamic")) {
		json_set_bool(spec, "enableDynamicWorker", true);
	} else {
		return set_policy_word(spec, key, value);
	}
	return true;
}

static char *run_job(struct stage *stage, struct words *words)
{
	struct json *document CLEANUP(json_cleanup) = json_new_object();
	struct json *spec = json_object_at(document, "spec");

	json_set_string(document, "apiVersion", "kubeflow.org/v1");
	json_set_string(document, "kind", "TFJob");
	json_set_string(json_object_at(document, "metadata"), "name", STAGE_JOB);
	json_object_at(spec, "tfReplicaSpecs");
	for (size_t i = 1; i < words->count; i++) {
		const char *value = value_of(words->list[i]);

		if (!set_job_word(spec, words->list[i], value))
			return mem_format("no such word of a job: %s", words->list[i]);
	}
	char *fault = stage_create_job(stage, document);

	if (!fault)
		stage_settle(stage);
	return fault;
}

/* "worker-1": its role and index; "worker" and "*" mean all. */
static const char *read_replica(char *word, int *ret_index)
{
	char *dash = strrchr(word, '-');

	*ret_index = dash ? atoi(dash + 1) : -1;
	if (dash)
		*dash = '\0';
	return text_equals(word, "*") ? NULL : word;
}

static bool set_behaviour_word(struct fake_behaviour *behaviour, const char *key, const char *value)
{
	if (text_equals(key, "starts"))
		behaviour->start_takes = duration_of(value);
	else if (text_equals(key, "runs"))
		behaviour->runs_for = duration_of(value);
	else if (text_equals(key, "exit"))
		behaviour->exit_code = atoi(value);
	else if (text_equals(key, "signal"))
		behaviour->signal = atoi(value);
	else if (text_equals(key, "reason"))
		behaviour->reason = text_equals(value, "OOMKilled") ? "OOMKilled" : "Evicted";
	else if (text_equals(key, "term"))
		behaviour->term_takes = duration_of(value);
	else if (text_equals(key, "ignores-term"))
		behaviour->ignores_term = true;
	else if (text_equals(key, "ignores-stops"))
		behaviour->ignores_stops = true;
	else if (text_equals(key, "exits-on-term"))
		behaviour->exits_on_term = true;
	else if (text_equals(key, "cannot-start"))
		behaviour->cannot_start = true;
	else
		return false;
	return true;
}

static char *run_behave(struct stage *stage, struct words *words)
{
	struct fake_behaviour behaviour = {.runs_for = MSEC_NEVER};
	int attempt = 0;
	int index;
	const char *role = read_replica(words->list[1], &index);

	for (size_t i = 2; i < words->count; i++) {
		const char *value = value_of(words->list[i]);

		if (text_equals(words->list[i], "attempt"))
			attempt = atoi(value);
		else if (!set_behaviour_word(&behaviour, words->list[i], value))
			return mem_format("no such behaviour: %s", words->list[i]);
	}
	backend_fake_set_behaviour(stage->backend, role, index, attempt, &behaviour);
	return NULL;
}

/* What happens. */

static char *run_wait(struct stage *stage, struct words *words)
{
	stage_advance(stage,
		      words->count > 1 ? stage->now + duration_of(words->list[1]) : MSEC_NEVER);
	return NULL;
}

/* The pass comes with the next command. */
static char *run_away(struct stage *stage, struct words *words)
{
	stage->now += duration_of(words->list[1]);
	stage->wake_at = stage->now;
	backend_fake_advance(stage->backend, stage->now);
	return NULL;
}

static char *happened(struct stage *stage, bool has_happened)
{
	if (!has_happened)
		return mem_copy_text("no such replica lives");
	stage_settle(stage);
	return NULL;
}

static char *run_kill(struct stage *stage, struct words *words)
{
	int index;
	const char *role = read_replica(words->list[1], &index);
	int signal = words->count > 2 ? atoi(words->list[2]) : 9;

	return happened(stage, backend_fake_kill(stage->backend, role, index, signal));
}

static char *run_delete(struct stage *stage, struct words *words)
{
	int index;
	const char *role = read_replica(words->list[1], &index);
	msec grace = words->count > 2 ? duration_of(words->list[2]) : 0;

	return happened(stage, backend_fake_delete(stage->backend, role, index, grace));
}

static char *run_lose(struct stage *stage, struct words *words)
{
	int index;
	const char *role = read_replica(words->list[1], &index);

	return happened(stage, backend_fake_lose(stage->backend, role, index));
}

static char *run_suspend(struct stage *stage, struct words *words)
{
	if (text_equals(words->list[0], "suspend"))
		stage_suspend(stage, true);
	else
		stage_resume(stage);
	stage_settle(stage);
	return NULL;
}

static char *run_scale(struct stage *stage, struct words *words)
{
	const char *value = value_of(words->list[1]);

	stage_scale(stage, words->list[1], atoi(value));
	stage_settle(stage);
	return NULL;
}

static char *run_stop(struct stage *stage, struct words *words)
{
	stage_stop(stage, words->list[1]);
	stage_settle(stage);
	return NULL;
}

static char *run_grace(struct stage *stage, struct words *words)
{
	struct json *document CLEANUP(json_cleanup) = stage_document(stage);

	json_set_integer(json_object_at(json_object_at(document, "spec"), "runPolicy"),
			 "gracePeriodSeconds", duration_of(words->list[1]) / MSEC_PER_SECOND);
	stage_change_document(stage, document);
	stage_settle(stage);
	return NULL;
}

static char *run_trouble(struct stage *stage, struct words *words)
{
	const char *what = words->list[0];

	if (text_equals(what, "crash"))
		stage_replace_driver(stage);
	else if (text_equals(what, "conflict"))
		stage->n_conflicts = 1;
	else if (text_equals(what, "full"))
		stage->n_full = 1;
	else
		backend_fake_refuse(stage->backend, atoi(words->list[1]));
	return NULL;
}

/* The status in a few lines. */

static void show_replica(const struct replica_status *replica, struct text *text)
{
	text_addf(text, "\t%s-%d.%d %s", replica->role, replica->index, replica->attempt,
		  replica_state_words[replica->state]);
	if (replica->exit_code >= 0)
		text_addf(text, " exit code %d", replica->exit_code);
	if (replica->signal)
		text_addf(text, " signal %d", replica->signal);
	if (replica->reason)
		text_addf(text, " %s", replica->reason);
	if (replica->restarts)
		text_addf(text, " restarts %d", replica->restarts);
	text_add(text, "\n");
}

static void show_failure(const struct failure *failure, struct text *text)
{
	text_addf(text, "\tfailure %s: %s\n", failure->reason, failure->message);
	for (size_t i = 0; i < failure->n_last_lines; i++)
		text_addf(text, "\t  | %s\n", failure->last_lines[i]);
	for (size_t i = 0; i < failure->n_consequences; i++)
		text_addf(text, "\t  then %s-%d %s\n", failure->consequences[i].role,
			  failure->consequences[i].index, failure->consequences[i].what);
}

static void show_replicas(const struct status *status, struct text *text)
{
	for (size_t i = 0; i < status->n_replicas; i++)
		show_replica(&status->replicas[i], text);
}

static void show_counts(const struct status *status, struct text *text)
{
	for (size_t i = 0; i < status->n_roles; i++)
		text_addf(text, "\t%s: %d active, %d succeeded, %d failed\n",
			  status->roles[i].title, status->roles[i].active,
			  status->roles[i].succeeded, status->roles[i].failed);
}

static char *run_show(struct stage *stage, struct words *words)
{
	const struct status *status = &stage->status;
	struct text *text = &stage->transcript;

	(void) words;
	for (size_t i = 0; i < status->n_conditions; i++)
		text_addf(text, "%s%s=%s", i ? " " : "\t",
			  condition_type_words[status->conditions[i].type],
			  status->conditions[i].is_true ? "True" : "False");
	text_addf(text, "; exit code %d; restarts %d\n", status->exit_code, status->restarts);
	show_replicas(status, text);
	show_counts(status, text);
	if (status->failure)
		show_failure(status->failure, text);
	return NULL;
}

/* Whether the job was seen running in between depends on the moments of the crashes; how it ended
 * does not. */
void script_describe_end(struct stage *stage, struct text *text)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct status seen = status_copy(&stage->status, arena);
	const struct status *status = &seen;

	stage_see_replicas(stage, arena, &seen);
	for (size_t i = 0; i < status->n_conditions; i++)
		if (status->conditions[i].is_true)
			text_addf(text, "\t%s\n", condition_type_words[status->conditions[i].type]);
	text_addf(text, "\texit code %d; restarts %d%s\n", status->exit_code, status->restarts,
		  stage->is_gone ? "; gone" : "");
	show_replicas(status, text);
	show_counts(status, text);
	if (status->failure)
		text_addf(text, "\t%s: %s\n", status->failure->reason, status->failure->message);
}

struct command {
	const char *word;
	size_t n_words; /* at least */
	char *(*run)(struct stage *stage, struct words *words);
};

static const struct command commands[] = {
	{"job", 2, run_job},        {"behave", 3, run_behave},    {"wait", 1, run_wait},
	{"away", 2, run_away},      {"grace", 2, run_grace},      {"kill", 2, run_kill},
	{"delete", 2, run_delete},  {"lose", 2, run_lose},        {"suspend", 1, run_suspend},
	{"resume", 1, run_suspend}, {"scale", 2, run_scale},      {"stop", 2, run_stop},
	{"crash", 1, run_trouble},  {"conflict", 1, run_trouble}, {"full", 1, run_trouble},
	{"refuse", 2, run_trouble}, {"show", 1, run_show},
};

static char *run_words(struct stage *stage, struct words *words)
{
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		if (text_equals(commands[i].word, words->list[0]))
			return words->count < commands[i].n_words
				       ? mem_format("'%s' needs more words", words->list[0])
				       : commands[i].run(stage, words);
	return mem_format("no such command: %s", words->list[0]);
}

static char *make_stage(struct stage **stage, const char *traits)
{
	if (text_equals(traits, "local"))
		*stage = stage_new(&backend_fake_like_local);
	else if (text_equals(traits, "kubernetes"))
		*stage = stage_new(&backend_fake_like_kubernetes);
	else if (text_equals(traits, "tfjobs"))
		*stage = stage_new(&backend_fake_like_tfjobs);
	else if (text_equals(traits, "nothing"))
		*stage = stage_new(&backend_fake_without_traits);
	else
		return mem_format("like what? %s", traits);
	return NULL;
}

char *script_run_line(struct stage **stage, const char *line)
{
	struct words words CLEANUP(words_done) = split(line);

	if (words.count == 0)
		return NULL;
	if (text_equals(words.list[0], "like") && words.count > 1)
		return make_stage(stage, words.list[1]);
	return *stage ? run_words(*stage, &words) : mem_copy_text("a script begins with 'like'");
}
