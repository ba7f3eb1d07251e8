#include "elastic/job.h"

#include "elastic/liveness.h"
#include "status/restart_delay.h"

#include <inttypes.h>

#define JSON_TYPE "application/json"

/* What is attached to a member that has called; or a reader's call, held until a change. */
struct waiter {
	struct elastic_job *job;
	char *id; /* NULL: a reader */
	bool is_removed; /* it ends with its call: a reader, or its member was removed */
	struct http_call *call; /* the held call; NULL: none */
	struct held_calls *list; /* then: it is in this one */
	TAILQ_ENTRY(waiter) link;
	struct member_order known; /* the order that the call said it has */
	int64_t world; /* generation whose members it knows */
	int64_t known_failure; /* number of the failure that it knows */
	struct {
		int64_t generation;
		int rank;
	} ranks[2]; /* in the newest worlds that it was in when it called, the later one first */
	instant kept_until;
	char *ip; /* its agent's, with the port where that says its id; NULL: unknown */
	int port;
	bool is_reached; /* the agent has said its id there */
	struct liveness_probe *probe; /* NULL: none is under way */
};

static const struct json_field past_world_fields[] = {
	FIELD(LONG, NEEDED, "generation", past_world, generation, 0, LIMIT_RESTARTS),
	FIELD(TIME, NEEDED, "formedAt", past_world, formed_at),
	FIELD(WORD, NEEDED, "reason", past_world, reason, FIELD_WORDS(world_reason_words)),
	FIELD(LONG, NEEDED, "members", past_world, n_members, 0, LIMIT_MEMBERS),
	FIELD(TEXT, OPTIONAL, "failure", past_world, failure),
	{0},
};

static void waiter_free(struct waiter *waiter)
{
	waiter->job->n_waiters -= waiter->id != NULL;
	liveness_probe_cancel(waiter->probe);
	free(waiter->ip);
	free(waiter->id);
	free(waiter);
}

/* "10.0.0.2 (machine 1)" */
static char *machine_name(const char *offer_text, int rank)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct offer offer;

	return offer_read(offer_text, arena, &offer, NULL) < 0
		       ? mem_format("machine %d", rank)
		       : mem_format("%s (machine %d)", offer.host, rank);
}

static void note_loss(struct elastic_job *job, const char *id)
{
	const struct world *world = &job->rendezvous->world;
	int rank = world_rank(world, id);

	if (rank < 0)
		return;
	char *name CLEANUP(mem_free_text) = machine_name(world->members[rank].offer, rank);

	world_losses_add(&job->losses, world->generation, name);
	job->has_new_loss = true;
}

/* Its held call is answered first. */
static void on_member_removed(void *attachment, bool is_lost)
{
	struct waiter *waiter = attachment;

	if (is_lost)
		note_loss(waiter->job, waiter->id);
	waiter->is_removed = true;
	if (!waiter->call)
		waiter_free(waiter);
}

static struct rendezvous_settings
rendezvous_settings_of(const struct elastic_job_settings *settings)
{
	return (struct rendezvous_settings){
		.terms = settings->terms,
		.lease = settings->lease,
		.on_removed = on_member_removed,
	};
}

static struct elastic_job *make_elastic_job(const struct elastic_job_settings *settings,
					    const char *name, const char *uid)
{
	struct elastic_job *job = mem_new(sizeof(*job));

	job->settings = *settings;
	TAILQ_INIT(&job->member_calls);
	TAILQ_INIT(&job->readers);
	job->write_at = INSTANT_NEVER;
	job->ended_at = MSEC_UNSET;
	job->settings.name = mem_copy_text(name);
	job->settings.uid = mem_copy_text(uid);
	return job;
}

struct elastic_job *elastic_job_new(const struct elastic_job_settings *settings, instant now)
{
	const struct rendezvous_settings rendezvous = rendezvous_settings_of(settings);
	struct elastic_job *job = make_elastic_job(settings, settings->name, settings->uid);

	job->created_at = loop_now();
	job->rendezvous = rendezvous_new(&rendezvous, now);
	return job;
}

bool elastic_job_is_over(const struct elastic_job *job)
{
	return job->rendezvous->phase == RENDEZVOUS_CLOSED && job->rendezvous->members.count == 0;
}

