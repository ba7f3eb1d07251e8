/* Notices replicas that have given no sign of life for a while. TensorFlow waits in silence for a
 * peer that is missing, and a user that looks on cannot tell that from work.
 *
 * Each silence is told once. A replica that broke one by itself is known to be slow, and is told of
 * again only after twice the longest silence that it came back from. */
#pragma once

#include "base/msec.h"
#include "base/own.h"
#include "base/text.h"
#include "spec/job.h"

#include <stdbool.h>
#include <stddef.h>

#define OUTPUT_IDLE_FIRST (30 * MSEC_PER_SECOND)

/* One replica. The caller sets role and index, keeps the next three, and calls
 * output_idle_record_start and output_idle_record_output. */
struct output_idle {
	const char *role;
	int index;
	bool is_stopped; /* nobody wants it to run */
	bool is_running;
	bool is_watched; /* it runs, and silence would mean something */
	msec start; /* of its last attempt; MSEC_UNSET: none was started */
	bool has_printed; /* since then */
	msec last_life; /* its start or its last output */
	msec patience; /* told after so long; 0 counts as OUTPUT_IDLE_FIRST */
	bool is_told;
	bool is_news; /* by the last output_idle_report */
};

/* The replica was started, or has printed, at `at` (MSEC_UNSET: never); moments earlier than what
 * is known change nothing. */
void output_idle_record_start(struct output_idle *output_idle, msec at);
void output_idle_record_output(struct output_idle *output_idle, msec at);

/* While some run and none has printed since it was started, adds "2 of 2 running, nothing printed
 * yet (9s)", from the first full second on: TensorFlow's import alone takes many. Gives when to ask
 * again; MSEC_NEVER: not before a replica starts. */
msec output_idle_report_start(const struct output_idle *list, size_t count, msec now,
			      struct text *text);

/* Tells of those that are newly silent, all in one sentence: "worker-1 has printed nothing for
 * 30s", "worker-0 and worker-1 have …", "worker-0 and 7 more have …". False when there are none. */
bool output_idle_report(struct output_idle *list, size_t count, msec now, struct text *text);

/* Adds the same sentence about all whose silence was told and goes on; nothing when there are none.
 */
void output_idle_add_lasting(const struct output_idle *list, size_t count, struct text *text);

/* Adds what explains the silence of a whole job: parameter servers and workers without a chief wait
 * for one for ever (tf.distribute.ParameterServerStrategy). Nothing where one of them has not been
 * told to be silent, or where nothing explains it. */
void output_idle_add_cause(const struct output_idle *list, size_t count, const struct job *job,
			   struct text *text);

/* When to ask again; MSEC_NEVER: not before there is life. */
msec output_idle_wake_at(const struct output_idle *list, size_t count);

/* Whether silence of this role would mean something. Parameter servers, and workers that only run
 * what a chief sends (tf.distribute.ParameterServerStrategy), serve without a word. */
bool output_idle_is_meaningful(const struct job *job, const char *role_name);
