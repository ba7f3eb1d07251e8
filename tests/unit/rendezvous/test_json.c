/* The terms of an elastic job, on which its machines agree. */
#include "unit.h"

#include "rendezvous/json.h"
#include "spec/limits.h"

static const struct member_terms good = {.min = 2, .max = 4, .unit = 2};

TEST(terms_that_no_world_can_have_are_a_fault)
{
	static const struct {
		struct member_terms terms;
		const char *fault;
	} rows[] = {
		{{.min = 1, .max = 1, .unit = 1}, NULL},
		{{.min = 1, .max = LIMIT_MEMBERS, .unit = 1}, NULL},
		{{.min = 3, .max = 4, .unit = 4}, NULL},
		{{.min = 0, .max = 4, .unit = 1}, "a world has MIN to MAX machines, at least 1"},
		{{.min = 2, .max = 1, .unit = 1}, "a world has MIN to MAX machines, at least 1"},
		{{.min = 1, .max = LIMIT_MEMBERS + 1, .unit = 1},
		 "a world has MIN to MAX machines, at least 1"},
		{{.min = 1, .max = 4, .unit = 0},
		 "no multiple of the unit lies between MIN and MAX"},
		{{.min = 5, .max = 7, .unit = 4},
		 "no multiple of the unit lies between MIN and MAX"},
		{{.min = 1,
		  .max = 1,
		  .unit = 1,
		  .restarts = {.most = LIMIT_TIMED_RESTARTS + 1, .window = 1}},
		 "a window counts at most 1000 restarts"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *fault = member_terms_fault(&rows[i].terms);

		assert_int_equal(fault == NULL, rows[i].fault == NULL);
		if (fault)
			assert_string_equal(fault, rows[i].fault);
	}
}

TEST(equal_terms_do_not_differ)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct member_terms other = good;

	assert_null(member_terms_differ(&good, &other, arena));
	other.max = 6;
	assert_non_null(strstr(member_terms_differ(&good, &other, arena), "--nnodes"));
}
