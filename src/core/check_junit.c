#include "core/check_junit.h"

#include "core/check_describe.h"
#include "core/check_fault.h"

static double seconds_of(msec duration)
{
	return (double) duration / MSEC_PER_SECOND;
}

/* Texts are UTF-8 without control characters but the line feed; those that XML 1.0 does not know
 * are left out. */
static void add_xml(struct text *text, const char *plain)
{
	for (; *plain; plain++) {
		if (*plain == '&')
			text_add(text, "&amp;");
		else if (*plain == '<')
			text_add(text, "&lt;");
		else if (*plain == '>')
			text_add(text, "&gt;");
		else if (*plain == '"')
			text_add(text, "&quot;");
		else if ((unsigned char) *plain >= ' ' || *plain == '\n')
			text_add_char(text, *plain);
	}
}

static void add_attribute(struct text *text, const char *name, const char *value)
{
	text_addf(text, " %s=\"", name);
	add_xml(text, value);
	text_add_char(text, '"');
}

static void add_fault(const struct check *check, struct text *text)
{
	text_add(text, "      <failure");
	add_attribute(text, "type", check_fault_word(check->fault->kind));
	add_attribute(text, "message", check->fault->message);
	text_add_char(text, '>');
	add_xml(text, check->fault->message);
	text_add_char(text, '\n');
	add_xml(text, check_fault_advice(check));
	text_add(text, "</failure>\n");
}

static void add_test_case(const struct check *check, enum check_step step, struct text *text)
{
	const struct check_step_record *record = &check->steps[step];
	bool is_taken = record->state == CHECK_PASSED || record->state == CHECK_FAILED;
	struct text message CLEANUP(text_done) = {0};

	check_describe_step(check, step, &message);
	text_addf(text, "    <testcase classname=\"muster.check\" name=\"%s\" time=\"%.3f\">\n",
		  check_step_words[step],
		  is_taken ? seconds_of(record->ended - record->begun) : 0.0);
	if (record->state == CHECK_FAILED) {
		add_fault(check, text);
	} else if (is_taken) {
		text_add(text, "      <system-out>");
		add_xml(text, text_of(&message));
		text_add(text, "</system-out>\n");
	} else {
		text_add(text, "      <skipped");
		add_attribute(text, "message", text_of(&message));
		text_add(text, "/>\n");
	}
	text_add(text, "    </testcase>\n");
}

static int count_untaken(const struct check *check)
{
	int count = 0;

	for (enum check_step step = 0; step < CHECK_STEP_COUNT; step++)
		count += check->steps[step].state == CHECK_SKIPPED ||
			 check->steps[step].state == CHECK_WAITING;
	return count;
}

static void add_counts(const struct check *check, struct text *text)
{
	text_addf(text, " tests=\"%d\" failures=\"%d\" errors=\"0\" skipped=\"%d\" time=\"%.3f\"",
		  CHECK_STEP_COUNT, check->fault ? 1 : 0, count_untaken(check),
		  seconds_of(check->ended - check->begun));
}

void check_write_junit(const struct check *check, struct text *text)
{
	text_add(text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites");
	add_counts(check, text);
	text_add(text, ">\n  <testsuite name=\"muster check\" timestamp=\"");
	text_add_time(text, check->begun);
	text_add_char(text, '"');
	add_counts(check, text);
	text_add(text, ">\n");
	for (enum check_step step = 0; step < CHECK_STEP_COUNT; step++)
		add_test_case(check, step, text);
	text_add(text, "  </testsuite>\n</testsuites>\n");
}
