#include "rendezvous/member_wire.h"

#include "base/names.h"
#include "rendezvous/member_fields.h"
#include "rendezvous/world_failure.h"
#include "spec/limits.h"

#include <inttypes.h>
#include <string.h>

#define LONGEST_TIME (30LL * 24 * 3600 * MSEC_PER_SECOND)

/* Orders. */

static struct json *order_new(const struct member_order *order)
{
	struct json *object = json_new_object();

	json_set_string(object, "order", rendezvous_order_words[order->order]);
	json_set_integer(object, "generation", order->generation);
	json_set_string(object, "reason", world_reason_words[order->reason]);
	json_set_string(object, "verdict", rendezvous_verdict_words[order->verdict]);
	if (order->is_excluded)
		json_set_bool(object, "isSetAside", true);
	if (order->is_last)
		json_set_bool(object, "isLast", true);
	return object;
}

static int read_order(const struct json *object, struct member_order *ret_order, struct err *err)
{
	int order = 0, reason = 0, verdict = 0;
	int64_t generation = 0;
	int rc = member_field_word(object, "order", rendezvous_order_words, RENDEZVOUS_ORDER_COUNT,
				   &order, err);

	if (rc == 0)
		rc = member_field_number(object, "generation", 0, LIMIT_RESTARTS, &generation, err);
	if (rc == 0)
		rc = member_field_word(object, "reason", world_reason_words, WORLD_REASON_COUNT,
				       &reason, err);
	if (rc == 0)
		rc = member_field_word(object, "verdict", rendezvous_verdict_words,
				       RENDEZVOUS_VERDICT_COUNT, &verdict, err);
	if (rc == 0)
		*ret_order = (struct member_order){
			.order = (enum rendezvous_order) order,
			.generation = generation,
			.reason = (enum world_reason) reason,
			.verdict = (enum rendezvous_verdict) verdict,
			.is_excluded = json_as_bool(json_get(object, "isSetAside"), false),
			.is_last = json_as_bool(json_get(object, "isLast"), false),
		};
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

/* "--restart-window is 1h on the server and 30m on this machine" */
static const char *windows_differ(msec of_job, msec given, struct arena *arena)
{
	struct text sentence CLEANUP(text_done) = {0};

	text_add(&sentence, "--restart-window is ");
	text_add_duration(&sentence, of_job);
	text_add(&sentence, " on the server and ");
	text_add_duration(&sentence, given);
	text_add(&sentence, " on this machine");
	return arena_copy_text(arena, text_of(&sentence));
}

static const char *restarts_text(int most, struct arena *arena)
{
	return most < 0 ? "unlimited" : arena_format(arena, "%d", most);
}

static const char *restarts_differ(const struct restart_terms *of_job,
				   const struct restart_terms *given, struct arena *arena)
{
	if (of_job->most != given->most)
		return arena_format(
			arena, "--max-restarts is %s on the server and %s on this machine",
			restarts_text(of_job->most, arena), restarts_text(given->most, arena));
	if (of_job->window != given->window)
		return windows_differ(of_job->window, given->window, arena);
	if (of_job->max_no_progress != given->max_no_progress)
		return arena_format(arena,
				    "--max-no-progress is %d on the server and %d on this machine",
				    of_job->max_no_progress, given->max_no_progress);
	return NULL;
}

const char *member_terms_differ(const struct member_terms *of_job, const struct member_terms *given,
				struct arena *arena)
{
	if (of_job->min != given->min || of_job->max != given->max)
		return arena_format(arena,
				    "--nnodes is %d:%d on the server and %d:%d on this machine",
				    of_job->min, of_job->max, given->min, given->max);
	if (of_job->unit != given->unit)
		return arena_format(arena, "--node-unit is %d on the server and %d on this machine",
				    of_job->unit, given->unit);
	return restarts_differ(&of_job->restarts, &given->restarts, arena);
}

void member_terms_set(struct json *object, const struct member_terms *terms)
{
	json_set_integer(object, "min", terms->min);
	json_set_integer(object, "max", terms->max);
	json_set_integer(object, "unit", terms->unit);
	json_set_integer(object, "joinTime", terms->join_time);
	json_set_integer(object, "lastCall", terms->last_call);
	json_set_integer(object, "maxRestarts", terms->restarts.most);
	json_set_integer(object, "restartWindow", terms->restarts.window);
	json_set_integer(object, "maxNoProgress", terms->restarts.max_no_progress);
}

int member_terms_read(const struct json *object, struct member_terms *terms, struct err *err)
{
	int64_t max_no_progress = 0;
	int rc = member_field_int(object, "min", 1, LIMIT_MEMBERS, &terms->min, err);

	if (rc == 0)
		rc = member_field_int(object, "max", 1, LIMIT_MEMBERS, &terms->max, err);
	if (rc == 0)
		rc = member_field_int(object, "unit", 1, LIMIT_MEMBERS, &terms->unit, err);
	if (rc == 0)
		rc = member_field_number(object, "joinTime", 0, LONGEST_TIME, &terms->join_time,
					 err);
	if (rc == 0)
		rc = member_field_number(object, "lastCall", 0, LONGEST_TIME, &terms->last_call,
					 err);
	if (rc == 0)
		rc = member_field_int(object, "maxRestarts", -1, LIMIT_RESTARTS,
				      &terms->restarts.most, err);
	if (rc == 0)
		rc = member_field_newer(object, "restartWindow", LONGEST_TIME,
					&terms->restarts.window, err);
	if (rc == 0)
		rc = member_field_newer(object, "maxNoProgress", LIMIT_RESTARTS, &max_no_progress,
					err);
	terms->restarts.max_no_progress = (int) max_no_progress;
	if (rc == 0 && member_terms_fault(terms))
		rc = err_set(err, ERR_INVALID, "%s", member_terms_fault(terms));
	return rc;
}

/* Requests. */

static void set_report(struct json *object, const struct member_report *report)
{
	if (report->key)
		json_set_string(object, "key", report->key);
	json_set_integer(object, "call", report->call);
	json_set_integer(object, "nodeRank", report->node_rank);
	json_set_integer(object, "rank", report->last_rank);
	json_set_integer(object, "generation", report->generation);
	json_set_string(object, "activity", member_activity_words[report->activity]);
	json_set_bool(object, "drains", report->drains);
	json_set_bool(object, "hasLeft", report->has_left);
	json_set_integer(object, "progress", report->progress);
	json_set(object, "known", order_new(&report->known));
}

static int read_report(const struct json *body, struct member_report *report, struct err *err)
{
	int activity = 0;
	int rc = member_field_number(body, "generation", 0, LIMIT_RESTARTS, &report->generation,
				     err);

	if (rc == 0)
		rc = member_field_newer(body, "call", LIMIT_STEP, &report->call, err);
	if (rc == 0)
		rc = member_field_int(body, "nodeRank", 0, LIMIT_MEMBERS, &report->node_rank, err);
	if (rc == 0)
		rc = member_field_word(body, "activity", member_activity_words,
				       MEMBER_ACTIVITY_COUNT, &activity, err);
	if (rc == 0)
		rc = member_field_flag(body, "drains", &report->drains, err);
	if (rc == 0)
		rc = member_field_flag(body, "hasLeft", &report->has_left, err);
	if (rc == 0)
		rc = member_field_newer(body, "progress", LIMIT_STEP, &report->progress, err);
	if (rc == 0)
		rc = read_order(json_get(body, "known"), &report->known, err);
	report->activity = (enum member_activity) activity;
	return rc;
}

static bool is_cause(const struct member_request *request)
{
	const struct failure *failure = request->failure;

	return failure && failure->attempt == request->report.generation &&
	       !world_failure_is_consequence(failure);
}

static int read_member_failure(const struct json *object, struct arena *arena,
			       const struct failure **ret_failure, struct err *err)
{
	const struct json *value = json_get(object, "failure");
	struct failure *failure = NULL;
	int rc = value ? status_failure_read(value, arena, &failure, err) : 0;

	if (rc < 0)
		return err_prefix(err, "failure");
	if (failure)
		world_failure_clip(failure, arena);
	*ret_failure = failure;
	return 0;
}

void member_request_add(const struct member_request *request, struct text *body)
{
	struct json *object CLEANUP(json_cleanup) = json_new_object();
	struct json *offer = NULL;

	json_set_string(object, "uid", request->uid);
	member_terms_set(object, &request->terms);
	if (json_read(request->offer, strlen(request->offer), &offer, NULL) == 0)
		json_set(object, "offer", offer);
	if (request->liveness_port)
		json_set_integer(object, "livenessPort", request->liveness_port);
	set_report(object, &request->report);
	json_set_integer(object, "world", request->world);
	if (request->failure)
		json_set(object, "failure", status_failure_write(request->failure));
	json_set_integer(object, "knownFailure", request->known_failure);
	json_add_compact(body, object);
}

/* An earlier version does not send it. */
static int read_last_rank(const struct json *body)
{
	int64_t rank = json_as_integer(json_get(body, "rank"), -1);

	return rank >= 0 && rank < LIMIT_MEMBERS ? (int) rank : -1;
}

int member_request_read(const struct json *body, struct arena *arena,
			struct member_request *ret_request, struct err *err)
{
	int64_t liveness_port = 0;

	*ret_request = (struct member_request){0};
	int rc = member_field_uid(body, arena, &ret_request->uid, err);

	if (rc == 0)
		rc = member_terms_read(body, &ret_request->terms, err);
	if (rc == 0)
		rc = member_field_offer(json_get(body, "offer"), arena, &ret_request->offer, err);
	if (rc == 0)
		rc = member_field_newer(body, "livenessPort", UINT16_MAX, &liveness_port, err);
	ret_request->liveness_port = (int) liveness_port;
	if (rc == 0)
		rc = read_report(body, &ret_request->report, err);
	if (rc == 0)
		rc = member_field_key(body, arena, &ret_request->report.key, err);
	if (rc == 0)
		rc = member_field_number(body, "world", 0, LIMIT_RESTARTS, &ret_request->world,
					 err);
	if (rc == 0)
		rc = read_member_failure(body, arena, &ret_request->failure, err);
	if (rc == 0)
		rc = member_field_number(body, "knownFailure", 0, LIMIT_RESTARTS,
					 &ret_request->known_failure, err);
	ret_request->report.newest = ret_request->world;
	ret_request->report.last_rank = read_last_rank(body);
	ret_request->report.is_cause = is_cause(ret_request);
	return rc;
}

/* Answers. */

void member_answer_add_members(const struct world *world, struct text *members)
{
	text_add_char(members, '[');
	for (size_t i = 0; i < world->n_members; i++) {
		struct json *id CLEANUP(json_cleanup) = json_new_string(world->members[i].id);

		text_add(members, i ? ",[" : "[");
		json_add_compact(members, id);
		text_addf(members, ",%s]", world->members[i].offer);
	}
	text_add_char(members, ']');
}

static void add_member_failure(const struct failure *failure, struct text *body)
{
	struct json *object CLEANUP(json_cleanup) = status_failure_write(failure);

	text_add(body, ",\"failure\":");
	json_add_compact(body, object);
}

void member_answer_add(const struct member_answer *answer, const char *members, struct text *body)
{
	struct json *order CLEANUP(json_cleanup) = order_new(&answer->order);

	text_addf(body, "{\"uid\":\"%s\",\"restarts\":%d,\"failureNumber\":%" PRId64 ",\"order\":",
		  answer->uid, answer->restarts, answer->failure_number);
	json_add_compact(body, order);
	if (answer->n_joined)
		text_addf(body, ",\"joined\":%d", answer->n_joined);
	if (members)
		text_addf(body, ",\"members\":%s", members);
	if (answer->failure)
		add_member_failure(answer->failure, body);
	text_add_char(body, '}');
}

static int read_member(const struct json *entry, struct arena *arena,
		       struct world_member *ret_member, struct err *err)
{
	const char *id = json_as_string(json_at(entry, 0), "");
	const char *offer = NULL;

	if (!name_is_label_value(id) || !*id)
		return member_field_fault(err, "members", "pairs of an id and an offer");
	int rc = member_field_offer(json_at(entry, 1), arena, &offer, err);

	if (rc == 0)
		*ret_member = (struct world_member){.id = (char *) arena_copy_text(arena, id),
						    .offer = (char *) offer};
	return rc;
}

static int read_members(const struct json *list, struct arena *arena, struct member_answer *answer,
			struct err *err)
{
	size_t count = json_count(list);

	answer->has_members = json_is(list, JSON_ARRAY);
	if (!answer->has_members)
		return 0;
	if (count > LIMIT_MEMBERS)
		return err_set(err, ERR_LIMIT, "members: there are more than %d", LIMIT_MEMBERS);
	answer->members = arena_take_array(arena, count, sizeof(*answer->members));
	for (; answer->n_members < count; answer->n_members++) {
		int rc = read_member(json_at(list, answer->n_members), arena,
				     &answer->members[answer->n_members], err);

		if (rc < 0)
			return rc;
	}
	return 0;
}

int member_answer_read(const struct json *body, struct arena *arena,
		       struct member_answer *ret_answer, struct err *err)
{
	*ret_answer = (struct member_answer){0};
	int64_t n_joined = 0;
	int rc = member_field_uid(body, arena, &ret_answer->uid, err);

	if (rc == 0)
		rc = member_field_int(body, "restarts", 0, LIMIT_RESTARTS, &ret_answer->restarts,
				      err);
	if (rc == 0)
		rc = read_order(json_get(body, "order"), &ret_answer->order, err);
	if (rc == 0)
		rc = member_field_newer(body, "joined", LIMIT_MEMBERS, &n_joined, err);
	ret_answer->n_joined = (int) n_joined;
	if (rc == 0)
		rc = read_members(json_get(body, "members"), arena, ret_answer, err);
	if (rc == 0)
		rc = read_member_failure(body, arena, &ret_answer->failure, err);
	if (rc == 0)
		rc = member_field_number(body, "failureNumber", 0, LIMIT_RESTARTS,
					 &ret_answer->failure_number, err);
	return rc;
}
