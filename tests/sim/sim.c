/* Random jobs in a random world, in virtual time: the real reconciler on the stage of the
 * transcripts.
 *
 *     sim [--runs N] [--first SEED]    many runs; the seed of the first that breaks a rule is said
 *     sim --seed S [--verbose]         one run again, with its transcript
 *     sim --small ...                  on a store that keeps statuses small, as a cluster does
 *
 * Each run makes a job, replicas that behave well or badly, and events: kills, deletions, scaling,
 * suspending, stopping, conflicts, a full disk, refused actions, lost reconcilers. Then the world
 * calms down, and the job has to come to its end. The stage checks what must hold at every moment.
 */
#include "base/mem.h"
#include "scenario/stage.h"
#include "sim/dice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_EVENTS 12
#define LONGEST_RUN (120 * MSEC_PER_SECOND)
#define LONG_ENOUGH (1000 * MSEC_PER_SECOND) /* for any job to end in a calm world */

static const char *any_of(struct dice *dice, const char *const *words, size_t count)
{
	return words[dice_below(dice, (int) count)];
}

static const char *const titles[] = {"Chief", "Evaluator", "PS", "Worker"};
static const char *const names[] = {"chief", "evaluator", "ps", "worker"};

/* The job. */

static void add_role(struct dice *dice, struct json *roles, const char *title, int replicas)
{
	static const char *const policies[] = {"Never", "OnFailure", "OnFailure", "Always",
					       "ExitCode"};
	struct json *role = json_object_at(roles, title);
	struct json *containers = json_new_array();
	struct json *container = json_new_object();

	json_set_integer(role, "replicas", replicas);
	json_set_string(role, "restartPolicy", any_of(dice, policies, ARRAY_LEN(policies)));
	json_set_string(container, "name", "tensorflow");
	json_set_string(container, "image", "none");
	json_append(containers, container);
	json_set(json_object_at(json_object_at(role, "template"), "spec"), "containers",
		 containers);
}

static void add_roles(struct dice *dice, struct json *spec)
{
	struct json *roles = json_object_at(spec, "tfReplicaSpecs");

	if (dice_one_in(dice, 2))
		add_role(dice, roles, "Chief", 1);
	if (dice_one_in(dice, 4))
		add_role(dice, roles, "Evaluator", 1);
	if (dice_one_in(dice, 3))
		add_role(dice, roles, "PS", 1 + dice_below(dice, 2));
	if (json_count(roles) == 0)
		add_role(dice, roles, "Worker", 1 + dice_below(dice, 4));
	else if (!dice_one_in(dice, 5))
		add_role(dice, roles, "Worker", dice_below(dice, 5));
}

static void set_policies(struct dice *dice, struct json *spec)
{
	static const char *const scopes[] = {"replica", "job", "worker"};
	static const char *const cleans[] = {"None", "Running", "All"};
	struct json *policy = json_object_at(spec, "runPolicy");

	json_set_string(policy, "restartScope", any_of(dice, scopes, ARRAY_LEN(scopes)));
	json_set_string(policy, "cleanPodPolicy", any_of(dice, cleans, ARRAY_LEN(cleans)));
	json_set_integer(policy, "gracePeriodSeconds", dice_below(dice, 11));
	if (!dice_one_in(dice, 3))
		json_set_integer(policy, "backoffLimit", dice_below(dice, 5));
	if (dice_one_in(dice, 4))
		json_set_integer(policy, "activeDeadlineSeconds", dice_below(dice, 60));
	if (dice_one_in(dice, 4))
		json_set_integer(policy, "ttlSecondsAfterFinished", dice_below(dice, 20));
	if (dice_one_in(dice, 8))
		json_set_bool(policy, "suspend", true);
	if (dice_one_in(dice, 2))
		json_set_string(spec, "successPolicy", "AllWorkers");
	if (dice_one_in(dice, 6))
		json_set_bool(spec, "enableDynamicWorker", true);
}

static struct json *make_document(struct dice *dice)
{
	struct json *document = json_new_object();
	struct json *spec = json_object_at(document, "spec");

