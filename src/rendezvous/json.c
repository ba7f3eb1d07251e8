#include "rendezvous/json.h"

#include "base/names.h"
#include "rendezvous/world_failure.h"

#define LONGEST_TIME (30LL * 24 * 3600 * MSEC_PER_SECOND)

static struct json *write_offer(const void *at)
{
	const char *text = *(const char *const *) at;
	struct json *offer = NULL;

	return json_read(text, strlen(text), &offer, NULL) < 0 ? json_new_object() : offer;
}

static int read_offer(const struct json *value, struct arena *arena, void *ret_offer,
		      struct err *err)
{
	struct text text CLEANUP(text_done) = {0};
	struct offer offer = {0};

	if (!json_is(value, JSON_OBJECT))
		return err_set(err, ERR_INVALID, "expected an object");
	int rc = offer_read_json(value, arena, &offer, err);

	if (rc < 0)
		return rc;
	offer_add(&offer, &text);
	*(const char **) ret_offer = arena_copy_text(arena, text_of(&text));
	return 0;
}

static struct json *write_failure(const void *at)
{
	const struct failure *failure = *(const struct failure *const *) at;

	return failure ? status_failure_write(failure) : NULL;
}

static int read_failure(const struct json *value, struct arena *arena, void *ret_failure,
			struct err *err)
{
	struct failure *failure = NULL;
	int rc = status_failure_read(value, arena, &failure, err);

	if (rc < 0)
		return rc;
	world_failure_clip(failure, arena);
	*(struct failure **) ret_failure = failure;
	return 0;
}

static bool is_uid_or_empty(const char *text)
{
	return !*text || name_is_uid(text);
}

#define OFFER .write = write_offer, .read = read_offer
#define FAILURE .write = write_failure, .read = read_failure

/* All of it comes from other machines or from a file. */

static const struct json_field order_fields[] = {
	FIELD(WORD, NEEDED, "order", member_order, order, FIELD_WORDS(rendezvous_order_words)),
	FIELD(LONG, NEEDED, "generation", member_order, generation, 0, LIMIT_RESTARTS),
	FIELD(WORD, NEEDED, "reason", member_order, reason, FIELD_WORDS(world_reason_words)),
	FIELD(WORD, NEEDED, "verdict", member_order, verdict,
	      FIELD_WORDS(rendezvous_verdict_words)),
	FIELD(FLAG, TOLERATED, "isSetAside", member_order, is_excluded),
	FIELD(FLAG, TOLERATED, "isLast", member_order, is_last),
	{0},
};

static const struct json_field terms_fields[] = {
	FIELD(INT, NEEDED, "min", member_terms, min, 1, LIMIT_MEMBERS),
	FIELD(INT, NEEDED, "max", member_terms, max, 1, LIMIT_MEMBERS),
	FIELD(INT, NEEDED, "unit", member_terms, unit, 1, LIMIT_MEMBERS),
	FIELD(LONG, NEEDED, "joinTime", member_terms, join_time, 0, LONGEST_TIME),
	FIELD(LONG, NEEDED, "lastCall", member_terms, last_call, 0, LONGEST_TIME),
	FIELD(INT, NEEDED, "maxRestarts", member_terms, restarts.most, -1, LIMIT_RESTARTS),
	FIELD(LONG, OPTIONAL, "restartWindow", member_terms, restarts.window, 0, LONGEST_TIME),
	FIELD(INT, OPTIONAL, "maxNoProgress", member_terms, restarts.max_no_progress, 0,
	      LIMIT_RESTARTS),
	{0},
};

static const struct json_field report_fields[] = {
	FIELD(TEXT, OPTIONAL, "key", member_report, key, .accepts = name_is_uid,
	      .wanted = "a UUID"),
	FIELD(LONG, OPTIONAL, "call", member_report, call, 0, LIMIT_STEP),
	FIELD(INT, NEEDED, "nodeRank", member_report, node_rank, 0, LIMIT_MEMBERS),
	FIELD(INT, TOLERATED, "rank", member_report, last_rank, -1, LIMIT_MEMBERS - 1),
	FIELD(LONG, NEEDED, "generation", member_report, generation, 0, LIMIT_RESTARTS),
	FIELD(WORD, NEEDED, "activity", member_report, activity,
	      FIELD_WORDS(member_activity_words)),
	FIELD(FLAG, NEEDED, "drains", member_report, drains),
	FIELD(FLAG, NEEDED, "hasLeft", member_report, has_left),
	FIELD(LONG, OPTIONAL, "progress", member_report, progress, 0, LIMIT_STEP),
	FIELD(STRUCT, NEEDED, "known", member_report, known, .fields = order_fields),
	{0},
};

