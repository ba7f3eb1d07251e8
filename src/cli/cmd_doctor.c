/* muster doctor: what this machine has for training jobs, what is missing, and how to fix it. */
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/local_jobs.h"
#include "doctor/doctor.h"

#define STATE_WIDTH 9
#define NAME_WIDTH 15

static void print_doctor_conclusion(const struct doctor_report *report)
{
	size_t n_missing = doctor_count(report, DOCTOR_MISSING);
	size_t n_warnings = doctor_count(report, DOCTOR_WARNING);
	struct text warnings CLEANUP(text_done) = {0};

	if (n_warnings)
		text_addf(&warnings, "; %zu warning%s", n_warnings, n_warnings == 1 ? "" : "s");
	if (n_missing)
		output_print_message(
			"training jobs cannot run on this machine: %zu requirement%s missing%s",
			n_missing, n_missing == 1 ? " is" : "s are", text_of(&warnings));
	else
		output_print_message("training jobs can run on this machine%s", text_of(&warnings));
}

static int doctor_run(const struct options *options)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	char *folder CLEANUP(mem_free_text) = local_jobs_folder(options);
	struct doctor_facts facts;
	struct doctor_report report;
	struct json *object CLEANUP(json_cleanup) = NULL;
	struct text text CLEANUP(text_done) = {0};

	doctor_collect(folder, arena, &facts);
	doctor_evaluate(&facts, arena, &report);
	if (option_text(options, "output")) {
		object = doctor_report_json(&report);
		output_add_object(object, "json");
	}
	for (size_t i = 0; !object && i < report.n_rows; i++) {
		const struct doctor_row *row = &report.rows[i];

		text_addf(&text, "%-*s%-*s%s\n", STATE_WIDTH, doctor_state_words[row->state],
			  NAME_WIDTH, row->name, row->found);
		if (row->fix)
			text_addf(&text, "%*sfix: %s\n", STATE_WIDTH + NAME_WIDTH, "", row->fix);
	}
	output_add(&text);
	output_flush();
	print_doctor_conclusion(&report);
	return doctor_count(&report, DOCTOR_MISSING) ? EXIT_FAILED : EXIT_DONE;
}

static const struct option_row rows_of_doctor[] = {
	WORDS("output", "json", NULL, "print the findings as JSON", .letter = 'o'),
	{0},
};

const struct command command_doctor = {
	.name = "doctor",
	.group = "Help and setup",
	.arguments = "[OPTIONS]",
	.one_line = "report what this machine lacks for training jobs, and how to fix it",
	.examples = "  muster doctor\n"
		    "  muster doctor -o json | jq -r '.rows[].fix // empty'\n",
	.options = rows_of_doctor,
	.run = doctor_run,
};
