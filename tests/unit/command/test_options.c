#include "unit.h"

#include "base/mem.h"
#include "command/command.h"
#include "command/options.h"

static const struct option_row rows[] = {
	{.name = "workers",
	 .letter = 'w',
	 .kind = OPTION_NUMBER,
	 .value_name = "N",
	 .otherwise = "1",
	 .low = 0,
	 .high = 10000},
	{.name = "max-restarts",
	 .other_name = "most-starts",
	 .kind = OPTION_NUMBER,
	 .value_name = "N",
	 .low = 0,
	 .high = 100,
	 .has_variable = true},
	{.name = "quiet", .letter = 'q', .kind = OPTION_FLAG, .has_variable = true},
	{.name = "all", .letter = 'a', .kind = OPTION_FLAG},
	{.name = "notes", .kind = OPTION_FLAG, .otherwise = "true"},
	{.name = "env", .letter = 'e', .kind = OPTION_LIST, .value_name = "K=V"},
	{.name = "name", .kind = OPTION_TEXT, .value_name = "NAME"},
	{.name = "timeout", .kind = OPTION_DURATION, .value_name = "TIME"},
	{.name = "scope", .kind = OPTION_WORD, .words = "replica|job|worker", .has_variable = true},
	{0},
};

static const struct command looks = {
	.name = "look",
	.arguments = "[JOB]",
	.options = rows,
	.most_arguments = 1,
};
static const struct command needs = {
	.name = "need",
	.arguments = "JOB",
	.options = rows,
	.least_arguments = 1,
	.most_arguments = COMMAND_ANY_NUMBER,
};
static const struct command runs = {
	.name = "run", .arguments = "SCRIPT", .options = rows, .takes_program = true};

/* Parses a NULL-terminated list; the mistakes, when there are some, are left in `faults`. */
static struct options *parse_list(const struct command *command, char **list, struct text *faults)
{
	struct options *options = NULL;
	int count = 0;

	while (list[count])
		count++;
	int rc = options_parse(NULL, command, count, list, &options, faults);
	assert_int_equal(rc, faults->len ? ERR_INVALID : 0);
	assert_int_equal(options == NULL, rc != 0);
	return options;
}

#define PARSE(command, faults, ...) parse_list(command, (char *[]){__VA_ARGS__, NULL}, faults)

/* Parses what must be right. */
#define RIGHT(command, ...)                                                                        \
	__extension__({                                                                            \
		struct text none_ = {0};                                                           \
		struct options *right_ = PARSE(command, &none_, __VA_ARGS__);                      \
		assert_string_equal(text_of(&none_), "");                                          \
		text_done(&none_);                                                                 \
		right_;                                                                            \
	})

/* Parses what must be wrong, and compares what is told. */
#define WRONG(command, expected, ...)                                                              \
	do {                                                                                       \
		struct text faults_ CLEANUP(text_done) = {0};                                      \
		assert_null(PARSE(command, &faults_, __VA_ARGS__));                                \
		assert_string_equal(text_of(&faults_), expected);                                  \
	} while (0)

TEST(a_value_may_stand_behind_a_blank_or_an_equals_sign)
{
	struct options *a CLEANUP(options_cleanup) = RIGHT(&looks, "--workers", "2");
	struct options *b CLEANUP(options_cleanup) = RIGHT(&looks, "--workers=3");
	struct options *c CLEANUP(options_cleanup) = RIGHT(&looks, "-w", "4");
	struct options *d CLEANUP(options_cleanup) = RIGHT(&looks, "-w5");

	assert_int_equal(option_number(a, "workers", -1), 2);
	assert_int_equal(option_number(b, "workers", -1), 3);
	assert_int_equal(option_number(c, "workers", -1), 4);
	assert_int_equal(option_number(d, "workers", -1), 5);
}

TEST(an_underscore_counts_as_a_dash)
{
	struct options *options CLEANUP(options_cleanup) = RIGHT(&looks, "--max_restarts", "7");

	assert_int_equal(option_number(options, "max-restarts", -1), 7);
}

TEST(an_older_name_means_the_same)
{
	struct options *options CLEANUP(options_cleanup) = RIGHT(&looks, "--most_starts", "3");
	struct options *later CLEANUP(options_cleanup) =
		RIGHT(&looks, "--max-restarts=1", "--most-starts=7");

	assert_int_equal(option_number(options, "max-restarts", -1), 3);
	assert_int_equal(option_number(later, "max-restarts", -1), 7);
}

TEST(letters_of_flags_may_be_joined_and_end_with_a_value)
{
	struct options *options CLEANUP(options_cleanup) = RIGHT(&looks, "-qaw2");

	assert_true(option_flag(options, "quiet"));
	assert_true(option_flag(options, "all"));
	assert_int_equal(option_number(options, "workers", -1), 2);
}

TEST(a_flag_may_be_negated_and_the_last_one_counts)
{
	struct options *options CLEANUP(options_cleanup) =
		RIGHT(&looks, "--quiet", "--no-quiet", "--no-notes", "--all=yes");

	assert_false(option_flag(options, "quiet"));
	assert_false(option_flag(options, "notes"));
	assert_true(option_flag(options, "all"));
}

TEST(an_option_whose_name_begins_with_no_is_itself)
{
	struct options *options CLEANUP(options_cleanup) = RIGHT(&looks, "--notes");

	assert_true(option_flag(options, "notes"));
}

