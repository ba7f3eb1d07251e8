/* The rows of a report: adding one, and all as JSON. */
#include "doctor/doctor.h"

#include "doctor/findings.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const doctor_state_words[3] = {"ok", "warning", "missing"};

#define FOUND_SIZE 1024

/* The command as this user would write it. */
static const char *copy_fix(const struct evaluation *evaluation, const char *fix)
{
	static const char sudo[] = "sudo ";
	char *copy = arena_copy_text(evaluation->arena, fix);

	if (!copy || !evaluation->facts->is_superuser)
		return copy;
	for (char *word; (word = strstr(copy, sudo));)
		memmove(word, word + strlen(sudo), strlen(word + strlen(sudo)) + 1);
	return copy;
}

void finding_add(struct evaluation *evaluation, const char *name, enum doctor_state state,
		 const char *fix, const char *format, ...)
{
	struct doctor_report *report = evaluation->report;
	char found[FOUND_SIZE];
	va_list values;

	va_start(values, format);
	vsnprintf(found, sizeof(found), format, values);
	va_end(values);
	assert(report->n_rows < DOCTOR_ROWS_LIMIT);
	report->rows[report->n_rows++] = (struct doctor_row){
		.name = name,
		.state = state,
		.found = arena_copy_text(evaluation->arena, found),
		.fix = copy_fix(evaluation, fix),
	};
}

size_t doctor_count(const struct doctor_report *report, enum doctor_state state)
{
	size_t count = 0;

	for (size_t i = 0; i < report->n_rows; i++)
		count += report->rows[i].state == state;
	return count;
}

static struct json *row_json(const struct doctor_row *row)
{
	struct json *object = json_new_object();

	json_set_string(object, "name", row->name);
	json_set_string(object, "state", doctor_state_words[row->state]);
	json_set_string(object, "found", row->found);
	json_set_string(object, "fix", row->fix);
	json_set_string(object, "mend", row->fix); /* its former name */
	return object;
}

struct json *doctor_report_json(const struct doctor_report *report)
{
	struct json *object = json_new_object();
	struct json *rows = json_new_array();

	for (size_t i = 0; i < report->n_rows; i++)
		json_append(rows, row_json(&report->rows[i]));
	json_set_bool(object, "ready", doctor_count(report, DOCTOR_MISSING) == 0);
	json_set(object, "rows", rows);
	return object;
}
