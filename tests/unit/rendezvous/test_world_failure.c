#include "unit.h"

#include "base/json.h"
#include "rendezvous/world.h"
#include "rendezvous/world_failure.h"
#include "spec/limits.h"

#include <signal.h>

#define GONE "RuntimeError: Connection closed by peer [10.0.0.3]:29401"

struct fixture {
	struct arena *arena;
	struct world_failure failure;
};

static void set_up(struct fixture *fixture)
{
	fixture->arena = arena_new();
}

static void tear_down(struct fixture *fixture)
{
	world_failure_done(&fixture->failure);
	arena_free(fixture->arena);
}

FIXTURE(struct fixture, set_up, tear_down)

static struct failure failure_of(int generation, const char *exception)
{
	return (struct failure){
		.role = "worker",
		.attempt = generation,
		.exit_code = 1,
		.reason = "Error",
		.message = "worker-0 exited with code 1",
		.exception = exception,
	};
}

static bool take(struct fixture *fixture, const char *machine, const struct failure *failure)
{
	const struct failure *report =
		world_failure_report(failure, machine, "train", fixture->arena);

	return world_failure_take(&fixture->failure, report);
}

static void assert_sentence(const struct fixture *fixture, const char *expected)
{
	struct text text CLEANUP(text_done) = {0};

	world_failure_add_sentence(fixture->failure.first, &text);
	assert_string_equal(text_of(&text), expected);
}

static void assert_consequence(const struct fixture *fixture, size_t place, const char *machine,
			       const char *what)
{
	assert_true(place < fixture->failure.first->n_consequences);
	const struct consequence *consequence = &fixture->failure.first->consequences[place];

	assert_string_equal(consequence->machine, machine);
	assert_string_equal(consequence->what, what);
}

#define FIXTURE_TEST(name) TEST_IN(fixture_begin, fixture_end, struct fixture *fixture, name)

FIXTURE_TEST(the_first_report_is_the_cause)
{
	const struct failure first = failure_of(1, "ValueError: no");
	const struct failure second = failure_of(1, "KeyError: 'x'");

	assert_true(take(fixture, "a (machine 1)", &first));
	assert_int_equal(fixture->failure.number, 1);
	assert_sentence(fixture, "worker-0 on a (machine 1) exited with code 1: ValueError: no");
	assert_string_equal(fixture->failure.first->machine_job, "train");
	assert_true(take(fixture, "b (machine 0)", &second));
	assert_int_equal(fixture->failure.number, 2);
	assert_sentence(fixture, "worker-0 on a (machine 1) exited with code 1: ValueError: no");
	assert_consequence(fixture, 0, "b (machine 0)", "exited with code 1: KeyError: 'x'");
}

FIXTURE_TEST(a_report_that_blames_a_peer_is_a_consequence)
{
	const struct failure gone = failure_of(1, GONE), cause = failure_of(1, "ValueError: no");
	struct failure aborted = failure_of(1, NULL);

	aborted.signal = SIGABRT;
	aborted.message = "worker-0 was killed by signal 6 (SIGABRT)";
	assert_true(take(fixture, "a", &aborted));
	assert_true(take(fixture, "b", &gone));
	assert_sentence(fixture, "worker-0 on a was killed by signal 6 (SIGABRT)");
	assert_true(take(fixture, "c", &cause));
	assert_sentence(fixture, "worker-0 on c exited with code 1: ValueError: no");
	assert_consequence(fixture, 0, "a", "was killed by signal 6 (SIGABRT)");
	assert_consequence(fixture, 1, "b", "exited with code 1: " GONE);
}

/* A peer on its own machine explains it. */
FIXTURE_TEST(a_report_with_a_cause_is_no_consequence)
{
	const struct failure other = failure_of(1, "ValueError: no");
	struct failure first = failure_of(1, GONE);

	first.cause = "worker-1 failed 2s earlier: OSError: no";
	assert_true(take(fixture, "a", &first));
	assert_true(take(fixture, "b", &other));
	assert_string_equal(fixture->failure.first->machine, "a");
}

FIXTURE_TEST(what_is_known_or_old_or_of_no_machine_changes_nothing)
{
	const struct failure first = failure_of(2, "ValueError: no"), old = failure_of(1, NULL);
	const struct failure next = failure_of(3, "OSError: full");

	assert_true(take(fixture, "a", &first));
	assert_false(take(fixture, "a", &first));
	assert_false(take(fixture, "b", &old));
	assert_false(world_failure_take(&fixture->failure, &next));
	assert_true(take(fixture, "b", &first));
	assert_false(take(fixture, "b", &first));
	assert_int_equal(fixture->failure.number, 2);
	assert_true(take(fixture, "b", &next));
	assert_sentence(fixture, "worker-0 on b exited with code 1: OSError: full");
	assert_int_equal(fixture->failure.first->n_consequences, 0);
}

