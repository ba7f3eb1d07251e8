/* The report for people: a line for each step, and in the end what was found. */
#pragma once

#include "check/facts.h"

#include <stdbool.h>

struct check_style {
	bool has_color;
	bool is_verbose; /* the network matrix, though nothing is wrong with it */
};

/* "muster check: 2 workers and 2 parameter servers on this machine, model mnist" */
void check_text_add_heading(const struct check *check, struct text *text);
/* "  network    ok       0.1s  12 ways: round trip 31 to 52 us …" */
void check_text_add_step(const struct check *check, enum check_step step,
			 const struct check_style *style, struct text *text);
/* What stands below the steps, once all is over: the result, and for a failure what to do, where to
 * read more and what was kept; after --setup-only the servers and how to end them. */
void check_text_add_end(const struct check *check, const struct check_style *style,
			struct text *text);