static void take_facts(const struct elastic_job *job, int64_t facts[FACT_COUNT])
{
	facts[FACT_VERSION] = job->rendezvous->version;
	facts[FACT_FAILURE] = job->failure.number;
	facts[FACT_RESTARTS] = job->rendezvous->n_restarts;
	facts[FACT_PHASE] = job->rendezvous->phase;
	facts[FACT_MEMBERS] = (int64_t) job->rendezvous->members.count;
	facts[FACT_PROGRESS] = job->rendezvous->budget.progress;
}

static bool has_changed_since(const struct elastic_job *job, const int64_t then[FACT_COUNT],
			      size_t n_facts)
{
	int64_t now[FACT_COUNT];

	take_facts(job, now);
	return memcmp(now, then, n_facts * sizeof(*now)) != 0;
}

/* The record, written before any member gets a world. */

static struct json *history_new(const struct elastic_job *job)
{
	struct json *list = json_new_array();

	for (size_t i = 0; i < job->n_history; i++) {
		struct json *world = json_new_object();

		fields_write(world, past_world_fields, &job->history[i]);
		json_append(list, world);
	}
	return list;
}

static void add_failure_members(const struct elastic_job *job, struct json *object)
{
	if (!job->failure.first)
		return;
	json_set(object, "failure", status_failure_write(job->failure.first));
	json_set_integer(object, "failureNumber", job->failure.number);
}

static void add_elastic_job_state(struct elastic_job *job, struct text *text)
{
	struct json *state CLEANUP(json_cleanup) = json_new_object();

	rendezvous_record_set(state, job->rendezvous, loop_monotonic_now());
	json_set(state, "worlds", history_new(job));
	add_failure_members(job, state);
	json_set_time(state, "endedAt", job->ended_at);
	json_add_compact(text, state);
	take_facts(job, job->recorded);
}

/* Of several tries only the first that failed is reported, and the first that succeeded again.
 * `err`: why the state is not saved; NULL: it is. */
static void note_write(struct elastic_job *job, const struct err *err)
{
	const char *name = job->settings.name;
	char *sentence CLEANUP(mem_free_text) =
		err ? mem_format("job '%s' keeps running, but its state could not be saved: %s",
				 name, err->text)
		    : mem_format("the state of job '%s' is saved again", name);

	if (!err == (job->n_failed_writes > 0))
		job->settings.say(sentence, job->settings.data);
	job->n_failed_writes = err ? job->n_failed_writes + 1 : 0;
	job->write_at =
		err ? loop_instant_after(restart_delay(job->n_failed_writes)) : INSTANT_NEVER;
	if (err && err->code == ERR_NOT_FOUND)
		job->record_version = 0; /* it is created again */
}

/* Flushed at each change: members are on machines that do not lose power with this one. */
static void create_record(struct elastic_job *job)
{
	struct store *store = job->settings.store;
	struct text state CLEANUP(text_done) = {0}, terms CLEANUP(text_done) = {0};
	struct json *object CLEANUP(json_cleanup) = json_new_object();
	struct err err;

	member_terms_set(object, &job->settings.terms);
	json_add_compact(&terms, object);
	add_elastic_job_state(job, &state);
	struct store_record record = {
		.name = (char *) job->settings.name,
		.uid = (char *) job->settings.uid,
		.document = (char *) text_of(&terms),
		.status = (char *) text_of(&state),
		.summary = (char *) "{}",
		.supervisor = (char *) "",
		.created = job->created_at,
		.is_lasting = true,
	};
	int rc = job->replaced_uid
			 ? store->functions->replace(store, job->settings.name, job->replaced_uid,
						     &record, &job->record_version, &err)
			 : store->functions->create(store, &record, &job->record_version, &err);

	note_write(job, rc < 0 ? &err : NULL);
	if (rc == 0)
		free(TAKE(job->replaced_uid));
}

void elastic_job_replace(struct elastic_job *job, const struct elastic_job *old)
{
	job->replaced_uid =
		mem_copy_text(old->record_version ? old->settings.uid : old->replaced_uid);
	job->has_past = true;
}

