/* A step applies an event to the members; the world's next state follows from them alone. */
#include "rendezvous/rendezvous.h"

#include "status/restart_delay.h"

#include <assert.h>
#include <inttypes.h>

const char *const rendezvous_phase_words[RENDEZVOUS_PHASE_COUNT] = {
	[RENDEZVOUS_WAITING] = "waiting", [RENDEZVOUS_GATHERING] = "gathering",
	[RENDEZVOUS_PAUSING] = "pausing", [RENDEZVOUS_RUNNING] = "running",
	[RENDEZVOUS_CLOSED] = "closed",
};

const char *const rendezvous_verdict_words[RENDEZVOUS_VERDICT_COUNT] = {
	[RENDEZVOUS_OPEN] = "open",           [RENDEZVOUS_SUCCEEDED] = "succeeded",
	[RENDEZVOUS_FAILED] = "failed",       [RENDEZVOUS_NO_PROGRESS] = "no-progress",
	[RENDEZVOUS_TIMED_OUT] = "timed-out", [RENDEZVOUS_STOPPED] = "stopped",
};

const char *const rendezvous_order_words[RENDEZVOUS_ORDER_COUNT] = {
	[RENDEZVOUS_WAIT] = "wait",
	[RENDEZVOUS_RUN] = "run",
	[RENDEZVOUS_GO] = "go",
};

/* Number of restarts without a long-lived world that are not charged. */
#define FREE_RESTARTS 3
/* A member that is lost within this time after a failure may have been its cause. */
#define LOSS_TIME MSEC_PER_SECOND
/* A server that looks at the leases so much too late was away itself. */
#define RENDEZVOUS_PAUSE MSEC_PER_SECOND

/* Members. */

static void member_free(struct member_entry *member)
{
	free(member->id);
	free(member->offer);
	free(member->key);
	free(member);
}

