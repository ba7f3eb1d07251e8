/* Any bytes as what members of an elastic job and their server say to each other, and as what a
 * server keeps: what is read is written and read again as the same. Whatever a server takes of a
 * member, the member can read the answer, and the next server the record. */
#include "fuzz.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "rendezvous/json.h"
#include "rendezvous/world.h"

#include <stdlib.h>
#include <string.h>

static struct json *read_again(const struct text *text)
{
	struct json *object = NULL;

	if (json_read(text_of(text), text->len, &object, NULL) < 0)
		abort();
	return object;
}

static void check_order(const struct rendezvous *rendezvous, struct arena *arena)
{
	const struct world *newest = &rendezvous->world;
	struct text text CLEANUP(text_done) = {0};
	struct member_answer answer = {.uid = "",
				       .has_members = true,
				       .members = newest->members,
				       .n_members = newest->n_members},
			     again;
	struct world_cluster cluster = {0};

	answer.order = rendezvous_order_for(rendezvous, "a");
	member_answer_add(&answer, &text);
	struct json *written CLEANUP(json_cleanup) = read_again(&text);

	if (member_answer_read(written, arena, &again, NULL) < 0 ||
	    !member_order_equals(&answer.order, &again.order))
		abort();
	const struct world world = {again.order.generation, .members = again.members,
				    .n_members = again.n_members};

	if (answer.order.order == RENDEZVOUS_RUN &&
	    world_cluster_read(&world, "a", arena, &cluster, NULL) < 0)
		abort();
}

static void check_record(const struct rendezvous *rendezvous, instant now)
{
	struct json *record CLEANUP(json_cleanup) = json_new_object();
	struct rendezvous *again = NULL;

	rendezvous_record_set(record, rendezvous, now);
	if (rendezvous_record_read(record, &rendezvous->settings, now, &again, NULL) < 0)
		abort();
	rendezvous_free(again);
}

/* The call founds a job, and is made again when that has its first world. */
static void check_server(const struct member_request *request, struct arena *arena)
{
	const struct rendezvous_event time = {.type = RENDEZVOUS_TIME};
	const struct rendezvous_settings settings = {
		.terms = request->terms,
		.lease = INT32_MAX * (msec) MSEC_PER_SECOND,
	};
	struct rendezvous *rendezvous = rendezvous_new(&settings, INSTANT_UNSET);
	instant now = INSTANT_UNSET;

	for (int i = 0; i < 3; i++) {
		(void) member_call_apply(rendezvous, "a", &request->report, request->offer, now,
					 NULL);
		check_order(rendezvous, arena);
		check_record(rendezvous, now);
		now = instant_max(
			now, instant_min(rendezvous_wake_at(rendezvous), (instant){INT64_MAX / 2}));
		(void) rendezvous_step(rendezvous, &time, now, NULL);
		check_order(rendezvous, arena);
	}
	rendezvous_free(rendezvous);
}

static void check_request(const struct json *object, struct arena *arena)
{
	struct text text CLEANUP(text_done) = {0};
	struct member_request request, again;

	if (member_request_read(object, arena, &request, NULL) < 0)
		return;
	member_request_add(&request, &text);
	struct json *written CLEANUP(json_cleanup) = read_again(&text);

	if (member_request_read(written, arena, &again, NULL) < 0 ||
	    !member_report_equals(&request.report, &again.report) ||
	    !text_equals(request.offer, again.offer) ||
	    member_terms_differ(&request.terms, &again.terms, arena))
		abort();
	check_server(&request, arena);
}

/* Where each of the members would stand: the processes of all have a place of their own. */
static void check_cluster(const struct world *world, struct arena *arena)
{
	int next = 0;

	for (size_t rank = 0; rank < world->n_members; rank++) {
		struct world_cluster cluster = {0};

		if (world_rank(world, world->members[rank].id) != (int) rank ||
		    world_cluster_read(world, world->members[rank].id, arena, &cluster, NULL) < 0)
			return;
		if (cluster.world.first_rank < next ||
		    cluster.world.first_rank >= cluster.world.size)
			abort();
		next = cluster.world.first_rank + 1;
	}
}

static void check_answer(const struct json *object, struct arena *arena)
{
	struct text text CLEANUP(text_done) = {0};
	struct member_answer answer, again;

	if (member_answer_read(object, arena, &answer, NULL) < 0)
		return;
	const struct world world = {
		.generation = answer.order.generation,
		.members = answer.members,
		.n_members = answer.n_members,
	};

	member_answer_add(&answer, &text);
	struct json *written CLEANUP(json_cleanup) = read_again(&text);

	if (member_answer_read(written, arena, &again, NULL) < 0 ||
	    !member_order_equals(&answer.order, &again.order) ||
	    answer.n_members != again.n_members)
		abort();
	check_cluster(&world, arena);
}

static void check_past(const struct json *object)
{
	static const struct rendezvous_settings settings = {
		.terms.min = 1,
		.terms.max = LIMIT_MEMBERS,
		.terms.unit = 1,
		.terms.restarts = {.most = LIMIT_TIMED_RESTARTS, .window = MSEC_PER_SECOND},
	};
	struct json *written CLEANUP(json_cleanup) = json_new_object();
	struct rendezvous *past = NULL, *again = NULL;

	if (rendezvous_record_read(object, &settings, INSTANT_UNSET, &past, NULL) < 0)
		return;
	rendezvous_record_set(written, past, INSTANT_UNSET);
	if (rendezvous_record_read(written, &settings, INSTANT_UNSET, &again, NULL) < 0 ||
	    past->world.generation != again->world.generation ||
	    past->world.n_members != again->world.n_members || past->goes_on != again->goes_on)
		abort();
	rendezvous_free(past);
	rendezvous_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct json *object CLEANUP(json_cleanup) = NULL;

	if (json_read((const char *) bytes, len, &object, NULL) < 0)
		return 0;
	check_request(object, arena);
	check_answer(object, arena);
	check_past(object);
	return 0;
}