static void write_state(struct elastic_job *job)
{
	struct store *store = job->settings.store;
	struct text state CLEANUP(text_done) = {0};
	struct err err;

	bool is_kept = job->record_version && !job->n_failed_writes &&
		       !has_changed_since(job, job->recorded, FACTS_OF_RECORD);
	bool must_wait = job->n_failed_writes && !loop_has_come(job->write_at);

	if (!store || is_kept || must_wait)
		return;
	if (!job->record_version) {
		create_record(job);
		return;
	}
	add_elastic_job_state(job, &state);
	const struct store_change change = {.status = text_of(&state), .is_lasting = true};

	int rc = store->functions->change(store, job->settings.name, job->record_version, &change,
					  &job->record_version, &err);

	note_write(job, rc < 0 ? &err : NULL);
}

void elastic_job_forget(struct elastic_job *job)
{
	struct store *store = job->settings.store;

	if (job->record_version)
		(void) store->functions->remove(store, job->settings.name, job->settings.uid, NULL);
	job->record_version = 0;
}

static int read_record(struct elastic_job *job, const struct store_record *record, instant now,
		       struct err *err)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct json *terms CLEANUP(json_cleanup) = NULL, *state CLEANUP(json_cleanup) = NULL;
	struct failure *failure = NULL;
	int rc = json_read(record->document, strlen(record->document), &terms, err);

	if (rc == 0)
		rc = json_read(record->status, strlen(record->status), &state, err);
	if (rc == 0)
		rc = member_terms_read(terms, &job->settings.terms, err);
	const struct rendezvous_settings settings = rendezvous_settings_of(&job->settings);

	if (rc == 0)
		rc = rendezvous_record_read(state, &settings, now, &job->rendezvous, err);
	if (rc < 0)
		return err_prefix(err, "the record of job '%s'", record->name);
	/* Past worlds and the failure are for descriptions only: malformed ones are skipped. */
	const struct json *worlds = json_get(state, "worlds");

	for (size_t i = 0; i < json_count(worlds) && job->n_history < LIMIT_WORLD_HISTORY; i++) {
		struct past_world world = {0};

		rc = fields_read(json_at(worlds, i), NULL, past_world_fields, arena, &world, NULL);
		if (rc < 0)
			continue;
		world.failure = mem_copy_text(world.failure);
		job->history[job->n_history++] = world;
	}
	if (status_failure_read(json_get(state, "failure"), arena, &failure, NULL) == 0)
		world_failure_restore(&job->failure, failure,
				      json_as_integer(json_get(state, "failureNumber"), 1));
	job->ended_at = json_as_time(json_get(state, "endedAt"));
	take_facts(job, job->recorded);
	return 0;
}

int elastic_job_restore(const struct elastic_job_settings *settings,
			const struct store_record *record, instant now,
			struct elastic_job **ret_job, struct err *err)
{
	struct elastic_job *job = make_elastic_job(settings, record->name, record->uid);
	int rc = read_record(job, record, now, err);

	if (rc < 0) {
		elastic_job_free(job);
		return rc;
	}
	job->has_past = true;
	job->created_at = record->created;
	job->record_version = record->version;
	job->phase = job->rendezvous->phase;
	*ret_job = job;
	return 0;
}

/* Callers. */

/* NULL: it is no member, or has not called. */
static struct waiter *find_waiter(const struct elastic_job *job, const char *id)
{
	const struct member_entry *member = member_table_find(&job->rendezvous->members, id);

	return member ? member->attachment : NULL;
}

static struct waiter *find_or_add(struct elastic_job *job, struct member_entry *member)
{
	if (member->attachment)
		return member->attachment;
	struct waiter *waiter = member->attachment = mem_new(sizeof(*waiter));

	waiter->job = job;
	waiter->id = mem_copy_text(member->id);
	job->n_waiters++;
	return waiter;
}

static void on_waiter_disconnect(struct http_call *call, void *data);

static void hold_call(struct held_calls *list, struct waiter *waiter, struct http_call *call,
		      instant now)
{
	waiter->call = call;
	waiter->kept_until = instant_add(now, MEMBER_HOLD);
	waiter->list = list;
	TAILQ_INSERT_TAIL(list, waiter, link);
	http_call_hold(call, on_waiter_disconnect, waiter);
}