static const struct json_field request_fields[] = {
	FIELD(TEXT, NEEDED, "uid", member_request, uid, .accepts = is_uid_or_empty,
	      .wanted = "a UUID, or empty"),
	FIELD(PART, OPTIONAL, "", member_request, terms, .fields = terms_fields),
	FIELD(VALUE, NEEDED, "offer", member_request, offer, OFFER),
	FIELD(INT, OPTIONAL, "livenessPort", member_request, liveness_port, 0, UINT16_MAX),
	FIELD(PART, OPTIONAL, "", member_request, report, .fields = report_fields),
	FIELD(LONG, NEEDED, "world", member_request, world, 0, LIMIT_RESTARTS),
	FIELD(VALUE, OPTIONAL, "failure", member_request, failure, FAILURE),
	FIELD(LONG, NEEDED, "knownFailure", member_request, known_failure, 0, LIMIT_RESTARTS),
	{0},
};

static const struct json_field answer_fields[] = {
	FIELD(TEXT, NEEDED, "uid", member_answer, uid, .accepts = is_uid_or_empty,
	      .wanted = "a UUID, or empty"),
	FIELD(INT, NEEDED, "restarts", member_answer, restarts, 0, LIMIT_RESTARTS),
	FIELD(LONG, NEEDED, "failureNumber", member_answer, failure_number, 0, LIMIT_RESTARTS),
	FIELD(STRUCT, NEEDED, "order", member_answer, order, .fields = order_fields),
	FIELD(INT, OPTIONAL, "joined", member_answer, n_joined, 0, LIMIT_MEMBERS),
	FIELD(VALUE, OPTIONAL, "failure", member_answer, failure, FAILURE),
	{0},
};

static const struct json_field budget_fields[] = {
	FIELD(WORD, NEEDED, "end", restart_budget, end, FIELD_WORDS(restart_budget_end_words)),
	FIELD(INT, NEEDED, "charged", restart_budget, n_charged, 0, LIMIT_RESTARTS),
	FIELD(INT, NEEDED, "fruitless", restart_budget, n_no_progress, 0, LIMIT_RESTARTS),
	FIELD(LONG, NEEDED, "progress", restart_budget, progress, 0, LIMIT_STEP),
	FIELD(LONG, NEEDED, "failedAt", restart_budget, failed_at, 0, LIMIT_STEP),
	{0},
};

static const struct json_field record_fields[] = {
	FIELD(LONG, NEEDED, "generation", rendezvous, world.generation, 0, LIMIT_RESTARTS),
	FIELD(WORD, NEEDED, "worldReason", rendezvous, world.reason,
	      FIELD_WORDS(world_reason_words)),
	FIELD(FLAG, NEEDED, "goesOn", rendezvous, goes_on),
	FIELD(INT, NEEDED, "restarts", rendezvous, n_restarts, 0, LIMIT_RESTARTS),
	FIELD(WORD, NEEDED, "reason", rendezvous, reason, FIELD_WORDS(world_reason_words)),
	FIELD(WORD, NEEDED, "verdict", rendezvous, verdict, FIELD_WORDS(rendezvous_verdict_words)),
	FIELD(STRUCT, NEEDED, "budget", rendezvous, budget, .fields = budget_fields),
	{0},
};

/* Terms. */

const char *member_terms_fault(const struct member_terms *terms)
{
	if (terms->min < 1 || terms->max < terms->min || terms->max > LIMIT_MEMBERS)
		return "a world has MIN to MAX machines, at least 1";
	if (terms->unit < 1 || terms->max - terms->max % terms->unit < terms->min)
		return "no multiple of the unit lies between MIN and MAX";
	if (terms->restarts.window && terms->restarts.most > LIMIT_TIMED_RESTARTS)
		return "a window counts at most 1000 restarts";
	return NULL;
}

static const char *number_text(int number, struct arena *arena)
{
	return number < 0 ? "unlimited" : arena_format(arena, "%d", number);
}

static const char *duration_text(msec duration, struct arena *arena)
{
	struct text text CLEANUP(text_done) = {0};

	text_add_duration(&text, duration);
	return arena_copy_text(arena, text_of(&text));
}

