/* Notices replicas that have printed nothing for a while. TensorFlow waits silently for a missing
 * peer, which looks like work.
 *
 * Each silence is reported once. A replica that broke a silence by itself is known to be slow. Its
 * next silence is reported only after twice its longest one. A replica that prints only in its
 * first seconds (often all but rank 0) is reported together with those that print, once they are
 * silent. */
#pragma once

#include "base/text.h"
#include "spec/job.h"

#define OUTPUT_IDLE_FIRST (30 * MSEC_PER_SECOND)

/* One replica. The caller sets role and index, maintains the next three, and calls
 * output_idle_record_start and output_idle_record_output. */
struct output_idle {
	const char *role;
	int index;
	bool is_stopped; /* it is not wanted to run */
	bool is_running;
	bool is_watched; /* it runs, and its silence would be meaningful */
	msec start; /* of its last attempt; MSEC_UNSET: never started */
	bool has_printed; /* since then */
	bool prints_regularly; /* also later than OUTPUT_IDLE_FIRST after it */
	msec last_life; /* its start or its last output */
	msec patience; /* silence to report after; 0 counts as OUTPUT_IDLE_FIRST */
	bool is_told; /* it was found silent */
	bool is_pending; /* it was, but other replicas print, so this is not yet reported */
	bool is_news; /* the last output_idle_report found it silent */
};

/* Record that the replica started or printed at `at` (MSEC_UNSET: never), if that is news. */
void output_idle_record_start(struct output_idle *output_idle, msec at);
void output_idle_record_output(struct output_idle *output_idle, msec at);

/* If some run and none has printed since its start, appends "2 of 2 running, nothing printed yet
 * (9s)", from the first full second on: TensorFlow's import alone takes many. Returns when to call
 * again; MSEC_NEVER: not before a replica starts. */
msec output_idle_report_start(const struct output_idle *list, size_t count, msec now,
			      struct text *text);

/* Appends one sentence about the silent replicas to report: "worker-1 has printed nothing for 30s",
 * "worker-0 and worker-1 have …", "worker-0 and 7 more have …". Returns false if there are none. */
bool output_idle_report(struct output_idle *list, size_t count, msec now, struct text *text);

/* Appends the same sentence about all whose reported silence continues, if any. */
void output_idle_add_lasting(const struct output_idle *list, size_t count, struct text *text);

/* Appends a possible cause for the silence of a whole job: parameter servers and workers without a
 * chief wait for one forever (tf.distribute.ParameterServerStrategy). Appends nothing unless the
 * silence of every watched replica was reported. */
void output_idle_add_cause(const struct output_idle *list, size_t count, const struct job *job,
			   struct text *text);

/* When to call again; MSEC_NEVER: not before new output. */
msec output_idle_wake_at(const struct output_idle *list, size_t count);

/* Whether silence of this role is meaningful. Parameter servers, and workers that only run what a
 * chief sends (tf.distribute.ParameterServerStrategy), normally print nothing. */
bool output_idle_is_meaningful(const struct job *job, const char *role_name);