/* Returns the waiter's call, which is no longer held; NULL: none was. */
static struct http_call *release_waiter_call(struct waiter *waiter)
{
	if (waiter->call)
		TAILQ_REMOVE(waiter->list, waiter, link);
	return TAKE(waiter->call);
}

/* Answers. */

/* Built once for each world, and again for members that know another failure. */
static struct http_body *answer_with_world(struct elastic_job *job,
					   const struct member_answer *told)
{
	struct world_answer *last = &job->world_answer;
	bool is_same = last->body && last->generation == told->order.generation &&
		       last->failure_number == told->failure_number &&
		       last->has_failure == (told->failure != NULL) &&
		       last->restarts == told->restarts;
	struct text body CLEANUP(text_done) = {0};

	if (is_same)
		return last->body;
	member_answer_add(told, &body);
	http_body_free(last->body);
	*last = (struct world_answer){
		.generation = told->order.generation,
		.failure_number = told->failure_number,
		.has_failure = told->failure != NULL,
		.restarts = told->restarts,
		.body = http_body_new(text_of(&body), body.len),
	};
	return last->body;
}

/* `world`: the generation whose members the caller knows; `known_failure`: its failure's number. */
static void answer_call(struct elastic_job *job, struct http_call *call, const char *id,
			int64_t world, int64_t known_failure)
{
	const struct world *newest = &job->rendezvous->world;
	struct text body CLEANUP(text_done) = {0};
	struct member_answer told = {
		.uid = job->settings.uid,
		.restarts = job->rendezvous->n_restarts,
		.order = rendezvous_order_for(job->rendezvous, id),
		.failure_number = job->failure.number,
	};

	if (told.order.order == RENDEZVOUS_WAIT || told.order.verdict == RENDEZVOUS_TIMED_OUT)
		told.n_joined = (int) rendezvous_count_candidates(job->rendezvous);
	if (known_failure != job->failure.number)
		told.failure = job->failure.first;
	if (told.order.order == RENDEZVOUS_RUN && told.order.generation != world) {
		told.has_members = true;
		told.members = newest->members;
		told.n_members = newest->n_members;
		http_call_answer_body(call, 200, JSON_TYPE, answer_with_world(job, &told));
		return;
	}
	member_answer_add(&told, &body);
	http_call_answer(call, 200, JSON_TYPE, text_of(&body), body.len);
}

static void answer_reader(const struct elastic_job *job, struct http_call *call)
{
	struct json *object CLEANUP(json_cleanup) = elastic_job_describe(job, true);
	struct text body CLEANUP(text_done) = {0};

	json_add_compact(&body, object);
	http_call_answer(call, 200, JSON_TYPE, text_of(&body), body.len);
}

static void answer_waiter(struct waiter *waiter)
{
	struct http_call *call = release_waiter_call(waiter);

	if (!call)
		return;
	if (waiter->id)
		answer_call(waiter->job, call, waiter->id, waiter->world, waiter->known_failure);
	else
		answer_reader(waiter->job, call);
	if (waiter->is_removed)
		waiter_free(waiter);
}

/* Calls that are held until `until` or for less: the first ones. */
static void answer_held_calls(struct held_calls *list, instant until)
{
	for (struct waiter *waiter = TAILQ_FIRST(list), *next; waiter; waiter = next) {
		next = TAILQ_NEXT(waiter, link);
		if (!instant_has_come(waiter->kept_until, until))
			break;
		answer_waiter(waiter);
	}
}

static bool has_news(const struct waiter *waiter)
{
	const struct member_order order = rendezvous_order_for(waiter->job->rendezvous, waiter->id);

	return !member_order_equals(&order, &waiter->known) ||
	       waiter->known_failure != waiter->job->failure.number;
}

static void revise(struct elastic_job *job)
{
	if (job->revision && !has_changed_since(job, job->described, FACT_COUNT))
		return;
	take_facts(job, job->described);
	job->revision++;
	answer_held_calls(&job->readers, INSTANT_NEVER);
}