const char *member_terms_differ(const struct member_terms *of_job, const struct member_terms *given,
				struct arena *arena)
{
	const struct restart_terms *a = &of_job->restarts, *b = &given->restarts;
	const struct {
		const char *option;
		bool differs;
		const char *of_job, *given;
	} rows[] = {
		{"--nnodes", of_job->min != given->min || of_job->max != given->max,
		 arena_format(arena, "%d:%d", of_job->min, of_job->max),
		 arena_format(arena, "%d:%d", given->min, given->max)},
		{"--node-unit", of_job->unit != given->unit, number_text(of_job->unit, arena),
		 number_text(given->unit, arena)},
		{"--max-restarts", a->most != b->most, number_text(a->most, arena),
		 number_text(b->most, arena)},
		{"--restart-window", a->window != b->window, duration_text(a->window, arena),
		 duration_text(b->window, arena)},
		{"--max-no-progress", a->max_no_progress != b->max_no_progress,
		 number_text(a->max_no_progress, arena), number_text(b->max_no_progress, arena)},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].differs)
			return arena_format(arena, "%s is %s on the server and %s on this machine",
					    rows[i].option, rows[i].of_job, rows[i].given);
	return NULL;
}

void member_terms_set(struct json *object, const struct member_terms *terms)
{
	fields_write(object, terms_fields, terms);
}

int member_terms_read(const struct json *object, struct member_terms *terms, struct err *err)
{
	int rc = fields_read(object, NULL, terms_fields, NULL, terms, err);

	if (rc == 0 && member_terms_fault(terms))
		rc = err_set(err, ERR_INVALID, "%s", member_terms_fault(terms));
	return rc;
}

/* Requests. */

void member_request_add(const struct member_request *request, struct text *body)
{
	struct json *object CLEANUP(json_cleanup) = json_new_object();

	fields_write(object, request_fields, request);
	json_add_compact(body, object);
}

int member_request_read(const struct json *body, struct arena *arena,
			struct member_request *ret_request, struct err *err)
{
	*ret_request = (struct member_request){0};
	struct member_report *report = &ret_request->report;
	int rc = fields_read(body, NULL, request_fields, arena, ret_request, err);

	if (rc == 0 && member_terms_fault(&ret_request->terms))
		rc = err_set(err, ERR_INVALID, "%s", member_terms_fault(&ret_request->terms));
	if (rc < 0)
		return rc;
	const struct failure *failure = ret_request->failure;

	report->newest = ret_request->world;
	report->is_cause = failure && failure->attempt == report->generation &&
			   !world_failure_is_consequence(failure);
	return 0;
}

/* Lists of members: of an answer ["ID", OFFER]; of a record ["ID", OFFER, whether it is still a
 * member, "KEY"]. */

static struct json *member_new(const struct world_member *member)
{
	struct json *entry = json_new_array();

	json_append(entry, json_new_string(member->id));
	json_append(entry, write_offer(&member->offer));
	return entry;
}

static int read_member(const struct json *entry, struct arena *arena, struct world_member *member,
		       struct err *err)
{
	const char *id = json_as_string(json_at(entry, 0), "");
	const char *offer = NULL;

	if (!name_is_label_value(id) || !*id)
		return err_set(err, ERR_INVALID, "members: expected pairs of an id and an offer");
	int rc = read_offer(json_at(entry, 1), arena, &offer, err);

	*member = (struct world_member){
		.id = arena_copy_text(arena, id),
		.offer = offer,
		.key = arena_copy_text(arena, json_as_string(json_at(entry, 3), NULL)),
	};
	return rc;
}

static int read_members(const struct json *list, struct arena *arena,
			struct world_member **ret_members, size_t *ret_count, struct err *err)
{
	size_t count = json_count(list);

