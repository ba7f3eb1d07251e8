/* Options of commands: reads an argument list by the rows of a command, and checks every value.
 *
 * getopt_long is not used: it stops at the first error, prints by itself, and has neither --no-flag
 * nor defaults from the environment. */
#include "command/options.h"

#include "base/mem.h"
#include "base/names.h"
#include "command/command.h"
#include "command/other_tools.h"

#include <assert.h>
#include <ctype.h>

static const struct option_row general_rows[] = {
	OPTION("state-dir", TEXT, "DIR", NULL,
	       "directory for job records and logs (default $XDG_STATE_HOME/muster)",
	       .group = OPTIONS_OF_ALL, .has_variable = true),
	WORDS("log", "warning|info|debug", "warning",
	      "log level: how much muster reports about its own actions", .group = OPTIONS_OF_ALL,
	      .has_variable = true),
	FLAG("debug", "same as --log debug", .letter = 'v', .group = OPTIONS_OF_ALL),
	FLAG("help", "show this help", .letter = 'h', .group = OPTIONS_OF_ALL),
};

struct value {
	const struct option_row *row;
	bool is_given; /* on the command line or in the environment */
	int64_t number; /* of flags (0 or 1), numbers and durations */
	const char *text; /* as written; borrowed from argv, the environment or the row */
	const char **list; /* with room for all words of the command line */
	size_t n_list;
};

struct options {
	const struct command_table *table;
	const struct command *command;
	struct arena
		*arena; /* of all lists, and of hidden words; NULL: a copy, which borrows them */
	char **words; /* as given: argv's, except the hidden ones */
	int n_words;
	size_t n_values;
	struct value *values; /* one for each row */
	const char **arguments;
	size_t n_arguments;
	size_t n_before_separator; /* arguments before "--"; SIZE_MAX: there was none */
};

/* The reading of an argument list. */
struct reading {
	struct options *options;
	char **argv;
	int argc;
	int next; /* the next argument to read */
	struct text *faults;
};

static size_t count_own_rows(const struct command *command)
{
	size_t count = 0;

	while (command->options && command->options[count].name)
		count++;
	return count;
}

const struct option_row *options_row(const struct command *command, size_t index)
{
	size_t n_own = count_own_rows(command);

	if (index < n_own)
		return &command->options[index];
	return index - n_own < ARRAY_LEN(general_rows) ? &general_rows[index - n_own] : NULL;
}

char *option_variable(const struct option_row *row)
{
	char *variable = mem_format("MUSTER_%s", row->name);

	for (char *c = variable; *c; c++)
		*c = *c == '-' ? '_' : (char) toupper((unsigned char) *c);
	return variable;
}

/* The value of the row with this name (its first `len` characters); NULL: there is none. */
static struct value *find_value(const struct options *options, const char *name, size_t len)
{
	for (size_t i = 0; i < options->n_values; i++) {
		const struct option_row *row = options->values[i].row;

		if (other_tool_has_word(row->name, name, len) ||
		    (row->other_name && other_tool_has_word(row->other_name, name, len)))
			return &options->values[i];
	}
	return NULL;
}

static struct value *find_letter(const struct options *options, char letter)
{
	for (size_t i = 0; i < options->n_values; i++)
		if (options->values[i].row->letter == letter)
			return &options->values[i];
	return NULL;
}

static bool read_flag(const char *text, int64_t *ret_number)
{
	static const char *const words[] = {"0", "1", "false", "true", "no", "yes", "off", "on"};
	int index = name_find_word_ignoring_case(words, ARRAY_LEN(words), text);

	if (index < 0)
		return false;
	*ret_number = index % 2;
	return true;
}

/* Whether it is one of "a|b|c". */
static int check_word(const struct option_row *row, const char *text, struct err *err)
{
	char *words CLEANUP(mem_free_text) = mem_copy_text(row->words);
	char *rest = words;
	const char *list[16];
	size_t count = 0;

	for (char *word; (word = strsep(&rest, "|"));) {
		assert(count < ARRAY_LEN(list));
		list[count++] = word;
	}
	if (name_find_word(list, count, text) >= 0)
		return 0;
	const char *nearest = name_nearest(list, count, text);

	if (count == 1 && row->one_line)
		return err_set(err, ERR_INVALID, "'%s' is not %s (%s)", text, row->words,
			       row->one_line);
	return err_set(err, ERR_INVALID, "'%s' is not one of %s%s%s%s", text, row->words,
		       nearest ? "; did you mean '" : "", nearest ? nearest : "",
		       nearest ? "'?" : "");
}

static int read_value(const struct options *options, struct value *value, const char *text,
		      struct err *err)
{
	const struct option_row *row = value->row;