/* Held calls are answered with the present state. */
void elastic_job_free(struct elastic_job *job)
{
	if (!job)
		return;
	answer_held_calls(&job->member_calls, INSTANT_NEVER);
	answer_held_calls(&job->readers, INSTANT_NEVER);
	for (size_t i = 0; i < job->n_history; i++)
		free(job->history[i].failure);
	world_failure_done(&job->failure);
	rendezvous_free(job->rendezvous);
	http_body_free(job->world_answer.body);
	free((char *) job->settings.name);
	free((char *) job->settings.uid);
	free(job->replaced_uid);
	world_losses_done(&job->losses);
	free(job);
}

/* Messages. */

static struct past_world *find_world(struct elastic_job *job, int64_t generation)
{
	for (size_t i = job->n_history; i-- > 0;)
		if (job->history[i].generation == generation)
			return &job->history[i];
	return NULL;
}

static void record_rank(struct waiter *waiter)
{
	const struct world *world = &waiter->job->rendezvous->world;
	int rank = world_rank(world, waiter->id);

	if (rank < 0 || waiter->ranks[0].generation == world->generation)
		return;
	waiter->ranks[1] = waiter->ranks[0];
	waiter->ranks[0].generation = world->generation;
	waiter->ranks[0].rank = rank;
}

/* Its rank in that world; -1: unknown. A report may come after the next world was formed. */
static int rank_in(const struct elastic_job *job, const char *id, int64_t generation)
{
	const struct waiter *waiter = find_waiter(job, id);

	if (job->rendezvous->world.generation == generation)
		return world_rank(&job->rendezvous->world, id);
	for (size_t i = 0; waiter && i < ARRAY_LEN(waiter->ranks); i++)
		if (waiter->ranks[i].generation == generation)
			return waiter->ranks[i].rank;
	return -1;
}

static void take_failure(struct elastic_job *job, const struct failure *report)
{
	struct past_world *world = find_world(job, report->attempt);
	struct text sentence CLEANUP(text_done) = {0};

	if (!world_failure_take(&job->failure, report))
		return;
	world_failure_add_sentence(job->failure.first, &sentence);
	if (!world || text_equals(world->failure, text_of(&sentence)))
		return; /* it has only one more consequence */
	free(world->failure);
	world->failure = text_take(&sentence);
	char *told CLEANUP(mem_free_text) =
		mem_format("job '%s': %s", job->settings.name, world->failure);

	job->settings.say(told, job->settings.data);
}

/* The name of the machine is made here, as its agent makes it (agent_apply). */
static void accept_failure_report(struct elastic_job *job, const char *id,
				  const struct member_request *request)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct past_world *world =
		request->failure ? find_world(job, request->failure->attempt) : NULL;
	int rank = world ? rank_in(job, id, world->generation) : -1;

	if (rank < 0 || !request->failure->role)
		return;
	char *machine CLEANUP(mem_free_text) = machine_name(request->offer, rank);
	struct failure *report = status_failure_copy(request->failure, arena);

	world_failure_set_machine(report, machine, arena);
	take_failure(job, report);
}

static void report_rendezvous_phase(const struct elastic_job *job)
{
	const struct world *world = &job->rendezvous->world;
	enum rendezvous_phase phase = job->rendezvous->phase;
	size_t count = job->rendezvous->members.count;
	char *sentence CLEANUP(mem_free_text) = NULL;

	if (phase == RENDEZVOUS_RUNNING)
		sentence = mem_format("job '%s': world %" PRId64 " has %zu machine%s (%s)",
				      job->settings.name, world->generation, world->n_members,
				      world->n_members == 1 ? "" : "s",
				      world_reason_sentences[world->reason]);
	else if (phase == RENDEZVOUS_CLOSED)
		sentence = mem_format("job '%s' has ended: %s", job->settings.name,
				      rendezvous_verdict_words[job->rendezvous->verdict]);
	else
		sentence = mem_format("job '%s': %s, %zu %s joined, %d to %d are needed",
				      job->settings.name, rendezvous_phase_words[phase], count,
				      count == 1 ? "machine has" : "machines have",
				      job->settings.terms.min, job->settings.terms.max);
	job->settings.say(sentence, job->settings.data);
}

