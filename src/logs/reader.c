#include "logs/reader.h"

#include "base/line_text.h"
#include "logs/drawing.h"
#include "spec/expression.h"
#include "spec/limits.h"

#include <dlfcn.h>

#define WINDOW_SIZE 65536

/* Lines are searched for a POSIX extended regular expression, in a time proportional to the line
 * and in constant memory (docs/design/0027-searching-logs.md), by TRE: the regular expressions of
 * musl, with functions that take lengths. Its header is not needed at build time: these are the
 * functions of libtre.so.5, which is loaded for the first expression: most commands use none. */

#define LIBRARY "libtre.so.5"
#define PACKAGE "libtre5"

#define FLAGS (1 | 1 << 3) /* REG_EXTENDED, REG_NOSUB */

struct tre_expression {
	size_t n_groups;
	void *value;
};

/* NULL matches every line. */
struct log_pattern {
	void *library;
	struct tre_expression expression;
	bool is_compiled;
	int (*compile)(struct tre_expression *expression, const char *text, size_t len, int flags);
	int (*search)(const struct tre_expression *expression, const char *bytes, size_t len,
		      size_t n_matches, void *matches, int flags);
	size_t (*describe)(int failure, const struct tre_expression *expression, char *buf,
			   size_t size);
	void (*release)(struct tre_expression *expression);
};

static int open_library(struct log_pattern *pattern, struct err *err)
{
	pattern->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (pattern->library) {
		pattern->compile = dlsym(pattern->library, "tre_regncomp");
		pattern->search = dlsym(pattern->library, "tre_regnexec");
		pattern->describe = dlsym(pattern->library, "tre_regerror");
		pattern->release = dlsym(pattern->library, "tre_regfree");
	}
	if (pattern->compile && pattern->search && pattern->describe && pattern->release)
		return 0;
	return err_set(err, ERR_UNSUPPORTED,
		       "searching logs needs " LIBRARY
		       " (%s); install it: apt-get install " PACKAGE,
		       dlerror());
}

static int compile(struct log_pattern *pattern, const char *expression, struct err *err)
{
	char reason[200];
	int failure = pattern->compile(&pattern->expression, expression, strlen(expression), FLAGS);

	pattern->is_compiled = failure == 0;
	if (pattern->is_compiled)
		return 0;
	pattern->describe(failure, &pattern->expression, reason, sizeof(reason));
	return err_set(err, ERR_INVALID, "'%s' is not a regular expression: %s", expression,
		       reason);
}

static void log_pattern_free(struct log_pattern *pattern)
{
	if (!pattern)
		return;
	if (pattern->is_compiled)
		pattern->release(&pattern->expression);
	if (pattern->library)
		dlclose(pattern->library);
	mem_free_any(&pattern);
}

/* NULL: every line. ERR_INVALID names the error in the expression; ERR_UNSUPPORTED: the library is
 * not installed. */
static int log_pattern_new(const char *expression, struct log_pattern **ret_pattern,
			   struct err *err)
{
	if (!expression) {
		*ret_pattern = NULL;
		return 0;
	}
	int rc = expression_check(expression, err);
	if (rc < 0)
		return rc;
	struct log_pattern *pattern = mem_new(sizeof(*pattern));

	rc = open_library(pattern, err);
	if (rc == 0)
		rc = compile(pattern, expression, err);
	if (rc < 0) {
		log_pattern_free(pattern);
		return rc;
	}
	*ret_pattern = pattern;
	return 0;
}

/* The line may contain any byte, and needs no NUL at its end. */
static bool log_pattern_matches(const struct log_pattern *pattern, const char *bytes, size_t len)
{
	return !pattern || pattern->search(&pattern->expression, bytes, len, 0, NULL, 0) == 0;
}

/* Where the last lines of a log begin: it is read from its end, so the size of the log does not
 * matter. */

/* A part of the log in memory. */
struct window {
	struct log_attempt *attempt;
	int64_t begin; /* offset of its first byte */
	size_t len;
	char bytes[WINDOW_SIZE];
};