	switch (row->kind) {
	case OPTION_FLAG:
		if (row->words && check_word(row, text, NULL) == 0)
			value->number = true;
		else if (!read_flag(text, &value->number))
			return err_set(err, ERR_INVALID,
				       "'%s' is not a boolean (expected true or false)", text);
		break;
	case OPTION_NUMBER:
		if (row->words && check_word(row, text, NULL) == 0)
			value->number = row->low;
		else if (text_read_int(text, row->low, row->high, &value->number, err))
			return err->code;
		break;
	case OPTION_DURATION:
		if (text_read_duration(text, &value->number, err))
			return err->code;
		break;
	case OPTION_WORD:
		if (check_word(row, text, err))
			return err->code;
		break;
	case OPTION_LIST:
		if (!value->list)
			value->list =
				arena_take_array(options->arena, (size_t) options->n_words + 1,
						 sizeof(*value->list));
		value->list[value->n_list++] = text;
		break;
	case OPTION_TEXT:
		break;
	}
	value->text = text;
	return 0;
}

/* `shown` is the option as the user typed it: "--ps", "-w", "MUSTER_ON". */
static void set_value(struct reading *reading, struct value *value, const char *shown,
		      const char *text)
{
	struct err err;

	value->is_given = true;
	if (read_value(reading->options, value, text, &err))
		text_addf(reading->faults, "%s: %s\n", shown, err.text);
}

/* Gives the value of a letter, unless another tool has the letter for a number. */
static void set_letter_value(struct reading *reading, struct value *value, const char *shown,
			     const char *text)
{
	const char *command = reading->options->command->name;
	const struct other_tool_option *foreign = other_tool_number_find(command, shown, text);

	if (!foreign)
		set_value(reading, value, shown, text);
	else
		text_addf(reading->faults, "%s %s: %s is --%s; %s\n", shown, text, shown,
			  value->row->name, foreign->answer);
}

/* The argument after an option that needs one. */
static void consume_option_argument(struct reading *reading, struct value *value, const char *shown)
{
	if (reading->next < reading->argc)
		set_letter_value(reading, value, shown, reading->argv[reading->next++]);
	else
		text_addf(reading->faults, "%s: missing value (expected %s)\n", shown,
			  value->row->value_name);
}

static void add_unknown_option_fault(struct reading *reading, const char *name, size_t len)
{
	struct options *options = reading->options;
	const char **names CLEANUP(mem_free_any) = mem_new_array(options->n_values, sizeof(*names));
	char *dashed CLEANUP(mem_free_text) = mem_copy_bytes(name, len);

	for (size_t i = 0; i < options->n_values; i++)
		names[i] = options->values[i].row->name;
	for (char *at = dashed; (at = strchr(at, '_'));)
		*at = '-';
	const char *nearest = name_nearest(names, options->n_values, dashed);

	text_addf(reading->faults, "--%.*s: no such option", (int) len, name);
	if (nearest)
		text_addf(reading->faults, "; did you mean --%s?", nearest);
	else if (find_value(options, "max-restarts", strlen("max-restarts")))
		text_addf(reading->faults,
			  " of muster %s; an option of your program goes after its name",
			  options->command->name);
	text_add_char(reading->faults, '\n');
}

/* --name, --name=VALUE, --name VALUE or --no-name; `name` is the text after the two dashes. */
static void read_long_option(struct reading *reading, const char *name)
{
	size_t len = strcspn(name, "=");
	const char *text = name[len] ? name + len + 1 : NULL;
	char *shown CLEANUP(mem_free_text) = mem_format("--%.*s", (int) len, name);
	struct value *value = find_value(reading->options, name, len);
	bool is_negated = !value && !text && len > 3 && !strncmp(name, "no-", 3);

	if (is_negated)
		value = find_value(reading->options, name + 3, len - 3);
	if (!value || (is_negated && value->row->kind != OPTION_FLAG))
		add_unknown_option_fault(reading, name, len);
	else if (text)
		set_value(reading, value, shown, text);
	else if (value->row->kind == OPTION_FLAG)
		set_value(reading, value, shown, is_negated ? "false" : "true");
	else
		consume_option_argument(reading, value, shown);
}

/* -a, -aq, -w 2 or -w2; `letters` is the text after the dash. */
static void read_letters(struct reading *reading, const char *letters)
{
	for (; *letters; letters++) {
		const char shown[] = {'-', *letters, 0};
		struct value *value = find_letter(reading->options, *letters);

		if (!value) {
			const struct other_tool_option *foreign = other_tool_option_find(
				reading->options->command->name, shown, strlen(shown));

			text_addf(reading->faults, "%s: no such option%s%s\n", shown,
				  foreign ? "; " : "", foreign ? foreign->answer : "");
			return;
		}
		if (value->row->kind != OPTION_FLAG) {
			if (letters[1])
				set_letter_value(reading, value, shown, letters + 1);
			else
				consume_option_argument(reading, value, shown);
			return;
		}
		set_value(reading, value, shown, "true");
	}
}

