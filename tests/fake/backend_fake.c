/* Replicas in a table, virtual time, scripted behaviours. */
#include "fake/backend_fake.h"

#include "base/text.h"

#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct fake_replica {
	struct observed_replica seen; /* role is owned */
	struct fake_behaviour behaviour;
	msec runs_at; /* when it begins to run */
	msec ends_at; /* when it ends by itself */
	msec obeys_at; /* when it ends because of the signal of its stop */
	int stop_signal;
};

struct fake_address {
	char *role;
	int index;
	char *address;
};

struct fake_rule {
	char *role; /* NULL: all */
	int index; /* -1: all */
	int attempt; /* from this one on */
	struct fake_behaviour behaviour;
};

struct fake_backend {
	struct backend base;
	struct backend_fake_settings settings;
	msec now;
	int64_t last_pid;
	int n_to_refuse;
	msec clock_step;
	const char *stacks; /* NULL: nobody has said where it is */
	char *job_name; /* of the job last acted on, for news */
	struct fake_replica *replicas;
	size_t n_replicas;
	size_t replicas_capacity;
	struct fake_address *addresses;
	size_t n_addresses;
	size_t addresses_capacity;
	struct fake_rule *rules;
	size_t n_rules;
	size_t rules_capacity;
};

const struct backend_fake_settings backend_fake_like_local = {
	.traits = {.sends_signals = true,
		   .kills_after_grace = true,
		   .names_carry_attempt = true,
		   .ends_finished_jobs = true},
};

const struct backend_fake_settings backend_fake_without_traits = {0};

const struct backend_fake_settings backend_fake_like_kubernetes = {
	.traits = {.kills_after_grace = true},
	.forgets_stopped = true,
};

const struct backend_fake_settings backend_fake_like_tfjobs = {
	.traits = {.kills_after_grace = true,
		   .waits_for_workers = true,
		   .repeats_attempts = true,
		   .gives_whole_grace = true},
	.forgets_stopped = true,
};

static struct fake_backend *of(struct backend *base)
{
	return (struct fake_backend *) base;
}

static void send_news(const struct fake_backend *fake)
{
	if (fake->settings.on_news && fake->job_name)
		fake->settings.on_news(fake->settings.data);
}

static void drop(struct fake_backend *fake, struct fake_replica *replica)
{
	size_t index = (size_t) (replica - fake->replicas);

	free((char *) replica->seen.role);
	memmove(replica, replica + 1, (fake->n_replicas - index - 1) * sizeof(*replica));
	fake->n_replicas--;
}

/* Ends an attempt with a code or a signal. On a cluster what was asked to end is then gone. */
static void end(struct fake_backend *fake, struct fake_replica *replica, int exit_code, int signal,
		msec at)
{
	struct observed_replica *seen = &replica->seen;

	seen->phase = exit_code == 0 && signal == 0 ? OBSERVED_SUCCEEDED : OBSERVED_FAILED;
	seen->exit_code = signal ? -1 : exit_code;
	seen->signal = signal;
	seen->ended_at = at;
	if (fake->settings.forgets_stopped && observed_was_asked_to_end(seen))
		drop(fake, replica);
}

/* What an attempt does next, and when. */
enum step { STEP_NONE, STEP_RUN, STEP_END, STEP_OBEY, STEP_KILLED };

static enum step next_step(const struct fake_backend *fake, const struct fake_replica *replica,
			   msec *ret_at)
{
	const struct observed_replica *seen = &replica->seen;
	enum step step = STEP_NONE;
	msec at = MSEC_NEVER;

	if (!observed_is_live(seen))
		return STEP_NONE;
	if (seen->phase == OBSERVED_STARTING && replica->runs_at < at) {
		step = STEP_RUN;
		at = replica->runs_at;
	}
	if (seen->phase == OBSERVED_RUNNING && replica->ends_at < at) {
		step = STEP_END;
		at = replica->ends_at;
	}
	if (replica->obeys_at < at) {
		step = STEP_OBEY;
		at = replica->obeys_at;
	}
	if (fake->settings.traits.kills_after_grace && seen->kill_at != MSEC_UNSET &&
	    seen->kill_at < at) {
		step = STEP_KILLED;
		at = seen->kill_at;
	}
	*ret_at = at;
	return step;
}

static msec later(msec at, msec by)
{
	return by == MSEC_NEVER ? MSEC_NEVER : at + by;
}

static void begin_to_run(struct fake_replica *replica, msec at)
{
	replica->seen.phase = OBSERVED_RUNNING;
	replica->seen.started_at = at;
	replica->ends_at = later(at, replica->behaviour.runs_for);
}