/* Loads the part that ends at `end`, but nothing below `floor`. */
static void load_before(struct window *window, int64_t floor, int64_t end)
{
	int64_t begin = end - WINDOW_SIZE > floor ? end - WINDOW_SIZE : floor;
	size_t wanted = (size_t) (end - begin);

	window->begin = begin;
	window->len = 0;
	while (window->len < wanted) {
		int64_t offset = begin + (int64_t) window->len;
		size_t got = log_attempt_read(window->attempt, &offset, window->bytes + window->len,
					      wanted - window->len);

		if (got == 0 || offset != begin + (int64_t) window->len)
			break;
		window->len += got;
	}
}

/* Offset after the last line feed below `end`; `floor` if there is none. */
static int64_t find_line_begin(struct window *window, int64_t floor, int64_t end)
{
	while (end > floor) {
		if (end <= window->begin || end > window->begin + (int64_t) window->len)
			load_before(window, floor, end);
		if (window->len == 0)
			break;
		int64_t here = end - window->begin;
		const char *found =
			memrchr(window->bytes, '\n',
				here < (int64_t) window->len ? (size_t) here : window->len);

		if (found)
			return window->begin + (found - window->bytes) + 1;
		end = window->begin;
	}
	return floor;
}

/* Reads the searched part of a line's text, which is usually in the window; returns its length. */
static size_t read_line(const struct window *window, int64_t begin, int64_t end, char *text,
			size_t most)
{
	size_t len = 0;

	if (end - begin < (int64_t) most)
		most = (size_t) (end - begin);
	if (begin >= window->begin &&
	    begin + (int64_t) most <= window->begin + (int64_t) window->len) {
		memcpy(text, window->bytes + (begin - window->begin), most);
		return most;
	}
	while (len < most) {
		int64_t offset = begin + (int64_t) len;
		size_t got = log_attempt_read(window->attempt, &offset, text + len, most - len);

		if (got == 0)
			break;
		len += got;
	}
	return len;
}

static bool is_invisible(const char *line, size_t len)
{
	struct text plain CLEANUP(text_done) = {0};

	line_text_add_plain(&plain, line, len);
	return plain.len == 0;
}

/* Offset of the first of the last *n_lines lines that match, not before `floor`; *n_lines is
 * decreased by the number found. A last line without an end counts. `line_limit`: only that much of
 * a line is searched for the pattern. */
static int64_t log_tail_find(struct window *window, int64_t floor,
			     const struct log_pattern *pattern, size_t line_limit, int64_t *n_lines)
{
	char *text CLEANUP(mem_free_text) = mem_new(line_limit);
	int64_t begin = log_attempt_end(window->attempt);

	if (*n_lines == 0 || begin <= floor)
		return begin;
	/* The end of the last line: its line feed, or the log's end if it has none. */
	int64_t end = find_line_begin(window, floor, begin) == begin ? begin - 1 : begin;
	size_t n_redrawn = 0; /* lines before this one that were drawn anew */

	for (;;) {
		int64_t line = find_line_begin(window, floor, end);
		size_t lifts, len = read_line(window, line, end, text, line_limit);
		bool is_redrawn = n_redrawn > 0;
		bool is_empty = drawing_begins(text, len, &lifts) && is_invisible(text, len);
		const char *state = line_text_last_state(text, &len);

		n_redrawn += lifts - is_redrawn;
		if (!is_redrawn && !is_empty && log_pattern_matches(pattern, state, len)) {
			begin = line;
			(*n_lines)--;
		}
		if (*n_lines == 0 || line <= floor)
			return begin;
		end = line - 1;
	}
}

/* The logs of a replica, or of one of its streams; one attempt at a time is open. */
struct replica {
	struct log_name name; /* of the present or last attempt */
	struct log_stream *stream; /* NULL: that attempt is not open (any longer) */
	bool is_last_wanted; /* later attempts are not selected */
	bool is_dry; /* nothing to read until the next poll */
	bool has_line;
	struct log_line line;
	bool is_restarted; /* no line of this attempt was given, but some of an earlier one */
	int given_attempt; /* of its last line */
};

struct log_reader {
	struct log_folder folder;
	struct log_selection selection;
	struct log_pattern *pattern;
	struct unsaved_output *unsaved_output; /* NULL: only the files are read */
	struct replica **replicas; /* by role, index and stream */
	size_t n_replicas;
	size_t capacity;
	bool is_started; /* the logs that existed at the start are known */
	bool is_ended;
	struct replica *current; /* whose lines are given now … */
	msec current_until; /* … up to this time: that of the next replica */
	msec held_later_than;
};

