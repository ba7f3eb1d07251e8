#include "reconcile/failure_text.h"

#include "base/line_text.h"
#include "base/names.h"
#include "status/advice.h"
#include "status/failure_words.h"

#include <inttypes.h>

/* Advice for a cause recognized in the exception or the last lines; NULL: none. */
const char *failure_advice(const struct failure *failure)
{
	if (failure->reason && text_ends_with(failure->reason, "OOMKilled"))
		return "use smaller batches, fewer workers on one machine (also of a DataLoader), "
		       "or more --memory";
	const char *advice = advice_find(failure->exception ? failure->exception : "");

	for (size_t i = failure->n_last_lines; !advice && i-- > 0;)
		advice = advice_find(failure->last_lines[i]);
	return advice;
}

/* Row heads are as wide as the longest one plus two spaces. */
#define ROW "  %-14s"

/* A program's output may contain terminal escape sequences. */
static void add_failure_rows(const char *head, const char *before, const char *const *lines,
			     size_t count, struct text *text)
{
	for (size_t i = 0; i < count; i++) {
		text_addf(text, ROW "%s", i == 0 ? head : "", before);
		line_text_add_safe(text, lines[i], strlen(lines[i]));
		text_add_char(text, '\n');
	}
}

static void add_failure_row(struct text *text, const char *head, const char *content)
{
	add_failure_rows(head, "", &content, content ? 1 : 0, text);
}

/* How many consequences from the first on are adjacent replicas that ended alike: sixty-four
 * workers are one row, not sixty-four. */
static size_t count_alike(const struct consequence *first, size_t n_rest)
{
	size_t n = 1;

	while (n < n_rest && text_equals(first[n].role, first->role) &&
	       first[n].index == first[n - 1].index + 1 &&
	       text_equals(first[n].what, first->what) &&
	       text_equals(first[n].machine, first->machine))
		n++;
	return n;
}

static void add_consequences(const struct failure *failure, struct text *text)
{
	size_t n_alike;

	for (size_t i = 0; i < failure->n_consequences; i += n_alike) {
		const struct consequence *first = &failure->consequences[i];
		struct text sentence CLEANUP(text_done) = {0};

		n_alike = count_alike(first, failure->n_consequences - i);
		text_addf(text, ROW, i == 0 ? "consequences" : "");
		replica_names_add_range(&sentence, first->role, first->index,
					first[n_alike - 1].index);
		if (first->machine)
			text_addf(&sentence, " on %s", first->machine);
		text_addf(&sentence, n_alike > 1 ? ": each %s" : " %s", first->what);
		line_text_add_sentence(text, text_of(&sentence), sentence.len);
		text_add_char(text, '\n');
	}
}

static void add_next(const struct failure *failure, const char *job_words, struct text *text)
{
	struct text line CLEANUP(text_done) = {0};

	/* A replica that has not started has no output. */
	if (text_equals(failure->reason, FAILURE_REFUSED) ||
	    text_equals(failure->reason, FAILURE_START_FAILED) ||
	    text_equals(failure->reason, FAILURE_INIT_FAILED))
		return;
	if (failure->machine)
		text_addf(&line, "on %s: ", failure->machine);
	text_addf(&line, "muster logs %s --role ",
		  failure->machine_job ? failure->machine_job : job_words);
	shell_word_add(&line, failure->role);
	text_addf(&line, " --index %d --attempt %d", failure->index, failure->attempt);
	add_failure_row(text, "full log", text_of(&line));
}

static void add_all_stacks(const struct failure *failure, const char *job_words, struct text *text)
{
	char *stacks CLEANUP(mem_free_text) = mem_format("muster stacks %s", job_words);

	if (failure->n_stacks)
		add_failure_row(text, "all stacks", stacks);
}

/* For a job that was not ended by a replica. */
static void add_whereabouts(const struct failure *failure, const char *job_words, bool is_resumable,
			    struct text *text)
{
	char *logs CLEANUP(mem_free_text) = mem_format("muster logs %s", job_words);
	char *resume CLEANUP(mem_free_text) = mem_format("muster resume %s", job_words);

	add_consequences(failure, text);
	add_failure_rows("stacks", "", failure->stacks, failure->n_stacks, text);
	add_failure_rows("last output", "", failure->last_lines, failure->n_last_lines, text);
	add_all_stacks(failure, job_words, text);
	if (failure->n_last_lines)
		add_failure_row(text, "full log", logs);
	if (is_resumable && text_equals(failure->reason, FAILURE_STOPPED))
		add_failure_row(text, "to continue", resume);
}

void failure_describe(const struct status *status, const char *job_words,
		      const struct failure_style *style, struct text *text)
{
	const struct failure *failure = status->failure;
	const char *what = failure->message ? failure->message : failure->reason;

	line_text_add_sentence(text, what, strlen(what));
	text_add_char(text, '\n');
	if (!failure->role || !failure->role[0]) {
		/* Of the job: a deadline, a stop. */
		add_whereabouts(failure, job_words, style->is_resumable, text);
		return;
	}
	const struct replica_status *replica =
		status_replica(status, failure->role, failure->index);

	add_failure_row(text, "likely cause", failure->cause);
	add_failure_row(text, "error", failure->exception);
	add_failure_row(text, "advice", failure_advice(failure));
	add_failure_row(text, "rank", failure->rank);
	if (failure->pid)
		text_addf(text, ROW "%" PRId64 "\n", "PID", failure->pid);
	add_failure_row(text, "script", style->script);
	if (failure->time != MSEC_UNSET) {
		text_addf(text, ROW, "at");
		text_add_time_ahead(text, failure->time, style->offset);
		text_add_char(text, '\n');
	}
	if (!style->skips_last_lines)
		add_failure_rows("last output", "| ", failure->last_lines, failure->n_last_lines,
				 text);
	add_consequences(failure, text);
	add_failure_rows("stacks", "", failure->stacks, failure->n_stacks, text);
	if (!failure->machine && replica && replica->attempt == failure->attempt)
		add_failure_row(text, "log file", replica->log);
	add_all_stacks(failure, job_words, text);
	add_next(failure, job_words, text);
}

void failure_explain(const struct failure *failure, struct text *text)
{
	add_failure_row(text, "error", failure->exception);
	add_failure_row(text, "advice", failure_advice(failure));
	add_failure_rows("last output", "| ", failure->last_lines, failure->n_last_lines, text);
}