	json_set_string(document, "apiVersion", "kubeflow.org/v1");
	json_set_string(document, "kind", "TFJob");
	json_set_string(json_object_at(document, "metadata"), "name", STAGE_JOB);
	add_roles(dice, spec);
	set_policies(dice, spec);
	return document;
}

/* The world. */

static msec any_time(struct dice *dice, int most_seconds)
{
	return dice_one_in(dice, 4) ? 0 : dice_below(dice, most_seconds * 1000);
}

static struct fake_behaviour any_behaviour(struct dice *dice)
{
	static const int codes[] = {0, 0, 0, 1, 2, 127, 137, 255};
	struct fake_behaviour behaviour = {
		.start_takes = dice_one_in(dice, 20) ? MSEC_NEVER : any_time(dice, 3),
		.runs_for = dice_one_in(dice, 3) ? MSEC_NEVER : any_time(dice, 30),
		.exit_code = codes[dice_below(dice, ARRAY_LEN(codes))],
		.signal = dice_one_in(dice, 6) ? 9 : 0,
		.cannot_start = dice_one_in(dice, 30),
		.ignores_stops = dice_one_in(dice, 6),
		.term_takes = any_time(dice, 12),
		.exits_on_term = dice_one_in(dice, 3),
	};

	behaviour.reason = behaviour.signal && dice_one_in(dice, 2) ? "OOMKilled" : NULL;
	return behaviour;
}

static const struct backend_fake_settings *any_traits(struct dice *dice)
{
	static const struct backend_fake_settings *const settings[] = {
		&backend_fake_like_local,
		&backend_fake_like_kubernetes,
		&backend_fake_like_tfjobs,
		&backend_fake_without_traits,
	};

	return settings[dice_below(dice, ARRAY_LEN(settings))];
}

static void make_behaviours(struct dice *dice, struct stage *stage)
{
	for (int i = dice_below(dice, 8); i >= 0; i--) {
		struct fake_behaviour behaviour = any_behaviour(dice);

		backend_fake_set_behaviour(
			stage->backend, names[dice_below(dice, ARRAY_LEN(names))],
			dice_below(dice, 4) - 1, dice_below(dice, 4), &behaviour);
	}
}

/* Each process that starts from now on does its work and ends. */
static void calm_down(struct stage *stage)
{
	const struct fake_behaviour good = {.runs_for = MSEC_PER_SECOND};

	backend_fake_set_behaviour(stage->backend, NULL, -1, 0, &good);
	backend_fake_refuse(stage->backend, 0);
	stage->n_conflicts = 0;
	stage->n_full = 0;
	stage->crash_after = 0;
	stage->crashes_always = false;
}

/* Events. */

static const char *const stop_words[] = {"interrupted", "terminated", "hangup", "stopped"};

static void any_disaster(struct dice *dice, struct stage *stage)
{
	const char *role = names[dice_below(dice, ARRAY_LEN(names))];
	int index = dice_below(dice, 4);

	switch (dice_below(dice, 4)) {
	case 0:
		backend_fake_delete(stage->backend, role, index, any_time(dice, 5));
		break;
	case 1:
		backend_fake_lose(stage->backend, role, index);
		break;
	default:
		backend_fake_kill(stage->backend, role, index, dice_one_in(dice, 2) ? 9 : 15);
		break;
	}
}

static void any_wish(struct dice *dice, struct stage *stage)
{
	switch (dice_below(dice, 5)) {
	case 0:
		stage_suspend(stage, true);
		break;
	case 1:
		stage_resume(stage);
		break;
	case 2:
		if (dice_one_in(dice, 3))
			stage_stop(stage, any_of(dice, stop_words, ARRAY_LEN(stop_words)));
		break;
	default:
		stage_scale(stage, titles[dice_one_in(dice, 4) ? 2 : 3], dice_below(dice, 5));
		break;
	}
}

static void any_trouble(struct dice *dice, struct stage *stage)
{
	switch (dice_below(dice, 6)) {
	case 0:
		stage->n_conflicts = 1 + dice_below(dice, 2);
		break;
	case 1:
		stage->n_full = 1 + dice_below(dice, 3);
		break;
	case 2:
		backend_fake_refuse(stage->backend, 1 + dice_below(dice, 4));
		break;
	case 3:
		stage->crash_after = stage->n_effects + 1 + dice_below(dice, 10);
		break;
	case 4:
		stage->crashes_always = dice_one_in(dice, 2);
		break;
	case 5:
		stage->write_takes = any_time(dice, 11);
		break;
	}
}

