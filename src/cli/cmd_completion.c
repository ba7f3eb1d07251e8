/* muster completion: the script that completes command lines of muster in a shell, and the words
 * that the script requests. */
#include "base/line_text.h"
#include "base/mem.h"
#include "base/names.h"
#include "cli/commands.h"
#include "cli/local_jobs.h"
#include "cli/replica_name.h"
#include "spec/job.h"

/* This line says that file names, which the shell knows itself, fit as well. */
#define COMPLETION_FILES ":files"

/* More replicas than a user reads. */
#define MOST_REPLICAS 256

/* A command line up to the word that is completed. */
struct line {
	const struct options *options; /* of the calling command */
	const struct command *command; /* NULL: the first word is completed */
	const char *current; /* the part of that word before the cursor */
	const struct option_row *option; /* the option whose value it is; NULL: none */
	const char **arguments; /* plain arguments before it */
	size_t n_arguments;
	bool has_separator; /* "--" was given before */
	bool is_program; /* it belongs to the started program */
	const char *state_folder; /* of its --state-dir */
	struct text *lines;
};

/* Words. */

static void add_word(const struct line *line, const char *word, const char *meaning)
{
	if (!text_starts_with(word, line->current))
		return;
	text_add(line->lines, word);
	if (meaning && *meaning) {
		text_add_char(line->lines, '\t');
		line_text_add_sentence(line->lines, meaning, strlen(meaning));
	}
	text_add_char(line->lines, '\n');
}

static void add_commands(const struct line *line, bool are_old_programs)
{
	const struct command_table *table = options_table(line->options);
	const struct command *const *commands =
		are_old_programs ? table->old_programs : table->commands;

	for (size_t i = 0; commands[i]; i++)
		add_word(line, are_old_programs ? compat_name(commands[i]) : commands[i]->name,
			 commands[i]->one_line);
}

/* Adds each of "a|b|c", after `before`. */
static void add_choice(const struct line *line, const char *before, const char *choice)
{
	char *words CLEANUP(mem_free_text) = mem_copy_text(choice);
	char *rest = words;

	for (char *word; (word = strsep(&rest, "|"));) {
		char *whole CLEANUP(mem_free_text) = mem_format("%s%s", before, word);

		add_word(line, whole, NULL);
	}
}

/* Jobs and replicas. */

/* The newest first; `behind` follows each name. */
static void add_jobs(const struct line *line, const char *behind)
{
	struct client *client CLEANUP(local_jobs_close) = NULL;
	struct client_row *rows = NULL;
	size_t count = 0;
	/* These commands have no use for finished jobs. */
	static const char *const names[] = {"stop",   "suspend", "scale",       "wait",
					    "attach", "exec",    "port-forward"};
	bool wants_running = name_find_word(names, ARRAY_LEN(names), line->command->name) >= 0;

	if (local_jobs_open_existing(line->options, line->state_folder, &client) ||
	    client->functions->list(client, &rows, &count, NULL))
		return;
	for (size_t i = count; i > 0; i--) {
		const struct client_row *row = &rows[i - 1];
		char *word CLEANUP(mem_free_text) = mem_format("%s%s", row->name, behind);
		char *meaning CLEANUP(mem_free_text) = mem_format("%s, %s", row->state, row->roles);

		if (name_find_word(line->arguments, line->n_arguments, row->name) < 0 &&
		    !(row->is_finished && wants_running))
			add_word(line, word, meaning);
	}
	client_rows_free(rows, count);
}

/* The last argument that is not a replica. */
static const char *job_before(const struct line *line)
{
	for (size_t i = line->n_arguments; i > 0; i--) {
		const char *word = line->arguments[i - 1];

		if (i == 1 || !replica_name_read(word, strlen(word), &(struct log_name){0}))
			return text_starts_with(word, "local/") ? word + strlen("local/") : word;
	}
	return NULL;
}

static struct job *read_job_to_complete(const struct line *line, const char *name)
{
	struct client *client CLEANUP(local_jobs_close) = NULL;
	struct json *object CLEANUP(json_cleanup) = NULL;
	struct job *job = NULL;

	if (name && !local_jobs_open_existing(line->options, line->state_folder, &client) &&
	    !client->functions->get(client, name, &object, NULL) &&
	    client_read_job(object, &job, NULL))
		return NULL;
	return job;
}

