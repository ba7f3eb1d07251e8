/* muster explain: finds the error in a log file, whoever wrote it, and what is known of it. */
#include "base/line_text.h"
#include "base/mem.h"
#include "cli/commands.h"
#include "io/file.h"
#include "reconcile/failure_text.h"
#include "spec/limits.h"
#include "status/exception.h"

#include <ctype.h>

/* The end of a log is read. */
#define MOST_READ ((size_t) 8 * 1024 * 1024)
#define CHUNK_SIZE ((size_t) 64 * 1024)
/* Replicas in one log that are told apart. */
#define MOST_SOURCES 256
#define EXIT_NOTHING_FOUND 1
#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./"

/* A line of a log of several replicas: "worker-0 | loss 0.3". */
struct source_line {
	const char *prefix;
	size_t prefix_len; /* 0: none */
	const char *words;
};

struct log_text {
	struct text bytes;
	struct arena *arena;
	struct source_line *lines;
	size_t n_lines;
	const struct source_line *sources[MOST_SOURCES]; /* the first line of each */
	size_t n_sources;
};

static void log_text_done(struct log_text *log)
{
	text_done(&log->bytes);
	arena_free(log->arena);
}

static int read_end(int fd, struct text *text, struct err *err)
{
	char *chunk CLEANUP(mem_free_text) = mem_new(CHUNK_SIZE);
	off_t size = lseek(fd, 0, SEEK_END);
	ssize_t len;

	if (size >= 0)
		lseek(fd, size > (off_t) MOST_READ ? size - (off_t) MOST_READ : 0, SEEK_SET);
	while ((len = read(fd, chunk, CHUNK_SIZE)) != 0) {
		if (len < 0 && errno != EINTR)
			return err_set_errno(err, errno, "cannot read");
		text_add_bytes(text, chunk, len > 0 ? (size_t) len : 0);
		if (text->len > 2 * MOST_READ)
			text_remove_beginning(text, text->len - MOST_READ);
	}
	return 0;
}

/* The prefix of muster's lines, "digits/worker-0 | ", or of kubectl logs --prefix,
 * "[pod/digits-worker-0/tensorflow] ". */
static size_t prefix_length(const char *line)
{
	size_t name = strspn(line, NAME_LETTERS), bar = name + strspn(line + name, " ");
	const char *dash = name ? memrchr(line, '-', name) : NULL;
	const char *end = text_starts_with(line, "[pod/") ? strstr(line, "] ") : NULL;

	if (end)
		return (size_t) (end - line) + 2;
	return dash && isdigit((unsigned char) dash[1]) && bar > name &&
			       text_starts_with(line + bar, "| ")
		       ? bar + 2
		       : 0;
}

static bool is_same_source(const struct source_line *a, const struct source_line *b)
{
	return a->prefix_len == b->prefix_len && memcmp(a->prefix, b->prefix, a->prefix_len) == 0;
}

static void add_source(struct log_text *log, const struct source_line *line)
{
	for (size_t i = 0; i < log->n_sources; i++)
		if (is_same_source(log->sources[i], line))
			return;
	if (log->n_sources < MOST_SOURCES)
		log->sources[log->n_sources++] = line;
}

static void split_lines(struct log_text *log)
{
	char *rest = log->bytes.len ? log->bytes.bytes : NULL, *line;
	size_t most = 1;

	for (size_t i = 0; i < log->bytes.len; i++) {
		if (!rest[i])
			rest[i] = ' ';
		most += rest[i] == '\n';
	}
	log->lines = arena_take_array(log->arena, most, sizeof(*log->lines));
	while (rest && (line = strsep(&rest, "\n"))) {
		struct source_line *next = &log->lines[log->n_lines++];

		line[strcspn(line, "\r")] = '\0';
		*next = (struct source_line){line, prefix_length(line), line};
		next->words += next->prefix_len;
		add_source(log, next);
	}
}

/* The last lines of one source. */
static struct printed lines_of(const struct log_text *log, const struct source_line *source)
{
	const char **lines = arena_take_array(log->arena, LIMIT_SEARCHED_LINES, sizeof(*lines));
	size_t first = LIMIT_SEARCHED_LINES;

	for (size_t i = log->n_lines; i-- > 0 && first > 0;)
		if (is_same_source(&log->lines[i], source) && *log->lines[i].words)
			lines[--first] = log->lines[i].words;
	return (struct printed){.lines = lines + first, .count = LIMIT_SEARCHED_LINES - first};
}

/* A replica with an error of its own explains those that blame another one. */
static const struct source_line *find_failure(const struct log_text *log, struct failure *failure)
{
	const struct source_line *found = NULL;
	bool is_own = false;

	for (size_t i = 0; i < log->n_sources && !is_own; i++) {
		struct printed printed = lines_of(log, log->sources[i]);
		const char *exception = exception_find_cause(&printed, log->arena);
		size_t n_last = printed.count < LIMIT_LAST_LINES ? printed.count : LIMIT_LAST_LINES;
		struct failure next = {.exception = exception,
				       .last_lines = printed.lines + printed.count - n_last,
				       .n_last_lines = n_last};
		bool is_explained = exception || failure_advice(&next);

		is_own = exception && !exception_blames_peer(exception);
		if (!is_explained || (found && !is_own))
			continue;
		*failure = next;
		found = log->sources[i];
	}
	return found;
}

static int explain(const char *path, struct text *text)
{
	struct log_text log CLEANUP(log_text_done) = {.arena = arena_new()};
	bool is_input = text_equals(path, "-");
	int fd CLEANUP(file_close) = is_input ? -1 : open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	struct failure failure;
	struct err err;

	if (!is_input && fd < 0)
		return output_fail_with(EXIT_USAGE, "cannot read '%s': %s", path, strerror(errno));
	if (read_end(is_input ? STDIN_FILENO : fd, &log.bytes, &err) < 0)
		return output_fail_with(EXIT_USAGE, "%s: %s", path, err.text);
	split_lines(&log);
	const struct source_line *source = find_failure(&log, &failure);

	if (!source)
		return output_fail_with(EXIT_NOTHING_FOUND, "%s: no error found",
					is_input ? "standard input" : path);
	const char *name = is_input ? "standard input" : path;

	line_text_add_sentence(text, name, strlen(name)); /* other users may have named it */
	text_addf(text, "%s%.*s\n", source->prefix_len ? ": " : "",
		  (int) strcspn(source->prefix_len ? source->prefix : "", " |"), source->prefix);
	failure_explain(&failure, text);
	return EXIT_DONE;
}

static int explain_run(const struct options *options)
{
	static const char *const input[] = {"-", NULL};
	const char *const *paths = options_arguments(options);
	int exit_code = EXIT_DONE;

	if (!paths[0])
		paths = input;
	for (size_t i = 0; paths[i]; i++) {
		struct text text CLEANUP(text_done) = {0};
		int code = explain(paths[i], &text);

		output_add(&text);
		exit_code = exit_code ? exit_code : code;
	}
	return exit_code;
}

const struct command command_explain = {
	.name = "explain",
	.group = "Inspect",
	.arguments = "[FILE...]",
	.one_line = "find the error in a log file, and say what to do",
	.examples = "  muster explain slurm-1234.out\n"
		    "  kubectl logs -l job=digits --prefix | muster explain\n",
	.most_arguments = COMMAND_ANY_NUMBER,
	.run = explain_run,
};