/* After every step, before any answer. */
static void write_record_and_log(struct elastic_job *job)
{
	enum rendezvous_phase phase = job->rendezvous->phase;
	int64_t newest = job->n_history ? job->history[job->n_history - 1].generation : 0;
	const struct world *world = &job->rendezvous->world;
	bool is_new = world->generation != newest;

	struct arena *arena CLEANUP(arena_cleanup) = arena_new();

	if (job->has_new_loss)
		take_failure(job, world_failure_of_losses(&job->losses, loop_now(), arena));
	job->has_new_loss = false;
	if (is_new && job->n_history == LIMIT_WORLD_HISTORY) {
		free(job->history[0].failure);
		memmove(job->history, job->history + 1, --job->n_history * sizeof(*job->history));
	}
	if (is_new)
		job->history[job->n_history++] = (struct past_world){
			.generation = world->generation,
			.formed_at = loop_now(),
			.reason = world->reason,
			.n_members = (int64_t) world->n_members,
		};
	if (phase == RENDEZVOUS_CLOSED && job->ended_at == MSEC_UNSET)
		job->ended_at = loop_now();
	write_state(job);
	if (is_new || phase != job->phase) {
		job->phase = phase;
		report_rendezvous_phase(job);
	}
}

/* After write_record_and_log. */
static void answer_waiting_calls(struct elastic_job *job)
{
	bool has_any_news = has_changed_since(job, job->described, FACTS_OF_MEMBERS);
	struct waiter *waiter = has_any_news ? TAILQ_FIRST(&job->member_calls) : NULL, *next;

	for (; waiter; waiter = next) {
		next = TAILQ_NEXT(waiter, link);
		if (has_news(waiter))
			answer_waiter(waiter);
	}
	revise(job);
	job->settings.on_change(job, job->settings.data);
}

/* Whether the agent exists. */

/* A port that never said its id may be behind a firewall that refuses connections. */
static void on_liveness(enum liveness liveness, void *data)
{
	struct waiter *waiter = data;

	waiter->probe = NULL;
	if (liveness == LIVENESS_ALIVE)
		waiter->is_reached = true;
	if (liveness != LIVENESS_GONE || !waiter->is_reached || waiter->is_removed)
		return;
	struct elastic_job *job = waiter->job;
	char *id CLEANUP(mem_free_text) = mem_copy_text(waiter->id); /* the step frees the other */
	const struct rendezvous_event event = {.type = RENDEZVOUS_LOST, .id = id};

	(void) rendezvous_step(job->rendezvous, &event, loop_monotonic_now(), NULL);
	write_record_and_log(job);
	answer_waiting_calls(job);
}

static void probe_liveness(struct waiter *waiter)
{
	liveness_probe_cancel(waiter->probe);
	waiter->probe = liveness_probe_new(waiter->job->settings.loop, waiter->ip, waiter->port,
					   waiter->id, on_liveness, waiter);
}

/* The address is that of the call: no member can have another one asked. */
static void update_liveness_port(struct waiter *waiter, const struct http_call *call, int port)
{
	const char *ip = http_call_peer(call);

	if (!port || (waiter->port == port && text_equals(waiter->ip, ip)))
		return;
	text_keep(&waiter->ip, ip);
	waiter->port = port;
	waiter->is_reached = false;
	probe_liveness(waiter);
}

static void on_waiter_disconnect(struct http_call *call, void *data)
{
	struct waiter *waiter = data;

	(void) call;
	(void) release_waiter_call(waiter);
	if (waiter->is_removed)
		waiter_free(waiter);
	else if (waiter->is_reached)
		probe_liveness(waiter);
}

/* A member that waits on another connection is still connected. */
void elastic_job_handle_disconnect(struct elastic_job *job, const char *id)
{
	struct waiter *waiter = find_waiter(job, id);

	if (waiter && !waiter->call && waiter->is_reached)
		probe_liveness(waiter);
}

int elastic_job_check_first_call(const struct elastic_job *job,
				 const struct member_request *request, instant now, struct err *err)
{
	const struct rendezvous_settings settings = rendezvous_settings_of(&job->settings);
	struct rendezvous *trial = rendezvous_new(&settings, now);
	int rc = member_call_apply(trial, "first", &request->report, request->offer, now, err);

	rendezvous_free(trial);
	return rc;
}