static void complete_replica_names(const struct line *line)
{
	struct job *job CLEANUP(job_cleanup) = read_job_to_complete(line, job_before(line));

	for (size_t i = 0; job && i < job->n_roles; i++)
		for (int k = 0; k < job->roles[i].replicas && k < MOST_REPLICAS; k++) {
			char *word CLEANUP(mem_free_text) =
				mem_format("%s-%d", job->roles[i].name, k);

			if (name_find_word(line->arguments, line->n_arguments, word) < 0)
				add_word(line, word, NULL);
		}
}

static void complete_role_names(const struct line *line, const char *behind)
{
	struct job *job CLEANUP(job_cleanup) = read_job_to_complete(line, job_before(line));

	for (size_t i = 0; job && i < job->n_roles; i++) {
		char *word CLEANUP(mem_free_text) = mem_format("%s%s", job->roles[i].name, behind);

		add_word(line, word, NULL);
	}
}

/* Options. */

static const struct option_row *find_long(const struct command *command, const char *name,
					  size_t len)
{
	const struct option_row *row;

	for (size_t i = 0; (row = options_row(command, i)); i++)
		if (strlen(row->name) == len && strncmp(row->name, name, len) == 0)
			return row;
	return NULL;
}

/* The option of the last of these letters, if it needs a value. */
static const struct option_row *find_letters(const struct command *command, const char *letters)
{
	const struct option_row *row;

	for (; *letters; letters++)
		for (size_t i = 0; (row = options_row(command, i)); i++)
			if (row->letter == *letters && row->kind != OPTION_FLAG)
				return letters[1] ? NULL : row;
	return NULL;
}

static void add_options(const struct line *line)
{
	const struct option_row *row;

	for (size_t i = 0; (row = options_row(line->command, i)); i++) {
		bool is_on = row->kind == OPTION_FLAG && text_equals(row->otherwise, "true");
		char *word CLEANUP(mem_free_text) =
			mem_format("--%s%s", is_on ? "no-" : "", row->name);

		if (row->one_line)
			add_word(line, word, row->one_line);
	}
}

/* `before` is "--name=", if it is in the same word. */
static void add_values(const struct line *line, const struct option_row *row, const char *before)
{
	static const char *const paths[] = {"FILE", "DIR", "PATH"};

	if (row->words)
		add_choice(line, before, row->words);
	else if (row->kind == OPTION_FLAG)
		add_choice(line, before, "true|false");
	else if (row->value_name && name_find_word(paths, ARRAY_LEN(paths), row->value_name) >= 0)
		text_add(line->lines, COMPLETION_FILES "\n");
	else if (text_equals(row->value_name, "ROLE") && !*before)
		complete_role_names(line, "");
}

static void add_values_behind_equals(const struct line *line)
{
	size_t len = strcspn(line->current, "=") + 1;
	const struct option_row *row = find_long(line->command, line->current + 2, len - 3);
	char *before CLEANUP(mem_free_text) = mem_copy_bytes(line->current, len);

	if (row)
		add_values(line, row, before);
}

/* Plain arguments: their kinds are the words of the usage line. */

/* Reads the next word of a usage form, without the marks for optional and repeated words. */
static char *parse_usage_token(const char **form, bool *ret_is_repeated)
{
	size_t len = strcspn(*form, " \n");
	struct text token = {0};

	*ret_is_repeated = false;
	for (size_t i = 0; i < len; i++) {
		*ret_is_repeated |= strncmp(*form + i, "...", 3) == 0;
		if (!strchr("[].", (*form)[i]))
			text_add_char(&token, (*form)[i]);
	}
	*form += len;
	*form += strspn(*form, " ");
	return text_take(&token);
}

/* The word of the argument at `position` in the usage form; NULL: none. */
static char *find_token(const char *form, size_t position)
{
	char *token = NULL;
	bool is_repeated = false;

	for (size_t i = 0; *form && *form != '\n' && (!token || i <= position);) {
		char *next = parse_usage_token(&form, &is_repeated);

		if (text_equals(next, "OPTIONS")) {
			free(next);
			continue;
		}
		free(token);
		token = next;
		if (text_starts_with(token, "-"))
			break;
		if (i++ == position || (is_repeated && !*form))
			return token;
	}
	if (token && is_repeated && !text_starts_with(token, "-"))
		return token;
	free(token);
	return NULL;
}