static void take_step(struct fake_backend *fake, struct fake_replica *replica, enum step step,
		      msec at)
{
	const struct fake_behaviour *behaviour = &replica->behaviour;

	switch (step) {
	case STEP_NONE:
		break;
	case STEP_RUN:
		begin_to_run(replica, at);
		break;
	case STEP_END:
		if (behaviour->exit_code || behaviour->signal)
			replica->seen.reason = behaviour->reason;
		end(fake, replica, behaviour->exit_code, behaviour->signal, at);
		break;
	case STEP_OBEY:
		end(fake, replica, 0, behaviour->exits_on_term ? 0 : replica->stop_signal, at);
		break;
	case STEP_KILLED:
		replica->seen.is_killed = true;
		end(fake, replica, 0, SIGKILL, at);
		break;
	}
}

/* The replica that does something first. */
static struct fake_replica *find_next(const struct fake_backend *fake, enum step *ret_step,
				      msec *ret_at)
{
	struct fake_replica *first = NULL;

	*ret_at = MSEC_NEVER;
	for (size_t i = 0; i < fake->n_replicas; i++) {
		msec at;
		enum step step = next_step(fake, &fake->replicas[i], &at);

		if (step == STEP_NONE || at >= *ret_at)
			continue;
		first = &fake->replicas[i];
		*ret_step = step;
		*ret_at = at;
	}
	return first;
}

msec backend_fake_next_event(const struct backend *backend)
{
	enum step step;
	msec at;

	find_next((const struct fake_backend *) backend, &step, &at);
	return at;
}

void backend_fake_advance(struct backend *backend, msec now)
{
	struct fake_backend *fake = of(backend);
	struct fake_replica *replica;
	enum step step;
	msec at;

	while ((replica = find_next(fake, &step, &at)) && at <= now)
		take_step(fake, replica, step, at);
	fake->now = now;
	send_news(fake);
}

/* Rules. */

static bool rule_fits(const struct fake_rule *rule, const char *role, int index, int attempt)
{
	return (!rule->role || text_equals(rule->role, role)) &&
	       (rule->index < 0 || rule->index == index) && rule->attempt <= attempt;
}

static struct fake_behaviour behaviour_of(const struct fake_backend *fake, const char *role,
					  int index, int attempt)
{
	struct fake_behaviour behaviour = {.runs_for = MSEC_NEVER};

	for (size_t i = 0; i < fake->n_rules; i++)
		if (rule_fits(&fake->rules[i], role, index, attempt))
			behaviour = fake->rules[i].behaviour;
	return behaviour;
}

void backend_fake_set_behaviour(struct backend *backend, const char *role, int index, int attempt,
				const struct fake_behaviour *behaviour)
{
	struct fake_backend *fake = of(backend);

	mem_grow(&fake->rules, &fake->rules_capacity, fake->n_rules, sizeof(*fake->rules));
	fake->rules[fake->n_rules++] = (struct fake_rule){
		.role = mem_copy_text(role),
		.index = index,
		.attempt = attempt,
		.behaviour = *behaviour,
	};
}

/* Actions. */

static struct fake_replica *find(const struct fake_backend *fake, const struct action *action)
{
	for (size_t i = 0; i < fake->n_replicas; i++) {
		struct fake_replica *replica = &fake->replicas[i];

		if (replica->seen.index == action->index &&
		    replica->seen.attempt == action->attempt &&
		    text_equals(replica->seen.role, action->role))
			return replica;
	}
	return NULL;
}

static struct fake_replica *find_live(const struct fake_backend *fake, const char *role, int index)
{
	for (size_t i = 0; i < fake->n_replicas; i++) {
		struct fake_replica *replica = &fake->replicas[i];

		if (replica->seen.index == index && text_equals(replica->seen.role, role) &&
		    observed_is_live(&replica->seen))
			return replica;
	}
	return NULL;
}

static bool is_name_taken(const struct fake_backend *fake, const struct action *action)
{
	if (fake->settings.traits.names_carry_attempt)
		return false;
	for (size_t i = 0; i < fake->n_replicas; i++)
		if (fake->replicas[i].seen.index == action->index &&
		    text_equals(fake->replicas[i].seen.role, action->role))
			return true;
	return false;
}

static struct fake_replica *add_replica(struct fake_backend *fake, const struct action *action)
{
	mem_grow(&fake->replicas, &fake->replicas_capacity, fake->n_replicas,
		 sizeof(*fake->replicas));
	struct fake_replica *replica = &fake->replicas[fake->n_replicas++];

	*replica = (struct fake_replica){
		.seen = {.role = mem_copy_text(action->role),
			 .index = action->index,
			 .attempt = action->attempt,
			 .phase = OBSERVED_STARTING,
			 .exit_code = -1},
		.behaviour = behaviour_of(fake, action->role, action->index, action->attempt),
		.runs_at = MSEC_NEVER,
		.ends_at = MSEC_NEVER,
		.obeys_at = MSEC_NEVER,
	};
	return replica;
}

