/* A job, what is remembered and what is true of it, put together by hand for tests of decisions. */
#pragma once

#include "base/mem.h"
#include "base/text.h"
#include "reconcile/reconcile.h"

#define SCENE_ROLES 5
#define SCENE_OBJECTS 16
#define SCENE_NOW ((msec) 1000000)

struct scene {
	struct arena *arena;
	struct job job;
	struct role roles[SCENE_ROLES];
	struct status status; /* the last one written */
	struct observed observed;
	struct observed_replica objects[SCENE_OBJECTS];
	struct observed_address addresses[SCENE_OBJECTS];
	struct plan plan; /* the last one made */
	msec now;
};

static inline int scene_begin(void **state)
{
	struct scene *scene = mem_new(sizeof(*scene));

	scene->arena = arena_new();
	scene->now = SCENE_NOW;
	scene->job = (struct job){
		.name = "j",
		.name_space = "default",
		.uid = "u",
		.roles = scene->roles,
		.backoff_limit = -1,
		.active_deadline = -1,
		.ttl_after_finished = -1,
		.grace = 30 * MSEC_PER_SECOND,
	};
	scene->status.exit_code = -1;
	scene->observed = (struct observed){
		.replicas = scene->objects,
		.addresses = scene->addresses,
		.traits = {.names_carry_attempt = true, .ends_finished_jobs = true},
	};
	*state = scene;
	return 0;
}

static inline int scene_end(void **state)
{
	struct scene *scene = *state;

	arena_free(scene->arena);
	free(scene);
	return 0;
}

#define SCENE_TEST(name) TEST_IN(scene_begin, scene_end, struct scene *scene, name)

/* In the order of enum role_kind. */
static inline struct role *scene_add_role(struct scene *scene, enum role_kind kind, int replicas,
					  enum restart_policy policy)
{
	static const char *const titles[] = {"Chief", "Evaluator", "Master", "PS", "Worker"};
	static const char *const names[] = {"chief", "evaluator", "master", "ps", "worker"};
	struct role *role = &scene->roles[scene->job.n_roles++];

	*role = (struct role){
		.kind = kind,
		.title = titles[kind],
		.name = names[kind],
		.replicas = replicas,
		.restart_policy = policy,
	};
	return role;
}

static inline struct observed_replica *scene_object(struct scene *scene, const char *role,
						    int index, int attempt)
{
	for (size_t i = 0; i < scene->observed.n_replicas; i++) {
		struct observed_replica *object = &scene->objects[i];

		if (object->index == index && object->attempt == attempt &&
		    text_equals(object->role, role))
			return object;
	}
	return NULL;
}

/* One decision; its status is remembered. */
static inline const struct plan *scene_decide(struct scene *scene)
{
	reconcile_decide(&scene->job, &scene->status, &scene->observed, scene->now, scene->arena,
			 &scene->plan);
	scene->status = scene->plan.status;
	return &scene->plan;
}

static inline void scene_start(struct scene *scene, const struct action *action)
{
	scene->objects[scene->observed.n_replicas++] = (struct observed_replica){
		.role = action->role,
		.index = action->index,
		.attempt = action->attempt,
		.phase = OBSERVED_RUNNING,
		.exit_code = -1,
		.pid = 100 + (int64_t) scene->observed.n_replicas,
		.started_at = scene->now,
	};
}

static inline void scene_remove(struct scene *scene, const struct action *action)
{
	struct observed_replica *object =
		scene_object(scene, action->role, action->index, action->attempt);

	if (object)
		*object = scene->objects[--scene->observed.n_replicas];
}

static inline void scene_unpublish(struct scene *scene, const struct action *action)
{
	for (size_t i = 0; i < scene->observed.n_addresses; i++)
		if (scene->addresses[i].index == action->index &&
		    text_equals(scene->addresses[i].role, action->role))
			scene->addresses[i] = scene->addresses[--scene->observed.n_addresses];
}

static inline void scene_apply(struct scene *scene, const struct action *action)
{
	struct observed_replica *object =
		scene_object(scene, action->role, action->index, action->attempt);

	switch (action->type) {
	case ACTION_PUBLISH:
		scene->addresses[scene->observed.n_addresses++] = (struct observed_address){
			.role = action->role, .index = action->index, .address = "here:1"};
		break;
	case ACTION_START:
		scene_start(scene, action);
		break;
	case ACTION_STOP:
		object->stop_asked_at = scene->now;
		object->kill_at = scene->now + action->grace;
		break;
	case ACTION_KILL:
		object->is_killed = true;
		break;
	case ACTION_REMOVE:
		scene_remove(scene, action);
		break;
	case ACTION_UNPUBLISH:
		scene_unpublish(scene, action);
		break;
	case ACTION_TYPE_COUNT:
		break;
	}
}

/* Decides and applies until there is nothing left to do at this moment. */
static inline void scene_settle(struct scene *scene)
{
	const struct plan *plan = scene_decide(scene);

	for (int n_passes = 0; (plan->n_actions || plan->is_status_changed) && n_passes < 20;
	     n_passes++) {
		for (size_t i = 0; i < plan->n_actions; i++)
			scene_apply(scene, &plan->actions[i]);
		plan = scene_decide(scene);
	}
}

/* Adds the last role, and starts all of the job. */
static inline void scene_run(struct scene *scene, enum role_kind kind, int replicas,
			     enum restart_policy policy)
{
	scene_add_role(scene, kind, replicas, policy);
	scene_settle(scene);
}

/* A replica ends now, with a code or by a signal. */
static inline void scene_exit(struct scene *scene, const char *role, int index, int attempt,
			      int exit_code, int signal)
{
	struct observed_replica *object = scene_object(scene, role, index, attempt);

	object->phase = exit_code == 0 && !signal ? OBSERVED_SUCCEEDED : OBSERVED_FAILED;
	object->exit_code = signal ? -1 : exit_code;
	object->signal = signal;
	object->ended_at = scene->now;
}

static inline void scene_exit_and_decide(struct scene *scene, const char *role, int index,
					 int attempt, int exit_code, int signal)
{
	scene_exit(scene, role, index, attempt, exit_code, signal);
	scene_decide(scene);
}

static inline void scene_exit_and_settle(struct scene *scene, const char *role, int index,
					 int attempt, int exit_code, int signal)
{
	scene_exit(scene, role, index, attempt, exit_code, signal);
	scene_settle(scene);
}

static inline const struct action *scene_action(const struct scene *scene, enum action_type type,
						const char *role, int index)
{
	for (size_t i = 0; i < scene->plan.n_actions; i++) {
		const struct action *action = &scene->plan.actions[i];

		if (action->type == type && action->index == index &&
		    text_equals(action->role, role))
			return action;
	}
	return NULL;
}

static inline const struct replica_status *scene_replica(const struct scene *scene,
							 const char *role, int index)
{
	return status_replica(&scene->status, role, index);
}

static inline const char *scene_message(const struct scene *scene, enum condition_type type)
{
	const struct condition *condition = status_condition(&scene->status, type);

	return condition ? condition->message : NULL;
}