/* The position of the id, or the position to insert it at. */
static size_t member_place_of(const struct member_table *table, const char *id)
{
	size_t low = 0, high = table->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(table->members[middle]->id, id) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct member_entry *member_table_find(const struct member_table *table, const char *id)
{
	size_t place = member_place_of(table, id);
	bool is_there = place < table->count && strcmp(table->members[place]->id, id) == 0;

	return is_there ? table->members[place] : NULL;
}

/* The member must be new; it is the last to arrive. */
static struct member_entry *member_table_add(struct member_table *table, const char *id)
{
	size_t place = member_place_of(table, id);
	struct member_entry *member = mem_new(sizeof(*member));

	member->id = mem_copy_text(id);
	member->number = table->n_ever++;
	member->rank = -1;
	member->acknowledge_by = INSTANT_NEVER;
	mem_grow(&table->members, &table->capacity, table->count, sizeof(struct member_entry *));
	memmove(table->members + place + 1, table->members + place,
		(table->count - place) * sizeof(struct member_entry *));
	table->members[place] = member;
	table->count++;
	return member;
}

static int compare_places(const void *a, const void *b)
{
	const struct member_entry *left = *(struct member_entry *const *) a;
	const struct member_entry *right = *(struct member_entry *const *) b;

	if (left->is_excluded != right->is_excluded)
		return left->is_excluded ? 1 : -1;
	if (left->node_rank != right->node_rank)
		return left->node_rank < right->node_rank ? -1 : 1;
	return left->number < right->number ? -1 : left->number > right->number;
}

/* The members that may be in a next world, by arrival; excluded ones last. Caller frees. */
static struct member_entry **member_table_candidates(const struct member_table *table,
						     size_t *ret_count)
{
	struct member_entry **candidates =
		mem_new_array(table->count + 1, sizeof(struct member_entry *));
	size_t count = 0;

	for (size_t i = 0; i < table->count; i++)
		if (!table->members[i]->is_leaving)
			candidates[count++] = table->members[i];
	qsort(candidates, count, sizeof(struct member_entry *), compare_places);
	*ret_count = count;
	return candidates;
}

/* Size of a world for this many candidates; 0: too few. */
static size_t world_size_of(const struct rendezvous_settings *settings, size_t n_candidates)
{
	size_t most = n_candidates < (size_t) settings->terms.max ? n_candidates
								  : (size_t) settings->terms.max;
	size_t size = most - most % (size_t) settings->terms.unit;

	return size >= (size_t) settings->terms.min ? size : 0;
}

static void enter(struct rendezvous *rendezvous, enum rendezvous_phase phase, instant ends)
{
	rendezvous->phase = phase;
	rendezvous->phase_ends = ends;
}

struct rendezvous *rendezvous_new(const struct rendezvous_settings *settings, instant now)
{
	struct rendezvous *rendezvous = mem_new(sizeof(*rendezvous));

	assert(settings->terms.min >= 1 && settings->terms.min <= settings->terms.max &&
	       settings->terms.unit >= 1);
	assert(settings->terms.max <= LIMIT_MEMBERS);
	assert(world_size_of(settings, LIMIT_MEMBERS) > 0);
	rendezvous->settings = *settings;
	rendezvous->budget.terms = settings->terms.restarts;
	rendezvous->awaits_last_call = true;
	rendezvous->next_expiry = INSTANT_NEVER;
	rendezvous->restart_at = now;
	rendezvous->all_found_at = instant_add(now, settings->lease);
	enter(rendezvous, RENDEZVOUS_WAITING, instant_add(now, settings->terms.join_time));
	return rendezvous;
}

static void detach(const struct rendezvous *rendezvous, struct member_entry *member, bool is_lost)
{
	if (member->attachment)
		rendezvous->settings.on_removed(TAKE(member->attachment), is_lost);
}

void rendezvous_free(struct rendezvous *rendezvous)
{
	if (!rendezvous)
		return;
	for (size_t i = 0; i < rendezvous->members.count; i++)
		detach(rendezvous, rendezvous->members.members[i], false);
	for (size_t i = 0; i < rendezvous->members.count; i++)
		member_free(rendezvous->members.members[i]);
	free(rendezvous->members.members);
	arena_free(rendezvous->world.arena);
	free(rendezvous);
}

/* The world. */

static void clear_member_ranks(struct rendezvous *rendezvous)
{
	for (size_t i = 0; i < rendezvous->members.count; i++) {
		rendezvous->members.members[i]->rank = -1;
		rendezvous->members.members[i]->is_done = false;
	}
}

static void end_world(struct rendezvous *rendezvous, enum world_reason reason)
{
	if (!rendezvous->goes_on)
		return;
	clear_member_ranks(rendezvous);
	rendezvous->goes_on = false;
	rendezvous->reason = reason;
	rendezvous->is_unsettled = true;
	rendezvous->version++;
}

static int64_t next_generation(const struct rendezvous *rendezvous)
{
	int64_t last = rendezvous->world.generation;

	return (rendezvous->newest > last ? rendezvous->newest : last) + 1;
}

static void form_world(struct rendezvous *rendezvous, struct member_entry *const *members,
		       size_t count, instant now)
{
	struct world_member *list CLEANUP(mem_free_any) = mem_new_array(count, sizeof(*list));
	const struct world world = {
		.generation = next_generation(rendezvous),
		.formed_at = now,
		.reason = rendezvous->goes_on ? WORLD_GREW : rendezvous->reason,
		.members = list,
		.n_members = count,
	};

	clear_member_ranks(rendezvous);
	for (size_t i = 0; i < count; i++) {
		list[i] = (struct world_member){members[i]->id, members[i]->offer, members[i]->key};
		members[i]->rank = (int) i;
	}
	arena_free(rendezvous->world.arena);
	rendezvous->world = world_copy(&world);
	rendezvous->goes_on = rendezvous->has_formed = true;
	rendezvous->awaits_last_call = false;
	rendezvous->version++;
	enter(rendezvous, RENDEZVOUS_RUNNING, INSTANT_NEVER);
}

static void close_with(struct rendezvous *rendezvous, enum rendezvous_verdict verdict)
{
	end_world(rendezvous, rendezvous->reason);
	rendezvous->verdict = verdict;
	rendezvous->version++;
	enter(rendezvous, RENDEZVOUS_CLOSED, INSTANT_NEVER);
}

/* Events. */

/* Members were in a later world than the record has. */
static bool has_lost_worlds(const struct rendezvous *rendezvous)
{
	return rendezvous->newest > rendezvous->world.generation;
}

/* The members of a lost world find their server again within a lease. */
static instant gathering_end(const struct rendezvous *rendezvous, instant now)
{
	return has_lost_worlds(rendezvous) ? rendezvous->all_found_at
					   : instant_add(now, rendezvous->settings.terms.last_call);
}

static bool is_at_work(const struct member_entry *member)
{
	return member->rank >= 0 && !member->is_done;
}

/* The member whose workers failed first in that world; NULL: unknown. */
static struct member_entry *find_blamed(const struct rendezvous *rendezvous)
{
	const struct member_table *table = &rendezvous->members;

	for (size_t i = 0; i < table->count; i++)
		if (table->members[i]->failed_in == rendezvous->failed_world)
			return table->members[i];
	return NULL;
}

static void unblame(struct rendezvous *rendezvous)
{
	struct member_entry *member = find_blamed(rendezvous);

	if (!member)
		return;
	member->failed_in = 0;
	member->n_failures--;
	member->is_excluded = member->n_failures >= RENDEZVOUS_MACHINE_FAILURES;
}

static bool is_spent(const struct rendezvous *rendezvous)
{
	return rendezvous->budget.end != RESTARTS_LEFT;
}

static void take_share(struct rendezvous *rendezvous, struct member_entry *member,
		       const char *offer)
{
	struct world_share *sum = &rendezvous->share, before = member->share;

	member->share = offer_share(offer);
	sum->n_processes += member->share.n_processes - before.n_processes;
	sum->address_bytes += member->share.address_bytes - before.address_bytes;
}

static void remove_member(struct rendezvous *rendezvous, struct member_entry *member,
			  enum world_reason reason)
{
	struct member_table *table = &rendezvous->members;
	size_t place = member_place_of(table, member->id);
	bool is_missed = is_at_work(member);

	if (member->rank >= 0)
		rendezvous->version++; /* the record of the world has changed */
	take_share(rendezvous, member, "");
	detach(rendezvous, member, reason == WORLD_LOST_MEMBER);
	table->count--;
	memmove(table->members + place, table->members + place + 1,
		(table->count - place) * sizeof(struct member_entry *));
	member_free(member);
	rendezvous->is_unsettled = true;
	if (is_missed)
		end_world(rendezvous, reason);
}

static instant member_loss_time(const struct member_entry *member)
{
	return instant_min(member->expires_at, member->acknowledge_by);
}

/* Workers whose peer disappeared fail before its loss is known. That is not their failure. */
static void refund_restart_charge(struct rendezvous *rendezvous, const struct member_entry *lost,
				  instant now)
{
	bool is_cause =
		lost->was_blamed && instant_has_come(lost->heard_at, rendezvous->charged_at);

	if (!instant_is_set(rendezvous->charged_at) || !is_cause)
		return;
	if (!rendezvous->goes_on)
		rendezvous->reason = WORLD_LOST_MEMBER;
	if (is_spent(rendezvous)) {
		rendezvous->restart_at = now;
		rendezvous->version++;
	} else {
		rendezvous->n_restarts--;
	}
	restart_budget_give_back(&rendezvous->budget);
	unblame(rendezvous);
	rendezvous->charged_at = INSTANT_UNSET;
	rendezvous->n_recent--;
}

/* After a pause of this server (of its machine, or by its disk) nobody could have called. */
static void renew_all_leases(struct rendezvous *rendezvous, instant now)
{
	struct member_table *table = &rendezvous->members;
	instant expires_at = instant_add(now, rendezvous->settings.lease);

	for (size_t i = 0; i < table->count; i++) {
		struct member_entry *member = table->members[i];

		member->expires_at = expires_at;
		if (!instant_is_never(member->acknowledge_by))
			member->acknowledge_by = expires_at;
	}
	rendezvous->next_expiry = expires_at;
}

static void remove_silent(struct rendezvous *rendezvous, instant now)
{
	struct member_table *table = &rendezvous->members;

	if (!instant_has_come(rendezvous->next_expiry, now))
		return;
	if (instant_since(rendezvous->next_expiry, now) >= RENDEZVOUS_PAUSE) {
		renew_all_leases(rendezvous, now);
		return;
	}
	rendezvous->next_expiry = INSTANT_NEVER;
	for (size_t i = table->count; i-- > 0;) {
		struct member_entry *member = table->members[i];

		if (!instant_has_come(member_loss_time(member), now)) {
			rendezvous->next_expiry =
				instant_min(rendezvous->next_expiry, member_loss_time(member));
			continue;
		}
		refund_restart_charge(rendezvous, member, now);
		remove_member(rendezvous, member, WORLD_LOST_MEMBER);
	}
}

static void expect(struct rendezvous *rendezvous, struct member_entry *member, instant expires_at)
{
	member->expires_at = expires_at;
	rendezvous->next_expiry = instant_min(rendezvous->next_expiry, expires_at);
}

static void renew_member_lease(struct rendezvous *rendezvous, struct member_entry *member,
			       const struct rendezvous_event *event, instant now)
{
	member->heard_at = now;
	rendezvous->is_unsettled |= member->is_awaited;
	member->is_awaited = false;
	if (event->has_acknowledged)
		member->acknowledge_by = INSTANT_NEVER;
	expect(rendezvous, member, instant_add(now, rendezvous->settings.lease));
}

/* A world that this server does not know cannot continue: its members disagree on who is in it. */
static void adopt_newest_generation(struct rendezvous *rendezvous, int64_t generation, instant now)
{
	if (generation < next_generation(rendezvous))
		return;
	rendezvous->newest = generation;
	if (!rendezvous->first_known)
		rendezvous->first_known = generation;
	rendezvous->reason = WORLD_FORGOTTEN;
	rendezvous->awaits_last_call = true;
	if (rendezvous->phase == RENDEZVOUS_GATHERING)
		rendezvous->phase_ends = gathering_end(rendezvous, now);
	end_world(rendezvous, WORLD_FORGOTTEN);
}

/* A generation near the largest number would be the job's last. */
static int check_newest_generation(const struct rendezvous *rendezvous, int64_t generation,
				   struct err *err)
{
	int64_t newest = next_generation(rendezvous) - 1;
	int64_t limit = rendezvous->first_known ? rendezvous->first_known + RENDEZVOUS_LOST_WORLDS
						: RENDEZVOUS_LOST_RECORD;

	if (generation <= newest || generation <= limit)
		return 0;
	return err_set(err, ERR_INVALID,
		       "world: %" PRId64 " is too far above %" PRId64 ", the newest of the job",
		       generation, newest);
}

/* An offer does not change, as a rule. */
static void set_offer(struct rendezvous *rendezvous, struct member_entry *member, const char *offer)
{
	if (text_keep(&member->offer, offer))
		take_share(rendezvous, member, offer);
}

/* An answer has room for so many members and processes. `member`: who changes its offer; NULL: a
 * new one. */
static int check_room(const struct rendezvous *rendezvous, const struct member_entry *member,
		      const char *offer, struct err *err)
{
	if (!member && rendezvous->members.count == LIMIT_MEMBERS)
		return err_set(err, ERR_LIMIT,
			       "the job already has %d members, which is the maximum",
			       LIMIT_MEMBERS);
	if (member && text_equals(member->offer, offer))
		return 0;
	const struct world_share own = member ? member->share : (struct world_share){0},
				 share = offer_share(offer), *all = &rendezvous->share;
	int n_others = all->n_processes - own.n_processes;
	int n_bytes = all->address_bytes - own.address_bytes + share.address_bytes;

	if (n_others + share.n_processes > LIMIT_REPLICAS)
		return err_set(err, ERR_LIMIT, "the job already has %d processes, of %d at most",
			       n_others, LIMIT_REPLICAS);
	if (n_bytes > LIMIT_WORLD_ADDRESSES)
		return err_set(err, ERR_INVALID,
			       "with the processes of this machine, TF_CONFIG would have %d bytes "
			       "of addresses, of %d that Linux takes; use fewer processes per "
			       "machine, or a shorter --local-addr",
			       n_bytes, LIMIT_WORLD_ADDRESSES);
	return 0;
}

static int join(struct rendezvous *rendezvous, const struct rendezvous_event *event, instant now,
		struct err *err)
{
	struct member_entry *member = member_table_find(&rendezvous->members, event->id);
	const char *offer = event->offer ? event->offer : "";

	if (rendezvous->phase == RENDEZVOUS_CLOSED && !member)
		return err_set(err, ERR_REFUSED, "the job has ended (%s)",
			       rendezvous_verdict_words[rendezvous->verdict]);
	if (member && event->call && event->call < member->last_call)
		return err_set(err, ERR_LIMIT, "a later call of this member came first");
	int rc = check_newest_generation(rendezvous, event->newest, err);

	if (rc == 0)
		rc = check_room(rendezvous, member, offer, err);
	if (rc < 0)
		return rc;
	adopt_newest_generation(rendezvous, event->newest, now);
	if (!member) {
		member = member_table_add(&rendezvous->members, event->id);
		rendezvous->is_unsettled = true;
	}
	/* The members of a lost world keep their order, and come before the others, unless those
	 * have been in a world of this server. */
	if (has_lost_worlds(rendezvous) && !rendezvous->has_formed &&
	    event->newest == rendezvous->newest && event->last_rank >= 0)
		member->number = event->last_rank - LIMIT_MEMBERS;
	set_offer(rendezvous, member, offer);
	if (!member->key)
		member->key = mem_copy_text(event->key);
	member->last_call = event->call;
	member->node_rank = event->node_rank;
	restart_budget_progress(&rendezvous->budget, event->progress);
	renew_member_lease(rendezvous, member, event, now);
	return 0;
}

static int check_generation(const struct rendezvous *rendezvous,
			    const struct rendezvous_event *event, const struct member_entry *member,
			    struct err *err)
{
	if (rendezvous->goes_on && member->rank >= 0 &&
	    event->generation == rendezvous->world.generation)
		return 0;
	return err_set(err, ERR_CONFLICT, "generation %" PRId64 " has ended", event->generation);
}

/* The delays are those of a job's restarts. The job fails only after it is known that no lost
 * member was the cause. */
static void fail_current_world(struct rendezvous *rendezvous, instant now)
{
	if (instant_since(rendezvous->world.formed_at, now) >= RESTART_LONG_LIFE)
		rendezvous->n_recent = 0;
	for (size_t i = 0; i < rendezvous->members.count; i++)
		rendezvous->members.members[i]->was_blamed =
			rendezvous->members.members[i]->rank >= 0;
	rendezvous->failed_world = rendezvous->world.generation;
	end_world(rendezvous, WORLD_WORKER_FAILED);
	rendezvous->charged_at = now;
	msec delay = restart_delay(rendezvous->n_recent++);

	if (restart_budget_charge(&rendezvous->budget, now))
		rendezvous->n_restarts++;
	else
		delay = rendezvous->world.n_members > 1 ? LOSS_TIME : 0;
	rendezvous->restart_at = instant_add(now, delay);
}

/* Size of a world without the excluded members; 0: too few. */
static size_t size_without_excluded(const struct rendezvous *rendezvous)
{
	const struct member_table *table = &rendezvous->members;
	size_t count = 0;

	for (size_t i = 0; i < table->count; i++)
		count += !table->members[i]->is_leaving && !table->members[i]->is_excluded;
	return world_size_of(&rendezvous->settings, count);
}

/* Also if another world has begun: the failure that ended its world may be a consequence. */
static void blame(struct rendezvous *rendezvous, struct member_entry *member,
		  const struct rendezvous_event *event, instant now)
{
	if (!event->is_cause || event->generation != rendezvous->failed_world ||
	    !member->was_blamed || find_blamed(rendezvous))
		return;
	member->failed_in = event->generation;
	if (!member->n_failures ||
	    instant_since(member->failures_since, now) >= RENDEZVOUS_MACHINE_WINDOW) {
		member->failures_since = now;
		member->n_failures = 0;
	}
	if (++member->n_failures < RENDEZVOUS_MACHINE_FAILURES || member->is_excluded)
		return;
	member->is_excluded = rendezvous->is_unsettled = true;
	if (member->rank >= 0 && size_without_excluded(rendezvous) > 0)
		end_world(rendezvous, WORLD_WORKER_FAILED);
}

/* A script that asks for a restart at each start makes no progress: that is a failure. */
static void restart(struct rendezvous *rendezvous, instant now)
{
	if (instant_since(rendezvous->world.formed_at, now) >= RESTART_LONG_LIFE)
		rendezvous->n_recent = 0;
	if (rendezvous->n_recent >= FREE_RESTARTS) {
		fail_current_world(rendezvous, now);
		return;
	}
	end_world(rendezvous, WORLD_RESTART_ASKED);
	rendezvous->charged_at = INSTANT_UNSET;
	rendezvous->restart_at = instant_add(now, restart_delay(rendezvous->n_recent++));
}

static void drain(struct rendezvous *rendezvous, struct member_entry *member)
{
	if (member->is_leaving)
		return;
	member->is_leaving = true;
	rendezvous->is_unsettled = true;
	rendezvous->version++;
	if (is_at_work(member))
		end_world(rendezvous, WORLD_MEMBER_LEFT);
}

static int apply_member_event(struct rendezvous *rendezvous, const struct rendezvous_event *event,
			      instant now, struct err *err)
{
	struct member_entry *member = member_table_find(&rendezvous->members, event->id);

	if (!member)
		return err_set(err, ERR_NOT_FOUND, "no member '%s'", event->id);
	if (event->type == RENDEZVOUS_LEAVE) {
		remove_member(rendezvous, member, WORLD_MEMBER_LEFT);
		if (rendezvous->members.count == 0 && rendezvous->phase != RENDEZVOUS_CLOSED)
			close_with(rendezvous,
				   rendezvous->goes_on ? RENDEZVOUS_SUCCEEDED : RENDEZVOUS_STOPPED);
		return 0;
	}
	if (event->type == RENDEZVOUS_LOST) {
		expect(rendezvous, member, now);
		return 0;
	}
	if (event->type == RENDEZVOUS_DRAIN) { /* others may ask for it: it is no heartbeat */
		drain(rendezvous, member);
		return 0;
	}
	renew_member_lease(rendezvous, member, event, now);
	if (check_generation(rendezvous, event, member, err) < 0) {
		if (event->type == RENDEZVOUS_FAIL)
			blame(rendezvous, member, event, now);
		return ERR_CONFLICT;
	}
	if (event->type == RENDEZVOUS_FAIL) {
		fail_current_world(rendezvous, now);
		blame(rendezvous, member, event, now);
	} else if (event->type == RENDEZVOUS_RESTART) {
		restart(rendezvous, now);
	} else {
		member->is_done = rendezvous->is_unsettled = true;
	}
	return 0;
}

/* The world's next state. */

static void gather(struct rendezvous *rendezvous, struct member_entry *const *candidates,
		   size_t size, instant now)
{
	const struct rendezvous_settings *settings = &rendezvous->settings;

	if (rendezvous->phase != RENDEZVOUS_GATHERING)
		enter(rendezvous, RENDEZVOUS_GATHERING, gathering_end(rendezvous, now));
	if (instant_has_come(rendezvous->phase_ends, now) ||
	    size == world_size_of(settings, LIMIT_MEMBERS))
		form_world(rendezvous, candidates, size, now);
}

static void wait_for_members(struct rendezvous *rendezvous, instant now)
{
	if (rendezvous->phase != RENDEZVOUS_WAITING) {
		rendezvous->awaits_last_call = true;
		enter(rendezvous, RENDEZVOUS_WAITING,
		      instant_add(now, rendezvous->settings.terms.join_time));
	} else if (instant_has_come(rendezvous->phase_ends, now)) {
		close_with(rendezvous, RENDEZVOUS_TIMED_OUT);
	}
}

static void advance_without_world(struct rendezvous *rendezvous,
				  struct member_entry *const *candidates, size_t size, instant now)
{
	bool is_pausing = !instant_has_come(rendezvous->restart_at, now);

	if (is_spent(rendezvous) && !is_pausing)
		close_with(rendezvous, rendezvous->budget.end == RESTARTS_NO_PROGRESS
					       ? RENDEZVOUS_NO_PROGRESS
					       : RENDEZVOUS_FAILED);
	else if (size == 0 && !is_spent(rendezvous))
		wait_for_members(rendezvous, now);
	else if (is_pausing)
		enter(rendezvous, RENDEZVOUS_PAUSING, rendezvous->restart_at);
	else if (rendezvous->awaits_last_call)
		gather(rendezvous, candidates, size, now);
	else
		form_world(rendezvous, candidates, size, now);
}

static void update_phase(struct rendezvous *rendezvous, instant now)
{
	size_t n_at_work = 0, n_candidates;
	bool awaits_any = false;

	if (rendezvous->phase == RENDEZVOUS_CLOSED ||
	    !(rendezvous->is_unsettled || instant_has_come(rendezvous->phase_ends, now)))
		return;
	rendezvous->is_unsettled = false;
	/* One that left after its workers succeeded is no member, but not missed. */
	for (size_t i = 0; i < rendezvous->members.count; i++) {
		n_at_work += is_at_work(rendezvous->members.members[i]);
		awaits_any |= rendezvous->members.members[i]->is_awaited;
	}
	if (awaits_any) {
		enter(rendezvous, rendezvous->goes_on ? RENDEZVOUS_RUNNING : RENDEZVOUS_PAUSING,
		      INSTANT_NEVER);
		return;
	}
	if (rendezvous->goes_on && n_at_work == 0) {
		close_with(rendezvous, RENDEZVOUS_SUCCEEDED);
		return;
	}
	struct member_entry **candidates CLEANUP(mem_free_any) =
		member_table_candidates(&rendezvous->members, &n_candidates);
	size_t size = size_without_excluded(rendezvous);
	int64_t generation = rendezvous->world.generation;

	if (size == 0)
		size = world_size_of(&rendezvous->settings, n_candidates);
	if (!rendezvous->goes_on)
		advance_without_world(rendezvous, candidates, size, now);
	else if (size > rendezvous->world.n_members && n_at_work == rendezvous->world.n_members)
		gather(rendezvous, candidates, size, now);
	else
		enter(rendezvous, RENDEZVOUS_RUNNING, INSTANT_NEVER);
	/* In a new world, excluded members become the last in order of arrival. */
	for (size_t i = 0; rendezvous->world.generation != generation && i < n_candidates; i++)
		if (candidates[i]->is_excluded)
			candidates[i]->number = rendezvous->members.n_ever++;
}

int rendezvous_step(struct rendezvous *rendezvous, const struct rendezvous_event *event,
		    instant now, struct err *err)
{
	instant acknowledge_by = instant_add(now, rendezvous->settings.lease);
	int64_t version = rendezvous->version;
	int rc = 0;

	if (event->type == RENDEZVOUS_JOIN)
		rc = join(rendezvous, event, now, err);
	else if (event->type != RENDEZVOUS_TIME)
		rc = apply_member_event(rendezvous, event, now, err);
	remove_silent(rendezvous, now); /* a member that has called is not silent */
	update_phase(rendezvous, now);
	if (version == rendezvous->version)
		return rc;
	/* A member whose heartbeats arrive but which never acknowledges would block every world. */
	for (size_t i = 0; i < rendezvous->members.count; i++) {
		struct member_entry *member = rendezvous->members.members[i];

		member->acknowledge_by = instant_min(member->acknowledge_by, acknowledge_by);
	}
	rendezvous->next_expiry = instant_min(rendezvous->next_expiry, acknowledge_by);
	return rc;
}

/* Records. */

static struct member_entry *restore_member(struct rendezvous *rendezvous,
					   const struct world_member *known, int rank, instant now)
{
	struct member_entry *member = member_table_add(&rendezvous->members, known->id);

	set_offer(rendezvous, member, known->offer);
	member->key = mem_copy_text(known->key);
	member->heard_at = now;
	member->acknowledge_by = instant_add(now, rendezvous->settings.lease);
	member->is_awaited = true;
	member->rank = rendezvous->goes_on ? rank : -1;
	expect(rendezvous, member, member->acknowledge_by);
	return member;
}

struct rendezvous *rendezvous_restore(const struct rendezvous_settings *settings,
				      const struct rendezvous *past,
				      const struct world_member *excluded, size_t n_excluded,
				      instant now)
{
	struct rendezvous *rendezvous = rendezvous_new(settings, now);

	rendezvous->world = world_copy(&past->world);
	rendezvous->world.formed_at = now;
	rendezvous->first_known = past->world.generation;
	rendezvous->goes_on = past->goes_on;
	rendezvous->awaits_last_call = !past->goes_on;
	rendezvous->n_restarts = past->n_restarts;
	rendezvous->budget = restart_budget_restore(&settings->terms.restarts, &past->budget, now);
	rendezvous->reason = past->reason;
	rendezvous->verdict = past->verdict;
	rendezvous->is_unsettled = true;
	if (past->verdict != RENDEZVOUS_OPEN) {
		enter(rendezvous, RENDEZVOUS_CLOSED, INSTANT_NEVER);
		return rendezvous;
	}
	for (size_t i = 0; i < past->world.n_members; i++)
		if (past->world.members[i].is_there)
			(void) restore_member(rendezvous, &past->world.members[i], (int) i, now);
	for (size_t i = 0; i < n_excluded; i++) {
		struct member_entry *member = /* which may also be in the last world */
			member_table_find(&rendezvous->members, excluded[i].id);

		if (!member)
			member = restore_member(rendezvous, &excluded[i], -1, now);
		member->is_excluded = true;
	}
	if (past->goes_on)
		enter(rendezvous, RENDEZVOUS_RUNNING, INSTANT_NEVER);
	return rendezvous;
}

int rendezvous_check_key(const struct rendezvous *rendezvous, const char *id, const char *key,
			 struct err *err)
{
	const struct member_entry *member = member_table_find(&rendezvous->members, id);

	if (!member || !member->key || text_equals(member->key, key))
		return 0;
	return err_set(err, ERR_EXISTS, "'%s' is the id of another agent", id);
}

instant rendezvous_wake_at(const struct rendezvous *rendezvous)
{
	return instant_min(rendezvous->next_expiry, rendezvous->phase_ends);
}

bool member_order_equals(const struct member_order *a, const struct member_order *b)
{
	return a->order == b->order && a->generation == b->generation && a->reason == b->reason &&
	       a->verdict == b->verdict && a->is_excluded == b->is_excluded &&
	       a->is_last == b->is_last;
}

struct member_order rendezvous_order_for(const struct rendezvous *rendezvous, const char *id)
{
	const struct member_entry *member = member_table_find(&rendezvous->members, id);

	if (!member || member->is_leaving || rendezvous->phase == RENDEZVOUS_CLOSED)
		return (struct member_order){.order = RENDEZVOUS_GO,
					     .verdict = rendezvous->verdict};
	if (member->rank >= 0)
		return (struct member_order){.order = RENDEZVOUS_RUN,
					     .generation = rendezvous->world.generation,
					     .reason = rendezvous->world.reason};
	return (struct member_order){
		.order = RENDEZVOUS_WAIT,
		.reason = rendezvous->reason,
		.verdict = rendezvous->verdict,
		.is_excluded = member->is_excluded && rendezvous->goes_on,
		.is_last = is_spent(rendezvous),
	};
}

size_t rendezvous_count_candidates(const struct rendezvous *rendezvous)
{
	size_t count = 0;

	for (size_t i = 0; i < rendezvous->members.count; i++) {
		const struct member_entry *member = rendezvous->members.members[i];

		count += !member->is_leaving && !member->is_awaited;
	}
	return count;
}