int elastic_job_accept_call(struct elastic_job *job, struct http_call *call, const char *id,
			    const struct member_request *request, instant now, struct err *err)
{
	struct waiter *waiter = find_waiter(job, id);
	int rc = rendezvous_check_key(job->rendezvous, id, request->report.key, err);

	if (rc < 0)
		return rc;
	if (waiter)
		answer_waiter(waiter); /* the previous call */
	rc = member_call_apply(job->rendezvous, id, &request->report, request->offer, now, err);
	bool comes_too_late = rc == ERR_REFUSED && *request->uid; /* and is told the end */

	if (rc < 0 && !comes_too_late)
		return rc;
	accept_failure_report(job, id, request);
	write_record_and_log(job);
	struct member_entry *member = member_table_find(&job->rendezvous->members, id);

	if (member) {
		waiter = find_or_add(job, member);
		update_liveness_port(waiter, call, request->liveness_port);
		waiter->known = request->report.known;
		waiter->world = request->world;
		waiter->known_failure = request->known_failure;
		record_rank(waiter);
		hold_call(&job->member_calls, waiter, call, now);
		if (has_news(waiter))
			answer_waiter(waiter);
	} else { /* it has left, or comes too late */
		answer_call(job, call, id, request->world, request->known_failure);
	}
	answer_waiting_calls(job);
	return 0;
}

void elastic_job_handle_timer(struct elastic_job *job, instant now)
{
	const struct rendezvous_event time = {.type = RENDEZVOUS_TIME};

	if (instant_has_come(rendezvous_wake_at(job->rendezvous), now))
		(void) rendezvous_step(job->rendezvous, &time, now, NULL);
	write_record_and_log(job);
	answer_held_calls(&job->member_calls, now);
	answer_held_calls(&job->readers, now);
	answer_waiting_calls(job);
}

static instant answer_at(const struct held_calls *list)
{
	const struct waiter *first = TAILQ_FIRST(list);

	return first ? first->kept_until : INSTANT_NEVER;
}

instant elastic_job_wake_at(const struct elastic_job *job)
{
	instant calls_at = instant_min(answer_at(&job->member_calls), answer_at(&job->readers));

	return instant_min(instant_min(calls_at, job->write_at),
			   rendezvous_wake_at(job->rendezvous));
}

void elastic_job_read(struct elastic_job *job, struct http_call *call, int64_t known_revision,
		      instant now)
{
	revise(job); /* a restored job has no revision yet */
	if (known_revision != job->revision) {
		answer_reader(job, call);
		return;
	}
	struct waiter *reader = mem_new(sizeof(*reader));

	reader->job = job;
	reader->is_removed = true;
	hold_call(&job->readers, reader, call, now);
	job->settings.on_change(job, job->settings.data);
}

/* Descriptions. */

/* Adds a member in the world or waiting for one, as `trains` says. */
static void add_member(const struct elastic_job *job, const struct member_entry *entry, bool trains,
		       struct json *list)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	const struct member_order order = rendezvous_order_for(job->rendezvous, entry->id);
	struct offer offer;

	if ((order.order == RENDEZVOUS_RUN) != trains)
		return;
	struct json *member =
		json_new_texts("id", entry->id, "order", rendezvous_order_words[order.order], NULL);

	json_append(list, member);
	if (order.is_excluded)
		json_set_bool(member, "isSetAside", true);
	if (trains)
		json_set_integer(member, "rank", entry->rank);
	if (offer_read(entry->offer, arena, &offer, NULL) == 0) {
		json_set_string(member, "host", offer.host);
		json_set_integer(member, "processes", offer.n_processes);
	}
}

/* By rank, followed by the waiting ones. */
static struct json *members_new(const struct elastic_job *job)
{
	const struct world *world = &job->rendezvous->world;
	const struct member_table *table = &job->rendezvous->members;
	struct json *list = json_new_array();

	for (size_t i = 0; i < world->n_members; i++) {
		const struct member_entry *entry = member_table_find(table, world->members[i].id);

		if (entry)
			add_member(job, entry, true, list);
	}
	for (size_t i = 0; i < table->count; i++)
		add_member(job, table->members[i], false, list);
	return list;
}