	if (count > LIMIT_MEMBERS)
		return err_set(err, ERR_LIMIT, "members: there are more than %d", LIMIT_MEMBERS);
	*ret_members = arena_take_array(arena, count, sizeof(**ret_members));
	for (*ret_count = 0; *ret_count < count; ++*ret_count) {
		int rc = read_member(json_at(list, *ret_count), arena, &(*ret_members)[*ret_count],
				     err);

		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Answers. */

void member_answer_add(const struct member_answer *answer, struct text *body)
{
	struct json *object CLEANUP(json_cleanup) = json_new_object();

	fields_write(object, answer_fields, answer);
	if (answer->has_members)
		json_set(object, "members", json_new_array());
	for (size_t i = 0; answer->has_members && i < answer->n_members; i++)
		json_append(json_get(object, "members"), member_new(&answer->members[i]));
	json_add_compact(body, object);
}

int member_answer_read(const struct json *body, struct arena *arena,
		       struct member_answer *ret_answer, struct err *err)
{
	const struct json *members = json_get(body, "members");

	*ret_answer = (struct member_answer){.has_members = json_is(members, JSON_ARRAY)};
	int rc = fields_read(body, NULL, answer_fields, arena, ret_answer, err);

	if (rc < 0 || !ret_answer->has_members)
		return rc;
	return read_members(members, arena, &ret_answer->members, &ret_answer->n_members, err);
}

/* The record. */

static void add_recorded_member(struct json *list, const struct world_member *member, bool is_there)
{
	struct json *entry = member_new(member);

	json_append(entry, json_new_bool(is_there));
	if (member->key)
		json_append(entry, json_new_string(member->key));
	json_append(list, entry);
}

void rendezvous_record_set(struct json *object, const struct rendezvous *rendezvous, instant now)
{
	const struct restart_budget *budget = &rendezvous->budget;
	const struct member_table *table = &rendezvous->members;
	struct json *members = json_array_at(object, "members");
	struct json *excluded = json_array_at(object, "setAside");

	fields_write(object, record_fields, rendezvous);
	for (size_t i = 0; i < rendezvous->world.n_members; i++) {
		const struct world_member *member = &rendezvous->world.members[i];
		const struct member_entry *entry = member_table_find(table, member->id);

		add_recorded_member(members, member, entry && !entry->is_leaving);
	}
	for (size_t i = 0; i < table->count; i++) {
		const struct member_entry *entry = table->members[i];
		const struct world_member member = {entry->id, entry->offer, entry->key};

		if (entry->is_excluded && !entry->is_leaving)
			add_recorded_member(excluded, &member, true);
	}
	for (int i = 0; budget->is_timed && i < budget->n_charged; i++)
		json_append(json_array_at(json_get(object, "budget"), "ages"),
			    json_new_integer(instant_since(budget->charged_at[i], now)));
}

static int read_recorded_members(const struct json *list, struct arena *arena,
				 struct world_member **ret_members, size_t *ret_count,
				 struct err *err)
{
	int rc = json_is(list, JSON_ARRAY)
			 ? read_members(list, arena, ret_members, ret_count, err)
			 : err_set(err, ERR_INVALID, "members, setAside: expected lists");

	for (size_t i = 0; rc == 0 && *ret_members && i < *ret_count; i++) {
		const struct json *is_there = json_at(json_at(list, i), 2);

		if (!json_is(is_there, JSON_BOOL))
			return err_set(err, ERR_INVALID, "members: expected true or false");
		(*ret_members)[i].is_there = json_as_bool(is_there, false);
	}
	return rc;
}

/* As times before the moment INSTANT_UNSET. */
static int read_ages(const struct json *list, struct restart_budget *budget, struct err *err)
{
	size_t count = json_count(list);

	if (!list)
		return 0;
	if (count != (size_t) budget->n_charged || count > LIMIT_TIMED_RESTARTS)
		return err_set(err, ERR_INVALID, "ages: expected one for each restart");
	budget->is_timed = true;
	for (size_t i = 0; i < count; i++)
		budget->charged_at[i] = instant_add(
			INSTANT_UNSET, -msec_max(json_as_integer(json_at(list, i), 0), 0));
	return 0;
}

int rendezvous_record_read(const struct json *object, const struct rendezvous_settings *settings,
			   instant now, struct rendezvous **ret_rendezvous, struct err *err)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct rendezvous past = {0};
	struct world_member *excluded = NULL;
	size_t n_excluded = 0;
	int rc = fields_read(object, NULL, record_fields, arena, &past, err);

	if (rc == 0)
		rc = read_recorded_members(json_get(object, "members"), arena, &past.world.members,
					   &past.world.n_members, err);
	if (rc == 0)
		rc = read_recorded_members(json_get(object, "setAside"), arena, &excluded,
					   &n_excluded, err);
	if (rc == 0)
		rc = read_ages(json_get_path(object, "budget", "ages", NULL), &past.budget, err);
	if (rc == 0)
		*ret_rendezvous = rendezvous_restore(settings, &past, excluded, n_excluded, now);
	return rc;
}
