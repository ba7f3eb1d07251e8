#include "cli/operator_setup_call.h"

#include "base/text.h"
#include "command/command.h"
#include "command/output.h"
#include "operator/setup.h"

static const struct setup {
	const char *word;
	int (*run)(const struct operator_setup_settings *settings, struct err *err);
} setups[] = {
	{"install", operator_install},
	{"uninstall", operator_uninstall},
	{"upgrade-from-training-operator", operator_upgrade},
};

/* NULL: the command serves, or the word is unknown. */
static const struct setup *find_setup(const struct options *options)
{
	size_t count;
	const char *const *arguments = options_arguments(options, &count);

	for (size_t i = 0; count && i < ARRAY_LEN(setups); i++)
		if (text_equals(setups[i].word, arguments[0]))
			return &setups[i];
	return NULL;
}

/* Options of setup commands have their own group; --namespace belongs to both. */
static int check_row(const struct option_row *row, bool is_setup, struct err *err)
{
	bool is_of_setup = row->group == OPTIONS_OF_SETUP;
	bool is_of_serving =
		row->group == OPTIONS_OF_COMMAND && !text_equals(row->name, "namespace");

	if (is_setup && is_of_serving)
		return err_set(err, ERR_INVALID,
			       "--%s: is an option of the operator itself; set it in the arguments "
			       "of its Deployment",
			       row->name);
	if (!is_setup && is_of_setup)
		return err_set(
			err, ERR_INVALID,
			"--%s: needs 'install', 'uninstall' or 'upgrade-from-training-operator'",
			row->name);
	return 0;
}

int operator_setup_check(const struct options *options, bool *ret_is_setup, struct err *err)
{
	size_t count;
	const char *const *arguments = options_arguments(options, &count);
	bool is_setup = find_setup(options);
	const struct option_row *row;
	int rc = 0;

	if (count && !is_setup)
		return err_set(err, ERR_INVALID,
			       "'%s': unknown (expected install, uninstall or "
			       "upgrade-from-training-operator)",
			       arguments[0]);
	for (size_t i = 0; (row = options_row(options_command(options), i)) && rc == 0; i++)
		if (option_is_given(options, row->name))
			rc = check_row(row, is_setup, err);
	*ret_is_setup = is_setup;
	return rc;
}

static void print_setup_sentence(const char *sentence, void *data)
{
	struct text line CLEANUP(text_done) = {0};

	(void) data;
	text_addf(&line, "%s\n", sentence);
	output_add(&line);
	output_flush();
}

int operator_setup_call(const struct options *options, const struct operator_settings *settings,
			struct err *err)
{
	const struct setup *setup = find_setup(options);
	size_t n_skipped;
	const char *const *skipped = option_list(options, "skip-namespace", &n_skipped);
	const struct operator_setup_settings chosen = {
		.log_in = settings->log_in,
		.log_in_data = settings->log_in_data,
		.choice = {.image = option_text(options, "image"),
			   .namespaces = settings->namespaces},
		.is_dry_run = option_flag(options, "dry-run"),
		.is_waiting = option_flag(options, "wait"),
		.takes_definition = option_flag(options, "with-crd"),
		.is_forced = option_flag(options, "force"),
		.skipped_namespaces = skipped,
		.n_skipped_namespaces = n_skipped,
		.tell = print_setup_sentence,
		.warn = settings->say,
		.data = settings->data,
	};

	return setup->run(&chosen, err);
}
