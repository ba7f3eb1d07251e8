#include "rendezvous/json.h"

#include "base/names.h"
#include "rendezvous/world_cluster.h"
#include "rendezvous/world_failure.h"
#include "spec/limits.h"

#include <inttypes.h>
#include <string.h>

#define LONGEST_TIME (30LL * 24 * 3600 * MSEC_PER_SECOND)

/* Fields. All of it comes from other machines or from a file, so every field is checked. */

enum field_kind {
	FIELD_INT,
	FIELD_LONG, /* an int64_t or msec */
	FIELD_FLAG, /* a bool */
	FIELD_WORD, /* an enum, with its word table */
	FIELD_UID, /* a text: a UUID, or empty */
	FIELD_KEY, /* a text: a UUID; NULL: none */
	FIELD_OFFER, /* a text: an offer in the words of offer_add */
	FIELD_FAILURE, /* NULL: none */
	FIELD_OBJECT, /* a struct with its own fields */
	FIELD_PART, /* likewise, in the same object */
};

enum field_need {
	FIELD_NEEDED,
	FIELD_NEWER, /* earlier versions lack it: a number is then the least, and a struct is left
		      */
	FIELD_TOLERATED, /* a malformed one counts as absent, too */
};

struct field {
	const char *key; /* NULL: end of the table */
	enum field_kind kind;
	size_t offset;
	int64_t least, most; /* range of a number */
	const char *const *words; /* for a FIELD_WORD, `most` of them */
	const struct field *fields; /* for a FIELD_OBJECT or FIELD_PART */
	enum field_need need;
	bool omits_least; /* is not written if it is the least, or false */
};

/* The words of an enum. */
#define WORDS(table) .words = (table), .most = ARRAY_LEN(table)

static const struct field order_fields[] = {
	{"order", FIELD_WORD, offsetof(struct member_order, order), WORDS(rendezvous_order_words)},
	{"generation", FIELD_LONG, offsetof(struct member_order, generation), 0, LIMIT_RESTARTS},
	{"reason", FIELD_WORD, offsetof(struct member_order, reason), WORDS(world_reason_words)},
	{"verdict", FIELD_WORD, offsetof(struct member_order, verdict),
	 WORDS(rendezvous_verdict_words)},
	{"isSetAside", FIELD_FLAG, offsetof(struct member_order, is_excluded),
	 .need = FIELD_TOLERATED, .omits_least = true},
	{"isLast", FIELD_FLAG, offsetof(struct member_order, is_last), .need = FIELD_TOLERATED,
	 .omits_least = true},
	{0},
};

static const struct field terms_fields[] = {
	{"min", FIELD_INT, offsetof(struct member_terms, min), 1, LIMIT_MEMBERS},
	{"max", FIELD_INT, offsetof(struct member_terms, max), 1, LIMIT_MEMBERS},
	{"unit", FIELD_INT, offsetof(struct member_terms, unit), 1, LIMIT_MEMBERS},
	{"joinTime", FIELD_LONG, offsetof(struct member_terms, join_time), 0, LONGEST_TIME},
	{"lastCall", FIELD_LONG, offsetof(struct member_terms, last_call), 0, LONGEST_TIME},
	{"maxRestarts", FIELD_INT, offsetof(struct member_terms, restarts.most), -1,
	 LIMIT_RESTARTS},
	{"restartWindow", FIELD_LONG, offsetof(struct member_terms, restarts.window), 0,
	 LONGEST_TIME, .need = FIELD_NEWER},
	{"maxNoProgress", FIELD_INT, offsetof(struct member_terms, restarts.max_no_progress), 0,
	 LIMIT_RESTARTS, .need = FIELD_NEWER},
	{0},
};

static const struct field report_fields[] = {
	{"key", FIELD_KEY, offsetof(struct member_report, key), .need = FIELD_NEWER},
	{"call", FIELD_LONG, offsetof(struct member_report, call), 0, LIMIT_STEP,
	 .need = FIELD_NEWER},
	{"nodeRank", FIELD_INT, offsetof(struct member_report, node_rank), 0, LIMIT_MEMBERS},
	{"rank", FIELD_INT, offsetof(struct member_report, last_rank), -1, LIMIT_MEMBERS - 1,
	 .need = FIELD_TOLERATED},
	{"generation", FIELD_LONG, offsetof(struct member_report, generation), 0, LIMIT_RESTARTS},
	{"activity", FIELD_WORD, offsetof(struct member_report, activity),
	 WORDS(member_activity_words)},
	{"drains", FIELD_FLAG, offsetof(struct member_report, drains)},
	{"hasLeft", FIELD_FLAG, offsetof(struct member_report, has_left)},
	{"progress", FIELD_LONG, offsetof(struct member_report, progress), 0, LIMIT_STEP,
	 .need = FIELD_NEWER},
	{"known", FIELD_OBJECT, offsetof(struct member_report, known), .fields = order_fields},
	{0},
};