/* The start of a replica's selected lines. */
struct start {
	struct log_name name;
	struct log_attempt *attempt;
	int64_t offset;
};

bool log_selection_has(const struct log_selection *selection, const struct log_name *name)
{
	return log_name_is_listed(selection->replicas, selection->n_replicas, name) &&
	       (!selection->role || strcmp(selection->role, name->role) == 0) &&
	       (selection->index < 0 || selection->index == name->index) &&
	       (selection->attempt < 0 || selection->attempt == name->attempt);
}

int log_reader_new(const char *folder, const struct log_selection *selection,
		   struct log_reader **ret_reader, struct err *err)
{
	struct log_pattern *pattern;
	bool is_changed;
	int rc = log_pattern_new(selection->pattern, &pattern, err);

	if (rc)
		return rc;
	struct log_reader *reader = mem_new(sizeof(*reader));

	reader->selection = *selection;
	reader->pattern = pattern;
	reader->held_later_than = MSEC_NEVER;
	if (reader->selection.line_limit == 0)
		reader->selection.line_limit = LIMIT_LOG_LINE;
	log_folder_init(&reader->folder, folder);
	rc = log_folder_read(&reader->folder, &is_changed, err);
	if (rc) {
		log_reader_free(reader);
		return rc;
	}
	log_reader_poll(reader);
	reader->is_started = true;
	*ret_reader = reader;
	return 0;
}

void log_reader_show_unsaved_output(struct log_reader *reader,
				    struct unsaved_output *unsaved_output)
{
	reader->unsaved_output = unsaved_output;
	unsaved_output_set_shown(unsaved_output, true);
}

void log_reader_hold(struct log_reader *reader, msec later_than)
{
	reader->held_later_than = later_than;
}

void log_reader_give_up(struct log_reader *reader)
{
	if (reader->unsaved_output)
		unsaved_output_set_shown(reader->unsaved_output, false);
}

void log_reader_free(struct log_reader *reader)
{
	if (!reader)
		return;
	log_reader_give_up(reader);
	for (size_t i = 0; i < reader->n_replicas; i++) {
		log_stream_free(reader->replicas[i]->stream);
		mem_free_any(&reader->replicas[i]);
	}
	mem_free_any(&reader->replicas);
	log_pattern_free(reader->pattern);
	log_folder_done(&reader->folder);
	mem_free_any(&reader);
}

/* The start of the selected lines of one attempt. `*n_lines` is the number of lines still to find
 * (-1: all), and is decreased by those found. True when no earlier attempt is needed. */
static bool find_start(struct log_reader *reader, struct log_attempt *attempt, int64_t *n_lines,
		       int64_t *ret_offset)
{
	int64_t begin = log_attempt_begin(attempt);
	int64_t floor = begin;

	*ret_offset = begin;
	if (reader->selection.since == MSEC_UNSET && *n_lines < 0)
		return false;
	struct window *window CLEANUP(mem_free_any) = mem_new(sizeof(*window));

	window->attempt = attempt;
	if (reader->selection.since != MSEC_UNSET)
		floor = find_line_begin(window, begin,
					log_attempt_find_time(attempt, reader->selection.since));
	*ret_offset = floor;
	if (*n_lines >= 0)
		*ret_offset = log_tail_find(window, floor, reader->pattern,
					    reader->selection.line_limit, n_lines);
	return floor > begin || *n_lines == 0;
}

/* Searches from the last selected attempt of a replica backwards for the one where the selected
 * lines begin. False if none can be read. */
static bool find_replica_start(struct log_reader *reader, size_t first, size_t end,
			       struct start *ret_start)
{
	int64_t n_lines = reader->is_started ? -1 : reader->selection.tail;
	struct start start = {0};