FIXTURE_TEST(the_other_processes_of_a_machine_have_its_name)
{
	struct consequence own = {.role = "worker", .index = 1, .what = "was stopped by muster"};
	struct failure first = failure_of(1, NULL);

	first.consequences = &own;
	first.n_consequences = 1;
	assert_true(take(fixture, "a", &first));
	assert_consequence(fixture, 0, "a", "was stopped by muster");
}

/* Quotes need an escape in JSON, and control characters would need more. */
FIXTURE_TEST(a_machine_is_named_by_the_server)
{
	const struct failure failure = failure_of(1, NULL);
	struct failure *report =
		world_failure_report(&failure, "10.0.0.1 (machine 0)", "train", fixture->arena);
	struct consequence other = {
		.role = "worker", .index = 1, .machine = "10.0.0.2 (machine 1)"};

	report->consequences = &other;
	report->n_consequences = 1;
	world_failure_set_machine(report, "10.9.9.9 (machine 3)", fixture->arena);
	assert_string_equal(report->machine, "10.9.9.9 (machine 3)");
	assert_string_equal(other.machine, "10.9.9.9 (machine 3)");
	assert_string_equal(report->message, "worker-0 on 10.9.9.9 (machine 3) exited with code 1");
}

FIXTURE_TEST(a_report_is_short_and_has_no_control_characters)
{
	struct consequence many[1000];
	const char *lines[LIMIT_LAST_LINES];
	char long_text[LIMIT_LAST_LINE_LENGTH + 1];
	struct failure failure = failure_of(1, long_text);

	memset(long_text, '"', sizeof(long_text) - 1);
	long_text[0] = '\033';
	long_text[sizeof(long_text) - 1] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(many); i++)
		many[i] = (struct consequence){.role = "worker", .index = 1, .what = long_text};
	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		lines[i] = long_text;
	failure.message = failure.cause = long_text;
	failure.consequences = many;
	failure.n_consequences = ARRAY_LEN(many);
	failure.last_lines = lines;
	failure.n_last_lines = ARRAY_LEN(lines);
	const struct failure *report =
		world_failure_report(&failure, "a (machine 0)", "train", fixture->arena);
	struct json *json CLEANUP(json_cleanup) = status_failure_write(report);
	struct text text CLEANUP(text_done) = {0};

	json_add_compact(&text, json);
	assert_true(text.len < LIMIT_MEMBER_CALL -
				       OFFER_TURNS * (LIMIT_PROCESSES + 1) * strlen("65535,") -
				       4096);
	assert_null(strstr(text_of(&text), "u001b"));
	assert_true(report->n_last_lines > 0);
	assert_true(report->n_consequences > 0);
}

FIXTURE_TEST(a_server_goes_on_with_what_it_kept)
{
	const struct failure first = failure_of(4, "ValueError: no"), next = failure_of(5, NULL);

	world_failure_restore(&fixture->failure,
			      world_failure_report(&first, "a", "train", fixture->arena), 7);
	assert_int_equal(fixture->failure.number, 7);
	assert_false(take(fixture, "a", &first));
	assert_true(take(fixture, "a", &next));
	assert_int_equal(fixture->failure.number, 8);
}

static bool lose(struct fixture *fixture, struct world_losses *losses, int generation,
		 const char *machine)
{
	world_losses_add(losses, generation, machine);
	return world_failure_take(&fixture->failure,
				  world_failure_of_losses(losses, 0, fixture->arena));
}

FIXTURE_TEST(a_lost_machine_explains_what_its_peers_report)
{
	const struct failure gone = failure_of(1, GONE), own = failure_of(2, "ValueError: no");
	struct world_losses losses CLEANUP(world_losses_done) = {0};

	assert_true(take(fixture, "a (machine 0)", &gone));
	assert_true(lose(fixture, &losses, 1, "b (machine 1)"));
	assert_sentence(fixture, "b (machine 1) was lost");
	assert_consequence(fixture, 0, "a (machine 0)", "exited with code 1: " GONE);
	assert_true(take(fixture, "f (machine 5)", &gone));
	assert_consequence(fixture, 0, "f (machine 5)", "exited with code 1: " GONE);
	assert_true(lose(fixture, &losses, 1, "c (machine 2)"));
	assert_sentence(fixture, "b (machine 1), c (machine 2) were lost");
	assert_int_equal(fixture->failure.first->n_consequences, 2);
	lose(fixture, &losses, 1, "d (machine 3)");
	lose(fixture, &losses, 1, "e (machine 4)");
	lose(fixture, &losses, 1, "g (machine 6)");
	lose(fixture, &losses, 1, "h (machine 7)");
	assert_sentence(fixture, "b (machine 1), c (machine 2), d (machine 3), e (machine 4) and "
				 "2 more were lost");

	assert_true(take(fixture, "a (machine 0)", &own));
	assert_false(lose(fixture, &losses, 2, "f (machine 5)"));
	assert_sentence(fixture, "worker-0 on a (machine 0) exited with code 1: ValueError: no");
	assert_true(lose(fixture, &losses, 3, "f (machine 5)"));
	assert_sentence(fixture, "f (machine 5) was lost");
}