static int apply_start(struct fake_backend *fake, const struct action *action, struct err *err)
{
	if (find(fake, action))
		return 0;
	if (is_name_taken(fake, action))
		return err_set(err, ERR_EXISTS, "%s-%d exists already", action->role,
			       action->index);
	struct fake_replica *replica = add_replica(fake, action);

	if (replica->behaviour.cannot_start) {
		replica->seen.phase = OBSERVED_FAILED;
		replica->seen.reason = "StartFailed";
		replica->seen.message = "no such program";
		replica->seen.ended_at = fake->now;
		return 0;
	}
	replica->seen.pid = ++fake->last_pid;
	if (replica->behaviour.start_takes)
		replica->runs_at = later(fake->now, replica->behaviour.start_takes);
	else
		begin_to_run(replica, fake->now);
	return 0;
}

static bool is_ignored(const struct fake_behaviour *behaviour, int signal)
{
	return behaviour->ignores_stops || (behaviour->ignores_term && signal == SIGTERM);
}

static void ask_to_end(struct fake_backend *fake, struct fake_replica *replica, msec grace,
		       int signal)
{
	replica->stop_signal = signal ? signal : SIGTERM;
	replica->seen.stop_asked_at = fake->now;
	replica->seen.kill_at = fake->now + grace;
	if (!is_ignored(&replica->behaviour, replica->stop_signal))
		replica->obeys_at = later(fake->now, replica->behaviour.term_takes);
}

static void apply_stop(struct fake_backend *fake, const struct action *action)
{
	struct fake_replica *replica = find(fake, action);

	if (replica && observed_is_live(&replica->seen) &&
	    !observed_was_asked_to_end(&replica->seen))
		ask_to_end(fake, replica, action->grace, action->signal);
}

static void apply_kill(struct fake_backend *fake, const struct action *action)
{
	struct fake_replica *replica = find(fake, action);

	if (!replica || !observed_is_live(&replica->seen))
		return;
	replica->seen.is_killed = true;
	end(fake, replica, 0, SIGKILL, fake->now);
}

static void apply_remove(struct fake_backend *fake, const struct action *action)
{
	struct fake_replica *replica = find(fake, action);

	if (!replica)
		return;
	assert(!observed_is_live(&replica->seen));
	drop(fake, replica);
}

static struct fake_address *find_address(const struct fake_backend *fake, const char *role,
					 int index)
{
	for (size_t i = 0; i < fake->n_addresses; i++)
		if (fake->addresses[i].index == index && text_equals(fake->addresses[i].role, role))
			return &fake->addresses[i];
	return NULL;
}

static void apply_publish(struct fake_backend *fake, const struct action *action)
{
	if (find_address(fake, action->role, action->index))
		return;
	mem_grow(&fake->addresses, &fake->addresses_capacity, fake->n_addresses,
		 sizeof(*fake->addresses));
	fake->addresses[fake->n_addresses++] = (struct fake_address){
		.role = mem_copy_text(action->role),
		.index = action->index,
		.address = mem_format("%s-%d.fake:2222", action->role, action->index),
	};
}

static void free_address(struct fake_address *address)
{
	free(address->role);
	free(address->address);
}

static void apply_unpublish(struct fake_backend *fake, const struct action *action)
{
	struct fake_address *address = find_address(fake, action->role, action->index);

	if (!address)
		return;
	free_address(address);
	*address = fake->addresses[--fake->n_addresses];
}

static int fake_apply(struct backend *backend, const struct job *job, const struct action *action,
		      struct err *err)
{
	struct fake_backend *fake = of(backend);

	if (!text_equals(fake->job_name, job->name)) {
		free(fake->job_name);
		fake->job_name = mem_copy_text(job->name);
	}
	if (fake->n_to_refuse > 0) {
		fake->n_to_refuse--;
		return err_set(err, ERR_IO, "%s of %s-%d refused", action_type_words[action->type],
			       action->role, action->index);
	}
	switch (action->type) {
	case ACTION_PUBLISH:
		apply_publish(fake, action);
		break;
	case ACTION_START:
		return apply_start(fake, action, err);
	case ACTION_STOP:
		apply_stop(fake, action);
		break;
	case ACTION_KILL:
		apply_kill(fake, action);
		break;
	case ACTION_REMOVE:
		apply_remove(fake, action);
		break;
	case ACTION_UNPUBLISH:
		apply_unpublish(fake, action);
		break;
	case ACTION_TYPE_COUNT:
		break;
	}
	return 0;
}

/* Observing. */

