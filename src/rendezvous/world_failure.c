#include "rendezvous/world_failure.h"

#include "base/line_text.h"
#include "status/exception.h"
#include "status/failure_words.h"

#include <signal.h>

#define MOST_CONSEQUENCES 32
#define MOST_OF_CONSEQUENCE 200 /* bytes */
#define MOST_OF_NAME 400 /* bytes of the name of a machine, a job or a role */
#define MOST_OF_TEXT 1000 /* bytes of each other text of a report */
#define MOST_OF_LINES 8000 /* bytes of its last lines in total */
#define MOST_NAMED_LOSSES 4
#define MOST_OF_EXCEPTION 300 /* bytes of the exception in a sentence */

void world_failure_done(struct world_failure *failure)
{
	arena_free(failure->arena);
	*failure = (struct world_failure){0};
}

/* Reports. */

static size_t clipped(const char *text, size_t most)
{
	return line_text_whole_characters(text, strnlen(text, most));
}

static const char *clip(const char *given, size_t most, struct arena *arena)
{
	struct text text CLEANUP(text_done) = {0};

	if (!given)
		return NULL;
	line_text_add_plain(&text, given, clipped(given, most));
	return arena_copy_text(arena, text_of(&text));
}

/* "worker-0", at the beginning of its failure's message. */
static const char *failed_replica_name_of(const struct failure *failure, struct arena *arena)
{
	return arena_format(arena, "%s-%d ", failure->role, failure->index);
}

/* The message after that name; the whole message if it does not begin with the name. */
static const char *predicate_of(const struct failure *failure, const char *name)
{
	const char *message = failure->message ? failure->message : failure->reason;
	size_t len = strlen(name);

	return strncmp(message, name, len) == 0 ? message + len : message;
}

static const char *on_machine(const char *name, const char *machine, struct arena *arena)
{
	return arena_format(arena, "%son %s ", name, machine);
}

/* Keeps the last lines that fit. */
static void clip_failure_lines(struct failure *report, struct arena *arena)
{
	const char **lines = arena_take_array(arena, report->n_last_lines, sizeof(*lines));
	size_t count = report->n_last_lines, first = count;

	for (size_t sum = 0; first > 0; first--) {
		lines[first - 1] = clip(report->last_lines[first - 1], MOST_OF_TEXT, arena);
		sum += strlen(lines[first - 1]);
		if (sum > MOST_OF_LINES)
			break;
	}
	report->last_lines = lines + first;
	report->n_last_lines = count - first;
}

static void clip_consequences(struct failure *report, struct arena *arena)
{
	size_t count = report->n_consequences < MOST_CONSEQUENCES ? report->n_consequences
								  : MOST_CONSEQUENCES;
	struct consequence *kept = arena_take_array(arena, count, sizeof(*kept));

	for (size_t i = 0; i < count; i++) {
		kept[i] = report->consequences[i];
		kept[i].role = clip(kept[i].role, MOST_OF_NAME, arena);
		kept[i].what = clip(kept[i].what, MOST_OF_CONSEQUENCE, arena);
		kept[i].machine = clip(kept[i].machine, MOST_OF_NAME, arena);
	}
	report->consequences = kept;
	report->n_consequences = count;
}

void world_failure_clip(struct failure *report, struct arena *arena)
{
	report->role = clip(report->role, MOST_OF_NAME, arena);
	report->reason = clip(report->reason, MOST_OF_NAME, arena);
	report->rank = clip(report->rank, MOST_OF_NAME, arena);
	report->machine = clip(report->machine, MOST_OF_NAME, arena);
	report->machine_job = clip(report->machine_job, MOST_OF_NAME, arena);
	report->message = clip(report->message, MOST_OF_NAME + MOST_OF_TEXT, arena);
	report->cause = clip(report->cause, MOST_OF_TEXT, arena);
	report->exception = clip(report->exception, MOST_OF_TEXT, arena);
	report->n_stacks = 0;
	clip_failure_lines(report, arena);
	clip_consequences(report, arena);
}

struct failure *world_failure_report(const struct failure *failure, const char *machine,
				     const char *machine_job, struct arena *arena)
{
	struct failure *report = arena_take(arena, sizeof(*report));
	const char *name = failed_replica_name_of(failure, arena);

	*report = *failure;
	report->machine = machine;
	report->machine_job = machine_job;
	report->message = arena_format(arena, "%s%s", on_machine(name, machine, arena),
				       predicate_of(failure, name));
	world_failure_clip(report, arena);
	for (size_t i = 0; i < report->n_consequences; i++)
		report->consequences[i].machine = machine;
	return report;
}

void world_failure_set_machine(struct failure *report, const char *machine, struct arena *arena)
{
	const char *name = failed_replica_name_of(report, arena);
	const char *sent = on_machine(name, report->machine ? report->machine : "", arena);

	report->message = arena_format(arena, "%s%s", on_machine(name, machine, arena),
				       predicate_of(report, sent));
	report->machine = machine;
	for (size_t i = 0; i < report->n_consequences; i++)
		report->consequences[i].machine = machine;
}