	for (size_t i = end; i > first; i--) {
		const struct log_name *name = &reader->folder.names[i - 1];
		struct log_attempt *attempt;

		if (!log_selection_has(&reader->selection, name) ||
		    log_attempt_open(reader->folder.path, name, &attempt, NULL) != 0)
			continue;
		log_attempt_close(start.attempt);
		start.name = *name;
		start.attempt = attempt;
		if (find_start(reader, attempt, &n_lines, &start.offset))
			break;
	}
	*ret_start = start;
	return start.attempt != NULL;
}

/* Adds a replica whose logs are names[first] to names[end - 1]. --since and --tail apply to what
 * exists when reading starts; later attempts are read whole. */
static void add_replica(struct log_reader *reader, size_t place, size_t first, size_t end)
{
	const struct log_selection *selection = &reader->selection;
	struct start start;

	if (selection->is_previous) {
		if (end - first < 2)
			return;
		end--;
		first = end - 1;
	} else if (reader->is_started && selection->attempt < 0) {
		end = first + 1;
	}
	if (!find_replica_start(reader, first, end, &start))
		return;
	struct replica *replica = mem_new(sizeof(*replica));

	replica->name = start.name;
	replica->given_attempt = -1;
	replica->stream = log_stream_new(start.attempt, start.offset, selection->line_limit,
					 reader->unsaved_output, &replica->name);
	replica->is_last_wanted = selection->is_previous || selection->attempt >= 0;
	mem_grow(&reader->replicas, &reader->capacity, reader->n_replicas,
		 sizeof(*reader->replicas));
	memmove(&reader->replicas[place + 1], &reader->replicas[place],
		(reader->n_replicas - place) * sizeof(*reader->replicas));
	reader->replicas[place] = replica;
	reader->n_replicas++;
}

/* The directory's names are in the order of the replicas: by role, index and stream. */
static void add_new_replicas(struct log_reader *reader)
{
	const struct log_folder *folder = &reader->folder;
	size_t place = 0;

	for (size_t first = 0, end; first < folder->count; first = end) {
		const struct log_name *name = &folder->names[first];

		for (end = first + 1; end < folder->count; end++)
			if (!log_name_same_stream(name, &folder->names[end]))
				break;
		while (place < reader->n_replicas &&
		       log_name_compare(&reader->replicas[place]->name, name) < 0 &&
		       !log_name_same_stream(&reader->replicas[place]->name, name))
			place++;
		if (place == reader->n_replicas ||
		    !log_name_same_stream(&reader->replicas[place]->name, name))
			add_replica(reader, place, first, end);
	}
}

void log_reader_poll(struct log_reader *reader)
{
	bool is_changed = false;

	for (size_t i = 0; i < reader->n_replicas; i++)
		reader->replicas[i]->is_dry = false;
	reader->current = NULL;
	/* If the directory was deleted (with the job), open logs can still be read. */
	if (log_folder_read(&reader->folder, &is_changed, NULL) == 0 &&
	    (is_changed || !reader->is_started))
		add_new_replicas(reader);
}

void log_reader_end(struct log_reader *reader)
{
	reader->is_ended = true;
	log_reader_poll(reader);
}

static const struct log_name *next_attempt(const struct log_reader *reader,
					   const struct replica *replica)
{
	return replica->is_last_wanted ? NULL
				       : log_folder_next_attempt(&reader->folder, &replica->name);
}

/* Opens the next readable attempt; false when there is none so far. */
static bool open_next_attempt(struct log_reader *reader, struct replica *replica)
{
	const struct log_name *name;
	struct log_attempt *attempt;

	while ((name = next_attempt(reader, replica))) {
		log_stream_free(TAKE(replica->stream));
		replica->name = *name;
		if (log_attempt_open(reader->folder.path, name, &attempt, NULL) != 0)
			continue;
		replica->stream =
			log_stream_new(attempt, log_attempt_begin(attempt),
				       reader->selection.line_limit, reader->unsaved_output, name);
		replica->is_restarted = true;
		return true;
	}
	return false;
}

/* The next line of the open attempt; an unfinished line counts when no more can follow. */
static bool next_of_attempt(const struct log_reader *reader, struct replica *replica)
{
	if (!replica->stream)
		return false;
	if (log_stream_next(replica->stream, &replica->line))
		return true;
	bool is_over = reader->is_ended || next_attempt(reader, replica) ||
		       log_stream_is_complete(replica->stream);

	return is_over && log_stream_take_open(replica->stream, &replica->line);
}