static const struct field request_fields[] = {
	{"uid", FIELD_UID, offsetof(struct member_request, uid)},
	{"", FIELD_PART, offsetof(struct member_request, terms), .fields = terms_fields},
	{"offer", FIELD_OFFER, offsetof(struct member_request, offer)},
	{"livenessPort", FIELD_INT, offsetof(struct member_request, liveness_port), 0, UINT16_MAX,
	 .need = FIELD_NEWER, .omits_least = true},
	{"", FIELD_PART, offsetof(struct member_request, report), .fields = report_fields},
	{"world", FIELD_LONG, offsetof(struct member_request, world), 0, LIMIT_RESTARTS},
	{"failure", FIELD_FAILURE, offsetof(struct member_request, failure), .need = FIELD_NEWER},
	{"knownFailure", FIELD_LONG, offsetof(struct member_request, known_failure), 0,
	 LIMIT_RESTARTS},
	{0},
};

/* Its members are written between them. */
static const struct field answer_fields[] = {
	{"uid", FIELD_UID, offsetof(struct member_answer, uid)},
	{"restarts", FIELD_INT, offsetof(struct member_answer, restarts), 0, LIMIT_RESTARTS},
	{"failureNumber", FIELD_LONG, offsetof(struct member_answer, failure_number), 0,
	 LIMIT_RESTARTS},
	{"order", FIELD_OBJECT, offsetof(struct member_answer, order), .fields = order_fields},
	{"joined", FIELD_INT, offsetof(struct member_answer, n_joined), 0, LIMIT_MEMBERS,
	 .need = FIELD_NEWER, .omits_least = true},
	{0},
};
static const struct field answer_failure_fields[] = {
	{"failure", FIELD_FAILURE, offsetof(struct member_answer, failure), .need = FIELD_NEWER},
	{0},
};

static const struct field snapshot_fields[] = {
	{"generation", FIELD_LONG, offsetof(struct rendezvous_snapshot, world.generation), 0,
	 LIMIT_RESTARTS},
	{"worldReason", FIELD_WORD, offsetof(struct rendezvous_snapshot, world.reason),
	 WORDS(world_reason_words)},
	{"goesOn", FIELD_FLAG, offsetof(struct rendezvous_snapshot, goes_on)},
	{"restarts", FIELD_INT, offsetof(struct rendezvous_snapshot, n_restarts), 0,
	 LIMIT_RESTARTS},
	{"reason", FIELD_WORD, offsetof(struct rendezvous_snapshot, reason),
	 WORDS(world_reason_words)},
	{"verdict", FIELD_WORD, offsetof(struct rendezvous_snapshot, verdict),
	 WORDS(rendezvous_verdict_words)},
	{0},
};

static const struct field budget_fields[] = {
	{"end", FIELD_WORD, offsetof(struct restart_budget_snapshot, end),
	 WORDS(restart_budget_end_words)},
	{"charged", FIELD_INT, offsetof(struct restart_budget_snapshot, n_charged), 0,
	 LIMIT_RESTARTS},
	{"fruitless", FIELD_INT, offsetof(struct restart_budget_snapshot, n_no_progress), 0,
	 LIMIT_RESTARTS},
	{"progress", FIELD_LONG, offsetof(struct restart_budget_snapshot, progress), 0, LIMIT_STEP},
	{"failedAt", FIELD_LONG, offsetof(struct restart_budget_snapshot, failed_at), 0,
	 LIMIT_STEP},
	{0},
};

/* Writing. */

static struct json *offer_new(const char *text)
{
	struct json *offer = NULL;

	return json_read(text, strlen(text), &offer, NULL) < 0 ? json_new_object() : offer;
}

static void set_number(struct json *object, const struct field *field, int64_t number)
{
	if (!field->omits_least || number != field->least)
		json_set_integer(object, field->key, number);
}