/* Time goes on; sometimes muster is not there to see it. */
static void pass_time(struct dice *dice, struct stage *stage)
{
	msec until = stage->now + any_time(dice, 15);

	if (dice_one_in(dice, 5)) {
		stage->now = until;
		stage->wake_at = until;
		backend_fake_advance(stage->backend, until);
	} else {
		stage_advance(stage, until);
	}
}

static void any_event(struct dice *dice, struct stage *stage)
{
	pass_time(dice, stage);
	switch (dice_below(dice, 3)) {
	case 0:
		any_disaster(dice, stage);
		break;
	case 1:
		any_wish(dice, stage);
		break;
	case 2:
		any_trouble(dice, stage);
		break;
	}
	stage_settle(stage);
}

/* In the end the job ends: by itself, or because it is asked to. A job of servers never would, and
 * neither would one that is started again for ever. */
static void end_job(struct stage *stage)
{
	calm_down(stage);
	stage_suspend(stage, false);
	stage_advance(stage, stage->now + LONG_ENOUGH);
	if (!stage->is_finished && !stage->is_gone) {
		stage_stop(stage, stop_words[0]);
		stage_advance(stage, stage->now + LONG_ENOUGH);
	}
	if (!stage->is_finished && !stage->is_gone && !stage->broken.len)
		text_add(&stage->broken, "the job never ends");
}

static void print_run(const struct json *document, const struct stage *stage)
{
	struct text text CLEANUP(text_done) = {0};

	json_add_pretty(&text, document);
	printf("%s%s", text_of(&text), text_of(&stage->transcript));
}

/* True when every rule held. */
static bool run(uint64_t seed, bool is_small, bool is_verbose)
{
	struct dice dice = {.state = seed};
	struct stage *stage CLEANUP(stage_cleanup) = stage_new(any_traits(&dice));
	struct json *document CLEANUP(json_cleanup) = make_document(&dice);

	stage->is_silent = !is_verbose;
	if (is_small)
		stage_keep_statuses_small(stage);
	make_behaviours(&dice, stage);
	char *fault CLEANUP(mem_free_text) = stage_create_job(stage, document);

	if (fault)
		text_addf(&stage->broken, "the job is not valid: %s", fault);
	for (int i = dice_below(&dice, MOST_EVENTS); i > 0 && !stage->is_gone && !stage->broken.len;
	     i--)
		any_event(&dice, stage);
	if (!stage->broken.len && !stage->is_gone)
		end_job(stage);
	if (is_verbose)
		print_run(document, stage);
	if (stage->broken.len)
		printf("seed %llu: %s\n", (unsigned long long) seed, text_of(&stage->broken));
	return stage->broken.len == 0;
}

static unsigned long long number_of(const char *text)
{
	return text ? strtoull(text, NULL, 10) : 0;
}

int main(int argc, char **argv)
{
	unsigned long long n_runs = 10000;
	unsigned long long first = 1;
	bool is_verbose = false, is_small = false;

	for (int i = 1; i < argc; i++) {
		if (text_equals(argv[i], "--verbose")) {
			is_verbose = true;
		} else if (text_equals(argv[i], "--small")) {
			is_small = true;
		} else if (text_equals(argv[i], "--runs")) {
			n_runs = number_of(argv[++i]);
		} else if (text_equals(argv[i], "--first")) {
			first = number_of(argv[++i]);
		} else if (text_equals(argv[i], "--seed")) {
			first = number_of(argv[++i]);
			n_runs = 1;
		} else {
			fprintf(stderr,
				"usage: sim [--small] [--runs N] [--first SEED] | --seed SEED "
				"[--verbose]\n");
			return 2;
		}
	}
	for (unsigned long long seed = first; seed < first + n_runs; seed++)
		if (!run(seed, is_small, is_verbose)) {
			printf("once more: %s%s --seed %llu --verbose\n", argv[0],
			       is_small ? " --small" : "", seed);
			return 1;
		}
	printf("%llu runs, every rule held\n", n_runs);
	return 0;
}
