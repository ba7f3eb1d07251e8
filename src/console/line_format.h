/* Formats a replica's line: "worker-0 | text", the names padded to one width, on a terminal in one
 * color for each replica.
 *
 * The name is role and index, the same in every attempt, so columns stay aligned; if several
 * attempts are shown, a separate line says when one begins. A further piece of a long line has '+'
 * instead of '|'. Lines of marked streams (logs/output_copies.h) have the streams' prefix instead.
 */
#pragma once

#include "base/text.h"
#include "logs/folder.h"
#include "logs/output_copies.h"
#include "logs/stream.h"
#include "spec/job.h"
#include "status/status.h"

struct line_format {
	bool has_name;
	bool has_color;
	bool has_time; /* RFC 3339 before the text … */
	bool is_local; /* … in this machine's time zone, not UTC */
	bool is_safe; /* for a terminal: no control sequences except colors */
	const char *job_name; /* before the replica's, "digits/worker-0"; NULL: omitted */
	int width; /* of the longest name */
	const struct streams *streams; /* borrowed; NULL: no marked lines */
	int first_rank; /* of this machine's processes, among those of all machines */
	bool names_ranks; /* there are others: a line begins with its rank, "rank 2 | text" */

	/* The prefix of the last line, and its replica and stream. */
	struct text beginning;
	struct log_name beginning_of;
};

void line_format_done(struct line_format *format);

/* Sets the width for the names of all replicas of a job. */
void line_format_fit_job(struct line_format *format, const struct job *job);

/* After a new world, the ranks may be other ones. */
void line_format_set_ranks(struct line_format *format, const struct job *job,
			   const struct status *status);

/* Adds the line with its line feed. */
void line_format_add(struct line_format *format, const struct log_line *line, struct text *text);
/* Adds a row for the live region: no line feed, at most about `most` bytes of the line. */
void line_format_add_row(struct line_format *format, const struct log_line *line, size_t most,
			 struct text *text);