/* Makes sure that the replica's next line is known, if there is one. */
static bool fetch(struct log_reader *reader, struct replica *replica)
{
	while (!replica->has_line && !replica->is_dry) {
		if (next_of_attempt(reader, replica))
			replica->has_line = log_pattern_matches(
				reader->pattern, replica->line.bytes, replica->line.len);
		else
			replica->is_dry = !open_next_attempt(reader, replica);
	}
	return replica->has_line;
}

/* Chooses the replica with the earliest line, and until when it stays the earliest. */
static void choose_current(struct log_reader *reader)
{
	reader->current = NULL;
	reader->current_until = MSEC_NEVER;
	for (size_t i = 0; i < reader->n_replicas; i++) {
		struct replica *replica = reader->replicas[i];

		if (!fetch(reader, replica))
			continue;
		if (!reader->current) {
			reader->current = replica;
		} else if (replica->line.time < reader->current->line.time) {
			reader->current_until = reader->current->line.time;
			reader->current = replica;
		} else {
			reader->current_until = msec_min(reader->current_until, replica->line.time);
		}
	}
}

/* Whether the replica's line is the first of its attempt, on either stream. */
static bool begins_attempt(const struct log_reader *reader, struct replica *replica)
{
	bool begins = replica->is_restarted;

	replica->is_restarted = false;
	for (size_t i = 0; begins && i < reader->n_replicas; i++) {
		const struct replica *other = reader->replicas[i];

		if (other != replica && log_name_same_replica(&other->name, &replica->name) &&
		    other->given_attempt >= replica->name.attempt)
			begins = false;
	}
	replica->given_attempt = replica->name.attempt;
	return begins;
}

bool log_reader_next(struct log_reader *reader, struct log_line *ret_line)
{
	bool is_current_first = reader->current && fetch(reader, reader->current) &&
				reader->current->line.time <= reader->current_until;

	if (!is_current_first)
		choose_current(reader);
	if (!reader->current || reader->current->line.time > reader->held_later_than)
		return false;
	struct replica *replica = reader->current;

	*ret_line = replica->line;
	ret_line->name = &replica->name;
	ret_line->is_first = begins_attempt(reader, replica);
	replica->has_line = false;
	return true;
}

bool log_reader_replica(struct log_reader *reader, size_t position, struct log_replica *ret_replica)
{
	if (position >= reader->n_replicas)
		return false;
	struct replica *replica = reader->replicas[position];

	*ret_replica = (struct log_replica){.name = replica->name};
	if (!replica->stream)
		return true;
	ret_replica->last_time = log_stream_last_time(replica->stream);
	if (!replica->has_line)
		ret_replica->has_open_line =
			log_stream_poll_open(replica->stream, &ret_replica->open_line);
	return true;
}

int log_last_lines(const char *folder, const char *role, int index, int attempt, size_t most,
		   struct arena *arena, struct printed *ret_printed, struct err *err)
{
	const size_t room = 2 * most; /* each of the two streams may have that many */
	const struct log_selection selection = {
		.role = role,
		.index = index,
		.attempt = attempt,
		.tail = (int64_t) most,
		.since = MSEC_UNSET,
	};
	struct printed printed = {
		.lines = arena_take_array(arena, room, sizeof(*printed.lines)),
		.times = arena_take_array(arena, room, sizeof(*printed.times)),
	};
	struct log_reader *reader;
	struct log_line line;
	int rc = log_reader_new(folder, &selection, &reader, err);

	if (rc)
		return rc;
	log_reader_poll(reader);
	log_reader_end(reader);
	while (printed.count < room && log_reader_next(reader, &line)) {
		if (line.is_continuation)
			continue;
		printed.times[printed.count] = line.time;
		int len =
			line.len < LIMIT_LAST_LINE_LENGTH ? (int) line.len : LIMIT_LAST_LINE_LENGTH;

		printed.lines[printed.count++] = arena_format(arena, "%.*s", len, line.bytes);
	}
	log_reader_free(reader);
	if (printed.count > most) {
		printed.lines += printed.count - most;
		printed.times += printed.count - most;
		printed.count = most;
	}
	*ret_printed = printed;
	return 0;
}