static void add_argument(const struct line *line, const char *token)
{
	if (text_equals(token, "JOB"))
		add_jobs(line, "");
	else if (text_starts_with(token, "JOB:"))
		add_jobs(line, ":");
	else if (text_equals(token, "ROLE-INDEX"))
		complete_replica_names(line);
	else if (text_equals(token, "ROLE=N"))
		complete_role_names(line, "=");
	else if (text_equals(token, "COMMAND"))
		add_commands(line, false);
	else if (text_equals(token, "NAME"))
		add_commands(line, true);
	else if (text_equals(token, "SCRIPTpy") || text_equals(token, "DEST") ||
		 text_equals(token, "SRC"))
		text_add(line->lines, COMPLETION_FILES "\n");
	else if (*token >= 'a' && *token <= 'z')
		add_choice(line, "", token);
}

static void add_arguments(const struct line *line)
{
	const char *form = line->command->arguments;
	struct text seen CLEANUP(text_done) = {0};

	while (*form) {
		char *token CLEANUP(mem_free_text) = find_token(form, line->n_arguments);
		size_t len = seen.len;

		if (token)
			text_add_line_once(&seen, "%s", token);
		if (seen.len > len)
			add_argument(line, token);
		form += strcspn(form, "\n");
		form += *form == '\n';
	}
}

/* The command line. */

static void read_word(struct line *line, const char *word)
{
	bool is_option = word[0] == '-' && word[1] && !line->has_separator;

	if (line->option) {
		if (text_equals(line->option->name, "state-dir"))
			line->state_folder = word;
		line->option = NULL;
	} else if (text_equals(word, "--") && is_option) {
		line->has_separator = true;
		line->is_program = line->command->takes_program;
	} else if (!is_option) {
		line->arguments[line->n_arguments++] = word;
		line->is_program = line->command->takes_program;
	} else if (word[1] != '-') {
		line->option = find_letters(line->command, word + 1);
	} else {
		const struct option_row *row = find_long(line->command, word + 2, strlen(word + 2));

		line->option = row && row->kind != OPTION_FLAG ? row : NULL;
	}
}

/* The command that the first words name; returns the number of these words. */
static size_t find_command(const struct command_table *table, const char *const *words,
			   size_t count, const struct command **ret_command)
{
	bool is_old = count > 2 && text_equals(words[0], "compat") && compat_find(table, words[1]);

	*ret_command = is_old ? compat_find(table, words[1]) : command_find(table, words[0]);
	return is_old ? 2 : 1;
}

/* Adds a line for each word that may replace the last one of `words`, which is a prefix and may be
 * empty; the words before it follow "muster". After a tab, a line has the word's meaning. `options`
 * are those of the calling command. */
static void completion_add_words(const struct options *options, const char *const *words,
				 size_t count, struct text *lines)
{
	const char **arguments CLEANUP(mem_free_any) = mem_new_array(count + 1, sizeof(*arguments));
	struct line line = {
		.options = options,
		.current = count ? words[count - 1] : "",
		.arguments = arguments,
		.lines = lines,
	};

	if (count < 2) {
		add_commands(&line, false);
		return;
	}
	size_t first = find_command(options_table(options), words, count, &line.command);

	if (!line.command)
		return;
	for (size_t i = first; i + 1 < count && !line.is_program; i++)
		read_word(&line, words[i]);
	if (line.option)
		add_values(&line, line.option, "");
	else if (line.is_program || line.has_separator)
		text_add(lines, COMPLETION_FILES "\n");
	else if (line.current[0] == '-' && strchr(line.current, '='))
		add_values_behind_equals(&line);
	else if (line.current[0] == '-')
		add_options(&line);
	else
		add_arguments(&line);
}

static int completion_run(const struct options *options)
{
	size_t count = options_n_arguments(options);
	const char *const *arguments = options_arguments(options);
	struct text text CLEANUP(text_done) = {0};
	const struct {
		const char *shell, *script;
	} scripts[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};
	const char *script = NULL;

	for (size_t i = 0; count == 1 && i < ARRAY_LEN(scripts); i++)
		if (text_equals(arguments[0], scripts[i].shell))
			script = scripts[i].script;
	if (count > 0 && text_equals(arguments[0], "words"))
		completion_add_words(options, arguments + 1, count - 1, &text);
	else if (script)
		text_add(&text, script);
	else
		return output_fail_with(EXIT_USAGE, "missing shell (expected bash, zsh or fish)");
	output_add(&text);
	return EXIT_DONE;
}

const struct command command_completion = {
	.name = "completion",
	.group = "Help and setup",
	.arguments = "bash|zsh|fish",
	.one_line = "print a shell completion script",
	.examples = "  source <(muster completion bash)\n"
		    "  muster completion zsh > ~/.zfunc/_muster\n"
		    "  muster completion fish > ~/.config/fish/completions/muster.fish\n",
	.takes_program = true,
	.run = completion_run,
};