static int fake_observe(struct backend *backend, const struct job *job, struct arena *arena,
			struct observed *ret_observed, struct err *err)
{
	struct fake_backend *fake = of(backend);

	(void) job;
	(void) err;
	*ret_observed = (struct observed){
		.replicas =
			arena_take_array(arena, fake->n_replicas, sizeof(*ret_observed->replicas)),
		.n_replicas = fake->n_replicas,
		.addresses = arena_take_array(arena, fake->n_addresses,
					      sizeof(*ret_observed->addresses)),
		.n_addresses = fake->n_addresses,
		.clock_step = fake->clock_step,
		.traits = fake->settings.traits,
	};
	fake->clock_step = 0;
	for (size_t i = 0; i < fake->n_replicas; i++) {
		ret_observed->replicas[i] = fake->replicas[i].seen;
		ret_observed->replicas[i].role =
			arena_copy_text(arena, fake->replicas[i].seen.role);
	}
	for (size_t i = 0; i < fake->n_addresses; i++)
		ret_observed->addresses[i] = (struct observed_address){
			.role = arena_copy_text(arena, fake->addresses[i].role),
			.index = fake->addresses[i].index,
			.address = arena_copy_text(arena, fake->addresses[i].address),
		};
	return 0;
}

static int fake_last_lines(struct backend *backend, const struct job *job, const char *role,
			   int index, int attempt, size_t most, struct arena *arena,
			   struct printed *ret_printed, struct err *err)
{
	(void) backend;
	(void) job;
	(void) err;
	*ret_printed = (struct printed){.count = most > 0 ? 1 : 0};
	ret_printed->lines =
		arena_take_array(arena, ret_printed->count, sizeof(*ret_printed->lines));
	if (ret_printed->count)
		ret_printed->lines[0] =
			arena_format(arena, "last words of %s-%d.%d", role, index, attempt);
	return 0;
}

static int fake_last_stacks(struct backend *backend, struct arena *arena, const char ***ret_lines,
			    size_t *ret_count, struct err *err)
{
	const struct fake_backend *fake = of(backend);

	if (!fake->stacks)
		return err_set(err, ERR_UNREACHABLE, "not yet");
	*ret_count = 1;
	*ret_lines = arena_take_array(arena, 1, sizeof(**ret_lines));
	(*ret_lines)[0] = fake->stacks;
	return 0;
}

/* From outside. */

void backend_fake_set_stacks(struct backend *backend, const char *line)
{
	of(backend)->stacks = line;
	send_news(of(backend));
}

bool backend_fake_kill(struct backend *backend, const char *role, int index, int signal)
{
	struct fake_backend *fake = of(backend);
	struct fake_replica *replica = find_live(fake, role, index);

	if (!replica)
		return false;
	end(fake, replica, 0, signal, fake->now);
	send_news(fake);
	return true;
}

bool backend_fake_delete(struct backend *backend, const char *role, int index, msec grace)
{
	struct fake_backend *fake = of(backend);
	struct fake_replica *replica = find_live(fake, role, index);

	if (!replica || observed_was_asked_to_end(&replica->seen))
		return false;
	ask_to_end(fake, replica, grace, 0);
	send_news(fake);
	return true;
}

bool backend_fake_lose(struct backend *backend, const char *role, int index)
{
	struct fake_backend *fake = of(backend);
	struct fake_replica *replica = find_live(fake, role, index);

	if (!replica)
		return false;
	drop(fake, replica);
	send_news(fake);
	return true;
}

void backend_fake_set_clock(struct backend *backend, msec step)
{
	of(backend)->clock_step += step;
}

void backend_fake_refuse(struct backend *backend, int count)
{
	of(backend)->n_to_refuse = count;
}

static void fake_free(struct backend *backend)
{
	struct fake_backend *fake = of(backend);

	while (fake->n_replicas)
		drop(fake, &fake->replicas[fake->n_replicas - 1]);
	for (size_t i = 0; i < fake->n_addresses; i++)
		free_address(&fake->addresses[i]);
	for (size_t i = 0; i < fake->n_rules; i++)
		free(fake->rules[i].role);
	free(fake->replicas);
	free(fake->addresses);
	free(fake->rules);
	free(fake->job_name);
	free(fake);
}

static const struct backend_functions fake_functions = {
	.name = "fake",
	.observe = fake_observe,
	.apply = fake_apply,
	.last_lines = fake_last_lines,
	.last_stacks = fake_last_stacks,
	.free = fake_free,
};

struct backend *backend_fake_new(const struct backend_fake_settings *settings, msec now)
{
	struct fake_backend *fake = mem_new(sizeof(*fake));

	fake->base.functions = &fake_functions;
	fake->settings = *settings;
	fake->now = now;
	return &fake->base;
}