static void set_fields(struct json *object, const struct field *fields, const void *from);

static void set_field(struct json *object, const struct field *field, const void *at)
{
	switch (field->kind) {
	case FIELD_INT:
		set_number(object, field, *(const int *) at);
		break;
	case FIELD_LONG:
		set_number(object, field, *(const int64_t *) at);
		break;
	case FIELD_FLAG:
		if (*(const bool *) at || !field->omits_least)
			json_set_bool(object, field->key, *(const bool *) at);
		break;
	case FIELD_WORD:
		json_set_string(object, field->key, field->words[*(const int *) at]);
		break;
	case FIELD_UID:
	case FIELD_KEY:
		json_set_string(object, field->key, *(const char *const *) at);
		break;
	case FIELD_OFFER:
		json_set(object, field->key, offer_new(*(const char *const *) at));
		break;
	case FIELD_FAILURE:
		if (*(const struct failure *const *) at)
			json_set(object, field->key,
				 status_failure_write(*(const struct failure *const *) at));
		break;
	case FIELD_OBJECT:
		set_fields(json_object_at(object, field->key), field->fields, at);
		break;
	case FIELD_PART:
		set_fields(object, field->fields, at);
		break;
	}
}

static void set_fields(struct json *object, const struct field *fields, const void *from)
{
	for (; fields->key; fields++)
		set_field(object, fields, (const char *) from + fields->offset);
}

/* Reading: each function returns ERR_INVALID, with the field and the expected value. */

static int refuse_field(const char *key, const char *wanted, struct err *err)
{
	return err_set(err, ERR_INVALID, "%s: must be %s", key, wanted);
}

static int read_number(const struct json *value, const struct field *field, int64_t *ret_number,
		       struct err *err)
{
	int64_t number = json_as_integer(value, field->least - 1);

	if (!json_is(value, JSON_INTEGER) || number < field->least || number > field->most)
		return err_set(err, ERR_INVALID,
			       "%s: must be a number from %" PRId64 " to %" PRId64, field->key,
			       field->least, field->most);
	*ret_number = number;
	return 0;
}

static int read_offer(const struct json *value, struct arena *arena, const char **ret_offer,
		      struct err *err)
{
	struct text text CLEANUP(text_done) = {0};
	struct offer offer = {0};

	if (!json_is(value, JSON_OBJECT))
		return refuse_field("offer", "an object", err);
	int rc = offer_read_json(value, arena, &offer, err);

	if (rc < 0)
		return err_prefix(err, "offer");
	offer_add(&offer, &text);
	*ret_offer = arena_copy_text(arena, text_of(&text));
	return 0;
}

static int read_failure(const struct json *value, struct arena *arena,
			const struct failure **ret_failure, struct err *err)
{
	struct failure *failure = NULL;
	int rc = status_failure_read(value, arena, &failure, err);

	if (rc < 0)
		return err_prefix(err, "failure");
	if (failure)
		world_failure_clip(failure, arena);
	*ret_failure = failure;
	return 0;
}

static int read_fields(const struct json *object, const struct field *fields, struct arena *arena,
		       void *into, struct err *err);

static int read_value(const struct json *value, const struct field *field, struct arena *arena,
		      void *at, struct err *err)
{
	const char *text = json_as_string(value, NULL);
	int64_t number = 0;
	int rc = 0;

	switch (field->kind) {
	case FIELD_INT:
		rc = read_number(value, field, &number, err);
		if (rc == 0)
			*(int *) at = (int) number;
		return rc;
	case FIELD_LONG:
		return read_number(value, field, at, err);
	case FIELD_FLAG:
		if (!json_is(value, JSON_BOOL))
			return refuse_field(field->key, "true or false", err);
		*(bool *) at = json_as_bool(value, false);
		return 0;
	case FIELD_WORD:
		number = name_find_word(field->words, (size_t) field->most, text ? text : "");
		if (number < 0)
			return refuse_field(field->key,
					    "one of the words of this version of muster", err);
		*(int *) at = (int) number;
		return 0;
	case FIELD_UID:
		if (!text || (*text && !name_is_uid(text)))
			return refuse_field(field->key, "a UUID, or empty", err);
		*(const char **) at = arena_copy_text(arena, text);
		return 0;
	case FIELD_KEY:
		if (!text || !name_is_uid(text))
			return refuse_field(field->key, "a UUID", err);
		*(const char **) at = arena_copy_text(arena, text);
		return 0;
	case FIELD_OFFER:
		return read_offer(value, arena, at, err);
	case FIELD_FAILURE:
		return read_failure(value, arena, at, err);
	case FIELD_OBJECT:
	case FIELD_PART:
		return read_fields(value, field->fields, arena, at, err);
	}
	return 0;
}

