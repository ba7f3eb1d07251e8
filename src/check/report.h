/* The report of a check: for programs one JSON object; for users a line for each step, the progress
 * while it runs, and the result at the end. */
#pragma once

#include "check/facts.h"

/* {result, name, model, …, seconds, steps[], servers[], network[], devices[], data, training,
 * figures, fault}; the caller frees it. docs/check.md describes the fields. */
struct json *check_write_json(const struct check *check) MUST_USE;

struct check_style {
	bool has_color;
	bool is_verbose; /* shows the network matrix even without errors */
};

/* "muster check: 2 workers and 2 parameter servers on this machine, model mnist" */
void check_add_heading(const struct check *check, struct text *text);
/* "  network    ok       0.1s  12 links: round trip 31 to 52 us …" */
void check_add_step(const struct check *check, enum check_step step,
		    const struct check_style *style, struct text *text);
/* "servers: 3 of 4 serving, waiting for ps-1"; nothing after the end. */
void check_add_progress(const struct check *check, struct text *text);
/* Appends the part after the steps: the result, and for a failure the advice, where to read more
 * and what was kept. After --setup-only it lists the servers and how to stop them. */
void check_add_end(const struct check *check, const struct check_style *style, struct text *text);