/* Draining. */

static bool is_named(struct json *named, const char *machine)
{
	if (!machine || !json_get(named, machine))
		return false;
	json_set_bool(named, machine, true);
	return true;
}

/* By its id, its host or its rank. */
static bool is_member_named(struct json *named, const struct json *member)
{
	const struct json *rank = json_get(member, "rank");
	char *number CLEANUP(mem_free_text) =
		rank ? mem_format("%" PRId64, json_as_integer(rank, -1)) : NULL;
	bool by_id = is_named(named, json_get_string(member, "id", NULL));
	bool by_host = is_named(named, json_get_string(member, "host", NULL));
	bool by_rank = is_named(named, number);

	return by_id || by_host || by_rank;
}

static void add_missing(const struct json *machines, const struct json *named, struct text *missing)
{
	for (size_t i = 0; i < json_count(machines); i++) {
		const char *machine = json_as_string(json_at(machines, i), "");

		if (!json_as_bool(json_get(named, machine), false))
			text_addf(missing, "%s'%s'", missing->len ? ", " : "", machine);
	}
}

/* All are found before the first drain changes the ranks. */
int elastic_job_drain(struct elastic_job *job, const struct json *machines, instant now,
		      struct json *answer, struct err *err)
{
	struct json *members CLEANUP(json_cleanup) = members_new(job);
	/* The machines that the caller named, and whether each was found. */
	struct json *named CLEANUP(json_cleanup) = json_new_object();
	struct json *list = json_array_at(answer, "members");
	struct text missing CLEANUP(text_done) = {0};

	if (job->rendezvous->phase == RENDEZVOUS_CLOSED)
		return err_set(err, ERR_NOT_FOUND, "job '%s' has already ended",
			       job->settings.name);
	for (size_t i = 0; i < json_count(machines); i++)
		json_set_bool(named, json_as_string(json_at(machines, i), ""), false);
	for (size_t i = 0; i < json_count(members); i++)
		if (is_member_named(named, json_at(members, i)))
			json_append(list, json_ref(json_at(members, i)));
	add_missing(machines, named, &missing);
	if (missing.len)
		return err_set(err, ERR_NOT_FOUND, "job '%s' has no machine %s", job->settings.name,
			       text_of(&missing));
	for (size_t i = 0; i < json_count(list); i++) {
		const struct rendezvous_event event = {
			.type = RENDEZVOUS_DRAIN,
			.id = json_get_string(json_at(list, i), "id", ""),
		};

		(void) rendezvous_step(job->rendezvous, &event, now, NULL);
	}
	write_record_and_log(job);
	answer_waiting_calls(job);
	json_set_integer(answer, "revision", job->revision);
	return 0;
}

struct json *elastic_job_describe(const struct elastic_job *job, bool is_whole)
{
	const struct rendezvous *rendezvous = job->rendezvous;
	enum rendezvous_verdict verdict = rendezvous->verdict;
	struct json *object = json_new_object();

	json_set_string(object, "name", job->settings.name);
	json_set_string(object, "uid", job->settings.uid);
	json_set_time(object, "createdAt", job->created_at);
	json_set_time(object, "now", loop_now());
	json_set_time(object, "endedAt", job->ended_at);
	json_set_integer(object, "min", job->settings.terms.min);
	json_set_integer(object, "max", job->settings.terms.max);
	json_set_string(object, "phase", rendezvous_phase_words[rendezvous->phase]);
	if (verdict != RENDEZVOUS_OPEN)
		json_set_string(object, "verdict", rendezvous_verdict_words[verdict]);
	json_set_integer(object, "generation", rendezvous->world.generation);
	json_set_integer(object, "revision", job->revision);
	json_set(object, "members",
		 is_whole ? members_new(job)
			  : json_new_integer((int64_t) rendezvous->members.count));
	json_set_integer(object, "restarts", rendezvous->n_restarts);
	if (rendezvous->budget.progress)
		json_set_integer(object, "progress", rendezvous->budget.progress);
	if (is_whole) {
		json_set(object, "worlds", history_new(job));
		add_failure_members(job, object);
	}
	return object;
}
