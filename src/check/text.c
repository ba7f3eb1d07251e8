#include "check/text.h"

#include "base/line_text.h"
#include "check/command.h"
#include "check/describe.h"
#include "check/fault.h"

#include <string.h>

#define GREEN "\x1b[32m"
#define RED "\x1b[31m"
#define PLAIN "\x1b[0m"

void check_text_add_heading(const struct check *check, struct text *text)
{
	text_add(text, "muster check: ");
	check_describe_request(&check->request, text);
	text_add_char(text, '\n');
	if (!check->request.is_remote && !check->request.has_private_network)
		text_addf(text,
			  "  (warning: until the check ends, any client that can reach %s can run "
			  "code through its TensorFlow servers)\n",
			  check->request.is_on_kubernetes ? "its Pods" : "this machine");
}

static void add_colored(struct text *text, const char *color, const char *word, size_t width,
			const struct check_style *style)
{
	text_addf(text, "%s%-*s%s", style->has_color ? color : "", (int) width, word,
		  style->has_color ? PLAIN : "");
}

static void add_check_step_state(const struct check *check, enum check_step step,
				 const struct check_style *style, struct text *text)
{
	enum { WIDTH = 7 };

	switch (check->steps[step].state) {
	case CHECK_PASSED:
		add_colored(text, GREEN, "ok", WIDTH, style);
		break;
	case CHECK_FAILED:
		if (check->result == CHECK_INTERRUPTED)
			add_colored(text, RED, "ended", WIDTH, style);
		else
			add_colored(text, RED, "FAILED", WIDTH, style);
		break;
	case CHECK_WAITING:
	case CHECK_RUNNING:
	case CHECK_SKIPPED:
	case CHECK_STATE_COUNT:
		text_addf(text, "%-*s", WIDTH, "-");
		break;
	}
}

static void add_check_step_time(const struct check_step_record *record, struct text *text)
{
	struct text time CLEANUP(text_done) = {0};

	if (record->state == CHECK_PASSED || record->state == CHECK_FAILED)
		check_describe_seconds(instant_since(record->started, record->ended), &time);
	text_addf(text, " %7s", text_of(&time));
}

void check_text_add_step(const struct check *check, enum check_step step,
			 const struct check_style *style, struct text *text)
{
	text_addf(text, "  %-10s", check_step_words[step]);
	add_check_step_state(check, step, style, text);
	add_check_step_time(&check->steps[step], text);
	text_add(text, "  ");
	check_describe_step(check, step, text);
	text_add_char(text, '\n');
}

/* The end. */

static void add_check_row_head(struct text *text, const char *head)
{
	text_addf(text, "  %-10s", head);
}

static void add_unreached(const struct check *check, struct text *text)
{
	const char *separator = "";

	for (enum check_step step = 0; step < CHECK_STEP_COUNT; step++) {
		if (check->steps[step].state != CHECK_WAITING)
			continue;
		if (!*separator)
			add_check_row_head(text, "not tried");
		text_addf(text, "%s%s", separator, check_step_words[step]);
		separator = ", ";
	}
	if (*separator)
		text_add_char(text, '\n');
}

/* "muster logs check-x1y2z --role ps --index 1" */
static void add_log(const struct check_fault *fault, struct text *text)
{
	const char *dash = fault->is_of_task && fault->task ? strrchr(fault->task, '-') : NULL;

	if (!fault->job)
		return;
	add_check_row_head(text, "log");
	text_addf(text, "muster logs %s", fault->job);
	if (dash)
		text_addf(text, " --role %.*s --index %s", (int) (dash - fault->task), fault->task,
			  dash + 1);
	text_add_char(text, '\n');
}

/* The jobs that were started and kept: their logs can be read. */
static size_t add_kept(const struct check *check, const char *separator, struct text *text)
{
	size_t count = 0;

	for (enum check_job job = 0; job < CHECK_JOB_COUNT; job++) {
		if (!check->jobs[job].has_started)
			continue;
		text_addf(text, "%s%s", count ? separator : "", check->jobs[job].name);
		count++;
	}
	return count;
}

static void add_what_to_do(const struct check *check, struct text *text)
{
	struct text kept CLEANUP(text_done) = {0};

	if (check->result == CHECK_BAD) {
		add_check_row_head(text, "fix");
		text_addf(text, "%s\n", check_fault_advice(check));
		add_log(check->fault, text);
	}
	if (add_kept(check, " ", &kept) > 0) {
		add_check_row_head(text, "logs kept");
		text_addf(text, "until you run: muster delete %s\n", text_of(&kept));
	}
}

static void add_setup(const struct check *check, struct text *text)
{
	for (size_t i = 0; i < check->n_tasks; i++)
		text_addf(text, "  %-10s%s\n", check->tasks[i].name, check->tasks[i].target);
	add_check_row_head(text, "test");
	check_command_describe_try(check, text);
	text_add_char(text, '\n');
	add_check_row_head(text, "stop");
	check_command_describe_stop(check, text);
	text_add_char(text, '\n');
}

/* In the failed process's own words. */
static void add_check_text_line(struct text *text, const char *message)
{
	line_text_add_sentence(text, message, strlen(message));
	text_add_char(text, '\n');
}

static void add_unjudged(const struct check *check, struct text *text)
{
	text_add(text, "the servers work together, but ");
	check_describe_step(check, CHECK_RESULT, text);
	text_add_char(text, '\n');
}

static void add_verdict(const struct check *check, const struct check_style *style,
			struct text *text)
{
	bool is_good = check->result == CHECK_GOOD;
	struct text time CLEANUP(text_done) = {0};

	check_describe_seconds(instant_since(check->started, check->ended), &time);
	add_colored(text, is_good ? GREEN : RED, check_result_words[check->result], 0, style);
	text_addf(text, " %s %s: ", is_good ? "in" : "after", text_of(&time));
	if (!is_good)
		add_check_text_line(text, check->fault->message);
	else if (check->request.is_setup_only)
		text_add(text, "the servers keep running\n");
	else if (check->request.model == CHECK_NO_MODEL)
		text_add(text, "the servers work together\n");
	else if (check->steps[CHECK_RESULT].state == CHECK_SKIPPED)
		add_unjudged(check, text);
	else
		text_add(text, "distributed TensorFlow works\n");
}

static void add_matrix(const struct check *check, const struct check_style *style,
		       struct text *text)
{
	bool has_failed = check->steps[CHECK_NETWORK].state == CHECK_FAILED;

	if (check->network.count > 0 && (has_failed || style->is_verbose))
		check_network_add_table(&check->network, text);
}

void check_text_add_end(const struct check *check, const struct check_style *style,
			struct text *text)
{
	add_matrix(check, style, text);
	if (check->result != CHECK_GOOD)
		add_unreached(check, text);
	add_verdict(check, style, text);
	if (check->result != CHECK_GOOD)
		add_what_to_do(check, text);
	else if (check->request.is_setup_only)
		add_setup(check, text);
}