/* An absent field leaves the struct as it was, zeroed; but the least of a number may be another. */
static int read_field(const struct json *object, const struct field *field, struct arena *arena,
		      void *at, struct err *err)
{
	const struct json *value =
		field->kind == FIELD_PART ? object : json_get(object, field->key);
	bool is_tolerated = field->need == FIELD_TOLERATED;

	if (field->need != FIELD_NEEDED && field->kind == FIELD_INT)
		*(int *) at = (int) field->least;
	if (!value && field->need != FIELD_NEEDED)
		return 0;
	int rc = read_value(value, field, arena, at, is_tolerated ? NULL : err);

	return is_tolerated ? 0 : rc;
}

static int read_fields(const struct json *object, const struct field *fields, struct arena *arena,
		       void *into, struct err *err)
{
	int rc = 0;

	for (; rc == 0 && fields->key; fields++)
		rc = read_field(object, fields, arena, (char *) into + fields->offset, err);
	return rc;
}

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

static const char *size_text(const struct member_terms *terms, struct arena *arena)
{
	return arena_format(arena, "%d:%d", terms->min, terms->max);
}

static const char *differing(const char *option, const char *of_job, const char *given,
			     struct arena *arena)
{
	return arena_format(arena, "%s is %s on the server and %s on this machine", option, of_job,
			    given);
}

const char *member_terms_differ(const struct member_terms *of_job, const struct member_terms *given,
				struct arena *arena)
{
	const struct restart_terms *a = &of_job->restarts, *b = &given->restarts;

	if (of_job->min != given->min || of_job->max != given->max)
		return differing("--nnodes", size_text(of_job, arena), size_text(given, arena),
				 arena);
	if (of_job->unit != given->unit)
		return differing("--node-unit", number_text(of_job->unit, arena),
				 number_text(given->unit, arena), arena);
	if (a->most != b->most)
		return differing("--max-restarts", number_text(a->most, arena),
				 number_text(b->most, arena), arena);
	if (a->window != b->window)
		return differing("--restart-window", duration_text(a->window, arena),
				 duration_text(b->window, arena), arena);
	if (a->max_no_progress != b->max_no_progress)
		return differing("--max-no-progress", number_text(a->max_no_progress, arena),
				 number_text(b->max_no_progress, arena), arena);
	return NULL;
}

void member_terms_set(struct json *object, const struct member_terms *terms)
{
	set_fields(object, terms_fields, terms);
}

int member_terms_read(const struct json *object, struct member_terms *terms, struct err *err)
{
	int rc = read_fields(object, terms_fields, NULL, terms, err);

	if (rc == 0 && member_terms_fault(terms))
		rc = err_set(err, ERR_INVALID, "%s", member_terms_fault(terms));
	return rc;
}

/* Requests. */

void member_request_add(const struct member_request *request, struct text *body)
{
	struct json *object CLEANUP(json_cleanup) = json_new_object();

	set_fields(object, request_fields, request);
	json_add_compact(body, object);
}

int member_request_read(const struct json *body, struct arena *arena,
			struct member_request *ret_request, struct err *err)
{
	*ret_request = (struct member_request){0};
	struct member_report *report = &ret_request->report;
	int rc = read_fields(body, request_fields, arena, ret_request, err);

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
	json_append(entry, offer_new(member->offer));
	return entry;
}

static int read_member(const struct json *entry, struct arena *arena, struct world_member *member,
		       struct err *err)
{
	const char *id = json_as_string(json_at(entry, 0), "");
	const char *offer = NULL;

	if (!name_is_label_value(id) || !*id)
		return refuse_field("members", "pairs of an id and an offer", err);
	int rc = read_offer(json_at(entry, 1), arena, &offer, err);

