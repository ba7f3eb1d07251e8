/* How a replica's line looks on the way out: "worker-0 | text", the names padded to one width, on a
 * terminal in one colour for each replica.
 *
 * The name is role and index, the same in every attempt, so columns stay where they are; where
 * several attempts are shown, a line of its own says when one begins. A further piece of a long
 * line has '+' in the place of '|'. */
#pragma once

#include "base/own.h"
#include "base/text.h"
#include "logs/name.h"
#include "logs/stream.h"
#include "spec/job.h"

#include <stdbool.h>

struct line_format {
	bool has_name;
	bool has_color;
	bool has_time; /* RFC 3339 before the text … */
	bool is_local; /* … of this machine's time zone, not UTC */
	bool is_safe; /* for a terminal: no bytes that do more than show */
	const char *job_name; /* before the replica's, "digits/worker-0"; NULL: not said */
	int width; /* of the longest name */

	/* The beginning of the last replica's lines, and whose it is. */
	struct text beginning;
	struct log_name beginning_of;
};

void line_format_done(struct line_format *format);

/* Makes room for the names of all replicas of a job. */
void line_format_fit_job(struct line_format *format, const struct job *job);

/* Adds the line with its line feed. */
void line_format_add(struct line_format *format, const struct log_line *line, struct text *text);
/* Adds a row for the live region: no line feed, at most about `most` bytes of the line. */
void line_format_add_row(struct line_format *format, const struct log_line *line, size_t most,
			 struct text *text);
