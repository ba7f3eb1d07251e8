/* The report for the user: a line for each step, and the results at the end. */
#pragma once

#include "check/facts.h"

#include <stdbool.h>

struct check_style {
	bool has_color;
	bool is_verbose; /* shows the network matrix even without errors */
};

/* "muster check: 2 workers and 2 parameter servers on this machine, model mnist" */
void check_text_add_heading(const struct check *check, struct text *text);
/* "  network    ok       0.1s  12 ways: round trip 31 to 52 us …" */
void check_text_add_step(const struct check *check, enum check_step step,
			 const struct check_style *style, struct text *text);
/* Appends the part after the steps: the result, and for a failure the advice, where to read more
 * and what was kept. After --setup-only it lists the servers and how to stop them. */
void check_text_add_end(const struct check *check, const struct check_style *style,
			struct text *text);