	*member = (struct world_member){
		.id = (char *) arena_copy_text(arena, id),
		.offer = (char *) offer,
		.key = (char *) arena_copy_text(arena, json_as_string(json_at(entry, 3), NULL)),
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

	set_fields(object, answer_fields, answer);
	if (answer->has_members)
		json_set(object, "members", json_new_array());
	for (size_t i = 0; answer->has_members && i < answer->n_members; i++)
		json_append(json_get(object, "members"), member_new(&answer->members[i]));
	set_fields(object, answer_failure_fields, answer);
	json_add_compact(body, object);
}

int member_answer_read(const struct json *body, struct arena *arena,
		       struct member_answer *ret_answer, struct err *err)
{
	const struct json *members = json_get(body, "members");

	*ret_answer = (struct member_answer){.has_members = json_is(members, JSON_ARRAY)};
	int rc = read_fields(body, answer_fields, arena, ret_answer, err);

	if (rc == 0 && ret_answer->has_members)
		rc = read_members(members, arena, &ret_answer->members, &ret_answer->n_members,
				  err);
	return rc < 0 ? rc : read_fields(body, answer_failure_fields, arena, ret_answer, err);
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

void rendezvous_snapshot_set(struct json *object, const struct rendezvous_snapshot *snapshot)
{
	const struct restart_budget_snapshot *budget = &snapshot->budget;

	set_fields(object, snapshot_fields, snapshot);
	struct json *members = json_array_at(object, "members");
	struct json *excluded = json_array_at(object, "setAside");
	struct json *restarts = json_object_at(object, "budget");

	for (size_t i = 0; i < snapshot->world.n_members; i++)
		add_recorded_member(members, &snapshot->world.members[i], snapshot->are_there[i]);
	for (size_t i = 0; i < snapshot->n_excluded; i++)
		add_recorded_member(excluded, &snapshot->excluded[i], true);
	set_fields(restarts, budget_fields, budget);
	for (int i = 0; budget->ages && i < budget->n_charged; i++)
		json_append(json_array_at(restarts, "ages"), json_new_integer(budget->ages[i]));
}

static int read_recorded_members(const struct json *object, const char *key, struct arena *arena,
				 struct world_member **ret_members, size_t *ret_count,
				 struct err *err)
{
	const struct json *list = json_get(object, key);

	if (!json_is(list, JSON_ARRAY) || json_count(list) > LIMIT_MEMBERS)
		return refuse_field(key, "a list, no longer than a job may be", err);
	return read_members(list, arena, ret_members, ret_count, err);
}

static int read_presence(const struct json *list, struct arena *arena,
			 struct rendezvous_snapshot *snapshot, struct err *err)
{
	snapshot->are_there = arena_take_array(arena, snapshot->world.n_members, sizeof(bool));
	for (size_t i = 0; i < snapshot->world.n_members; i++) {
		const struct json *is_there = json_at(json_at(list, i), 2);

		if (!json_is(is_there, JSON_BOOL))
			return refuse_field("members", "with true or false", err);
		snapshot->are_there[i] = json_as_bool(is_there, false);
	}
	return 0;
}

static int read_ages(const struct json *list, struct arena *arena,
		     struct restart_budget_snapshot *budget, struct err *err)
{
	size_t count = json_count(list);

	if (!list)
		return 0;
	if (count != (size_t) budget->n_charged || count > LIMIT_TIMED_RESTARTS)
		return refuse_field("ages", "one for each restart", err);
	budget->ages = arena_take_array(arena, count, sizeof(msec));
	for (size_t i = 0; i < count; i++)
		budget->ages[i] = json_as_integer(json_at(list, i), 0);
	return 0;
}

/* Records of earlier versions have no budget, and no members who were set aside. */
int rendezvous_snapshot_read(const struct json *object, struct arena *arena,
			     struct rendezvous_snapshot *snapshot, struct err *err)
{
	const struct json *budget = json_get(object, "budget");

	*snapshot = (struct rendezvous_snapshot){0};
	int rc = read_fields(object, snapshot_fields, arena, snapshot, err);

	if (rc == 0)
		rc = read_recorded_members(object, "members", arena, &snapshot->world.members,
					   &snapshot->world.n_members, err);
	if (rc == 0)
		rc = read_presence(json_get(object, "members"), arena, snapshot, err);
	if (rc == 0 && json_get(object, "setAside"))
		rc = read_recorded_members(object, "setAside", arena, &snapshot->excluded,
					   &snapshot->n_excluded, err);
	if (rc == 0 && budget)
		rc = read_fields(budget, budget_fields, arena, &snapshot->budget, err);
	return rc < 0 ? rc : read_ages(json_get(budget, "ages"), arena, &snapshot->budget, err);
}