/* An option, or letters, of another tool: its value is skipped. True when it was one. */
static bool reject_foreign_option(struct reading *reading, const char *argument)
{
	const struct options *options = reading->options;
	size_t len = strcspn(argument, "=");
	bool is_own = argument[1] == '-' ? find_value(options, argument + 2, len - 2) != NULL
					 : len == 2 && find_letter(options, argument[1]);
	const struct other_tool_option *foreign =
		is_own ? NULL : other_tool_option_find(options->command->name, argument, len);
	bool has_value = foreign && foreign->takes_value && !argument[len];

	if (!foreign)
		return false;
	text_addf(reading->faults, "%.*s: no such option; %s\n", (int) len, argument,
		  foreign->answer);
	if (has_value && reading->next < reading->argc && reading->argv[reading->next][0] != '-')
		reading->next++;
	return true;
}

/* -leader-elect, the style of programs in Go. */
static bool is_go_flag(const struct options *options, const char *argument)
{
	size_t len = strcspn(argument + 1, "=");

	return options->command->takes_go_flags && len > 1 &&
	       find_value(options, argument + 1, len);
}

static void append_arguments_until(struct reading *reading, int end)
{
	struct options *options = reading->options;

	while (reading->next < end)
		options->arguments[options->n_arguments++] = reading->argv[reading->next++];
}

static void read_arguments(struct reading *reading)
{
	while (reading->next < reading->argc) {
		const char *argument = reading->argv[reading->next];

		if (!strcmp(argument, "--")) {
			reading->options->n_before_separator = reading->options->n_arguments;
			reading->next++;
			append_arguments_until(reading, reading->argc);
		} else if (argument[0] != '-' || !argument[1]) {
			bool is_program = reading->options->command->takes_program;

			append_arguments_until(reading,
					       is_program ? reading->argc : reading->next + 1);
		} else {
			reading->next++;
			if (reject_foreign_option(reading, argument))
				continue;
			if (argument[1] == '-')
				read_long_option(reading, argument + 2);
			else if (is_go_flag(reading->options, argument))
				read_long_option(reading, argument + 1);
			else
				read_letters(reading, argument + 1);
		}
	}
}

/* Options that were not given: the environment, then the row's default. */
static void read_defaults(struct reading *reading)
{
	for (size_t i = 0; i < reading->options->n_values; i++) {
		struct value *value = &reading->options->values[i];
		char *variable CLEANUP(mem_free_text) = option_variable(value->row);
		const char *text = value->row->has_variable ? getenv(variable) : NULL;

		if (!value->is_given && text && *text)
			set_value(reading, value, variable, text);
		if (value->is_given || !value->row->otherwise)
			continue;
		int rc = read_value(reading->options, value, value->row->otherwise,
				    &(struct err){0});
		assert(!rc);
	}
}

/* On one line, because it may be one of several faults. */
static void add_usage(const struct command *command, struct text *faults)
{
	const char *form = command->arguments;

	text_add(faults, "missing argument; usage: ");
	for (const char *between = ""; form; between = ", or ") {
		size_t len = strcspn(form, "\n");

		text_add(faults, between);
		text_addf(faults, "muster %s %.*s", command->name, (int) len, form);
		form = form[len] ? form + len + 1 : NULL;
	}
	text_add_char(faults, '\n');
}

static void check_argument_count(const struct options *options, struct text *faults)
{
	const struct command *command = options->command;

	if (command->takes_program)
		return;
	if (options->n_arguments < command->least_arguments)
		add_usage(command, faults);
	if (options->n_arguments > command->most_arguments) {
		const char *answer = other_tool_argument_answer(command->name);

		text_addf(faults, "unexpected argument '%s'%s%s\n",
			  options->arguments[command->most_arguments], answer ? "; " : "",
			  answer ? answer : "");
	}
}

static struct options *options_new(const struct command_table *table, const struct command *command,
				   int argc, char **argv)
{
	struct options *options = mem_new(sizeof(*options));

	options->table = table;
	options->command = command;
	options->n_before_separator = SIZE_MAX;
	options->n_values = count_own_rows(command) + ARRAY_LEN(general_rows);
	options->values = mem_new_array(options->n_values, sizeof(*options->values));
	for (size_t i = 0; i < options->n_values; i++)
		options->values[i].row = options_row(command, i);
	options->arena = arena_new();
	options->arguments =
		arena_take_array(options->arena, (size_t) argc + 1, sizeof(*options->arguments));
	options->words =
		arena_take_array(options->arena, (size_t) argc + 1, sizeof(*options->words));
	memcpy(options->words, argv, (size_t) argc * sizeof(*options->words));
	options->n_words = argc;
	return options;
}