TEST(a_list_keeps_every_value_in_order)
{
	struct options *options CLEANUP(options_cleanup) =
		RIGHT(&looks, "-e", "A=1", "--env=B=2", "-eC=3");
	size_t count;
	const char *const *list = option_list(options, "env", &count);

	assert_int_equal(count, 3);
	assert_string_equal(list[0], "A=1");
	assert_string_equal(list[1], "B=2");
	assert_string_equal(list[2], "C=3");
}

TEST(what_is_not_said_has_its_default)
{
	struct options *options CLEANUP(options_cleanup) = RIGHT(&looks, "job");

	assert_int_equal(option_number(options, "workers", -1), 1);
	assert_int_equal(option_number(options, "max-restarts", -1), -1);
	assert_int_equal(option_duration(options, "timeout", 5), 5);
	assert_true(option_flag(options, "notes"));
	assert_null(option_text(options, "name"));
	assert_false(option_is_given(options, "workers"));
}

TEST(a_duration_is_read_in_milliseconds)
{
	struct options *options CLEANUP(options_cleanup) = RIGHT(&looks, "--timeout", "10m");

	assert_int_equal(option_duration(options, "timeout", -1), 600 * 1000);
}

static int clear_environment(void **state)
{
	(void) state;
	unsetenv("MUSTER_MAX_RESTARTS");
	unsetenv("MUSTER_QUIET");
	unsetenv("MUSTER_NAME");
	unsetenv("MUSTER_SCOPE");
	return 0;
}

TEST_WITH(NULL, clear_environment, the_environment_gives_what_flags_do_not)
{
	setenv("MUSTER_MAX_RESTARTS", "3", 1);
	setenv("MUSTER_QUIET", "yes", 1);
	setenv("MUSTER_NAME", "not-read", 1);
	setenv("MUSTER_SCOPE", "", 1);
	struct options *a CLEANUP(options_cleanup) = RIGHT(&looks, "job");
	struct options *b CLEANUP(options_cleanup) = RIGHT(&looks, "--max-restarts=5");

	assert_int_equal(option_number(a, "max-restarts", -1), 3);
	assert_true(option_is_given(a, "max-restarts"));
	assert_true(option_flag(a, "quiet"));
	assert_null(option_text(a, "name"));
	assert_null(option_text(a, "scope"));
	assert_int_equal(option_number(b, "max-restarts", -1), 5);
}

TEST_WITH(NULL, clear_environment, a_wrong_variable_is_named)
{
	setenv("MUSTER_SCOPE", "jbo", 1);
	WRONG(&looks, "MUSTER_SCOPE: 'jbo' is not one of replica|job|worker; did you mean 'job'?\n",
	      "job");
}

TEST(every_mistake_is_told_at_once)
{
	struct text faults CLEANUP(text_done) = {0};

	assert_null(PARSE(&looks, &faults, "--worker", "-z", "--scope=all", "--quiet=maybe", "a",
			  "b", "--name"));
	const char *told = text_of(&faults);
	assert_non_null(strstr(told, "--worker: no such option; did you mean --workers?\n"));
	assert_non_null(strstr(told, "-z: no such option\n"));
	assert_non_null(strstr(told, "--scope: 'all' is not one of replica|job|worker"));
	assert_non_null(
		strstr(told, "--quiet: 'maybe' is not a boolean (expected true or false)\n"));
	assert_non_null(strstr(told, "--name: missing value (expected NAME)\n"));
	assert_non_null(strstr(told, "unexpected argument 'b'\n"));
}

TEST(only_flags_can_be_negated)
{
	WRONG(&looks,
	      "--no-workers: no such option of muster look; an option of your program goes after "
	      "its name\n",
	      "--no-workers");
}

TEST(a_missing_argument_is_told_with_the_usage)
{
	WRONG(&needs, "missing argument; usage: muster need JOB\n", "-q");
}

TEST(help_is_given_whatever_else_is_wrong)
{
	struct options *options CLEANUP(options_cleanup) = RIGHT(&needs, "--wrong", "--help");

	assert_true(option_flag(options, "help"));
}

TEST(options_may_stand_between_plain_arguments)
{
	struct options *options CLEANUP(options_cleanup) = RIGHT(&needs, "a", "-q", "b", "-");
	const char *const *arguments = options_arguments(options);

	assert_true(option_flag(options, "quiet"));
	assert_int_equal(options_n_arguments(options), 3);
	assert_string_equal(arguments[0], "a");
	assert_string_equal(arguments[1], "b");
	assert_string_equal(arguments[2], "-");
	assert_null(arguments[3]);
}

TEST(all_behind_a_script_belongs_to_the_script)
{
	struct options *options CLEANUP(options_cleanup) =
		RIGHT(&runs, "-w", "2", "train.py", "-w", "--help", "--", "x");
	const char *const *arguments = options_arguments(options);

	assert_int_equal(option_number(options, "workers", -1), 2);
	assert_false(option_flag(options, "help"));
	assert_false(options_had_separator(options));
	assert_int_equal(options_n_arguments(options), 5);
	assert_string_equal(arguments[3], "--");
	assert_string_equal(arguments[4], "x");
}

TEST(all_behind_two_dashes_is_a_program)
{
	struct options *options CLEANUP(options_cleanup) = RIGHT(&runs, "--", "-x", "--", "y");
	const char *const *arguments = options_arguments(options);

	assert_true(options_had_separator(options));
	assert_int_equal(options_n_arguments(options), 3);
	assert_string_equal(arguments[0], "-x");
	assert_string_equal(arguments[1], "--");
}

TEST(a_call_without_arguments_has_an_empty_list)
{
	struct options *options CLEANUP(options_cleanup) = RIGHT(&looks, "-q");

	assert_null(options_arguments(options)[0]);
	assert_int_equal(options_n_arguments(options), 0);
}