/* Merging. */

bool world_failure_is_consequence(const struct failure *failure)
{
	if (failure->cause)
		return false;
	return failure->exception ? exception_blames_peer(failure->exception)
				  : failure->signal == SIGABRT;
}

static bool is_loss(const struct failure *failure)
{
	return !failure->role;
}

static bool is_of_machine(const struct failure *first, const char *machine)
{
	for (size_t i = 0; i < first->n_consequences; i++)
		if (text_equals(first->consequences[i].machine, machine))
			return true;
	return text_equals(first->machine, machine);
}

static struct consequence consequence_of(const struct failure *failure, struct arena *arena)
{
	const char *name =
		on_machine(failed_replica_name_of(failure, arena), failure->machine, arena);
	struct text what CLEANUP(text_done) = {0};

	text_add(&what, predicate_of(failure, name));
	if (failure->exception)
		text_addf(&what, ": %s", failure->exception);
	return (struct consequence){
		.role = failure->role,
		.index = failure->index,
		.attempt = failure->attempt,
		.machine = failure->machine,
		.what = clip(text_of(&what), MOST_OF_CONSEQUENCE, arena),
	};
}

/* The consequences of both, and the other failure first. */
static void add_consequence(struct failure *first, const struct failure *other, struct arena *arena)
{
	struct consequence *all = arena_take_array(
		arena, first->n_consequences + other->n_consequences + 1, sizeof(*all));
	size_t count = 0;

	all[count++] = consequence_of(other, arena);
	for (size_t i = 0; i < other->n_consequences; i++)
		all[count++] = other->consequences[i];
	for (size_t i = 0; i < first->n_consequences; i++)
		all[count++] = first->consequences[i];
	first->consequences = all;
	first->n_consequences = count < MOST_CONSEQUENCES ? count : MOST_CONSEQUENCES;
}

void world_failure_restore(struct world_failure *failure, const struct failure *first,
			   int64_t number)
{
	struct arena *arena = arena_new();
	struct failure *copy = status_failure_copy(first, arena);

	arena_free(failure->arena);
	*failure = (struct world_failure){.arena = arena, .first = copy, .number = number};
}

bool world_failure_take(struct world_failure *failure, const struct failure *report)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	const struct failure *first = failure->first;

	if (!report->machine || (first && report->attempt < first->attempt))
		return false;
	if (!first || report->attempt > first->attempt) {
		world_failure_restore(failure, report, failure->number + 1);
		return true;
	}
	if (is_loss(first) && is_loss(report)) { /* of more machines */
		struct failure more = *first;

		more.message = report->message;
		world_failure_restore(failure, &more, failure->number + 1);
		return true;
	}
	if (is_of_machine(first, report->machine))
		return false;
	bool is_cause =
		world_failure_is_consequence(first) && !world_failure_is_consequence(report);

	if (is_loss(report) && !is_cause)
		return false;
	struct failure merged = is_cause ? *report : *first;

	add_consequence(&merged, is_cause ? first : report, arena);
	world_failure_restore(failure, &merged, failure->number + 1);
	return true;
}

void world_losses_done(struct world_losses *losses)
{
	free(losses->first);
	text_done(&losses->names);
}

void world_losses_add(struct world_losses *losses, int64_t generation, const char *machine)
{
	if (generation != losses->generation) {
		world_losses_done(losses);
		*losses = (struct world_losses){.generation = generation};
	}
	if (losses->count++ == 0)
		losses->first = mem_copy_text(machine);
	if (losses->count <= MOST_NAMED_LOSSES)
		text_addf(&losses->names, "%s%s", losses->count == 1 ? "" : ", ", machine);
}

struct failure *world_failure_of_losses(const struct world_losses *losses, msec time,
					struct arena *arena)
{
	struct failure *failure = arena_take(arena, sizeof(*failure));
	const char *names = text_of(&losses->names);
	int n_more = losses->count - MOST_NAMED_LOSSES;

	*failure = (struct failure){
		.attempt = (int) losses->generation,
		.exit_code = -1,
		.reason = FAILURE_MACHINE_LOST,
		.machine = losses->first,
		.message = n_more > 0
				   ? arena_format(arena, "%s and %d more were lost", names, n_more)
				   : arena_format(arena, "%s %s lost", names,
						  losses->count == 1 ? "was" : "were"),
		.time = time,
	};
	return failure;
}

void world_failure_add_sentence(const struct failure *failure, struct text *text)
{
	text_add(text, failure->message ? failure->message : failure->reason);
	if (failure->exception)
		text_addf(text, ": %.*s", (int) clipped(failure->exception, MOST_OF_EXCEPTION),
			  failure->exception);
}