/* Returns a copy of the word of argv, and leaves only the name visible there; the same text if it
 * is from elsewhere. */
static const char *hide_value(struct options *options, const char *text)
{
	const char *value = strchr(text, '=');

	for (int i = 0; value && i < options->n_words; i++) {
		char *word = options->words[i];

		if (text < word || text > word + strlen(word))
			continue;
		options->words[i] = arena_copy_text(options->arena, word);
		explicit_bzero(word + (value + 1 - word), strlen(value + 1));
		return options->words[i] + (text - word);
	}
	return text;
}

static void hide_values(struct options *options)
{
	for (size_t i = 0; i < options->n_values; i++) {
		struct value *value = &options->values[i];

		for (size_t k = 0; value->row->hides_values && k < value->n_list; k++)
			value->text = value->list[k] = hide_value(options, value->list[k]);
	}
}

int options_parse(const struct command_table *table, const struct command *command, int argc,
		  char **argv, struct options **ret_options, struct text *faults)
{
	struct options *options CLEANUP(options_cleanup) = options_new(table, command, argc, argv);
	struct reading reading = {.options = options, .argv = argv, .argc = argc, .faults = faults};

	read_arguments(&reading);
	read_defaults(&reading);
	check_argument_count(options, faults);
	hide_values(options);
	if (option_flag(options, "help"))
		text_clear(faults);
	if (faults->len)
		return ERR_INVALID;
	*ret_options = TAKE(options);
	return 0;
}

const struct command_table *options_table(const struct options *options)
{
	return options->table;
}

const struct command *options_command(const struct options *options)
{
	return options->command;
}

char **options_call(const struct options *options)
{
	char **call = mem_new_array((size_t) options->n_words + 3, sizeof(*call));

	call[0] = (char *) "muster";
	call[1] = (char *) options->command->name;
	for (int i = 0; i < options->n_words; i++)
		call[i + 2] = options->words[i];
	return call;
}

struct options *options_copy(const struct options *options)
{
	struct options *copy = mem_new(sizeof(*copy));

	*copy = *options;
	copy->values = mem_new_array(copy->n_values, sizeof(*copy->values));
	memcpy(copy->values, options->values, copy->n_values * sizeof(*copy->values));
	copy->arena = NULL;
	return copy;
}

static struct value *option_value_of(const struct options *options, const char *name)
{
	struct value *value = find_value(options, name, strlen(name));

	assert(value);
	return value;
}

void options_set_text(struct options *options, const char *name, const char *text)
{
	assert(!options->arena);
	if (text)
		option_value_of(options, name)->text = text;
}

void options_free(struct options *options)
{
	if (!options)
		return;
	arena_free_secret(options->arena);
	free(options->values);
	free(options);
}

void options_cleanup(struct options **options)
{
	options_free(*options);
}

bool option_is_given(const struct options *options, const char *name)
{
	return option_value_of(options, name)->is_given;
}

bool option_flag(const struct options *options, const char *name)
{
	return option_value_of(options, name)->number != 0;
}

int64_t option_number(const struct options *options, const char *name, int64_t otherwise)
{
	const struct value *value = option_value_of(options, name);

	return value->text ? value->number : otherwise;
}

msec option_duration(const struct options *options, const char *name, msec otherwise)
{
	return option_number(options, name, otherwise);
}

int option_moment(const struct options *options, const char *name, msec now, msec *ret_moment,
		  struct err *err)
{
	const char *text = option_text(options, name);
	msec ago;

	if (!text)
		return err_set(err, ERR_NOT_FOUND, "--%s: not set", name);
	bool is_duration = text_read_duration(text, &ago, NULL) == 0;

	if (is_duration)
		*ret_moment = now - ago;
	if (is_duration || text_read_time(text, ret_moment, NULL) == 0)
		return 0;
	return err_set(err, ERR_INVALID,
		       "--%s '%s': not a duration (10m) or a time (2026-01-02T03:04:05Z)", name,
		       text);
}

const char *option_text(const struct options *options, const char *name)
{
	return option_value_of(options, name)->text;
}

const char *const *option_list(const struct options *options, const char *name, size_t *ret_count)
{
	const struct value *value = option_value_of(options, name);

	*ret_count = value->n_list;
	return value->list;
}

const char *const *options_arguments(const struct options *options)
{
	return options->arguments;
}

size_t options_n_arguments(const struct options *options)
{
	return options->n_arguments;
}

bool options_had_separator(const struct options *options)
{
	return options->n_before_separator == 0;
}

size_t options_n_before_separator(const struct options *options)
{
	return options->n_before_separator < options->n_arguments ? options->n_before_separator
								  : options->n_arguments;
}
