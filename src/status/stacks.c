#include "status/stacks.h"

#include "base/line_text.h"
#include "status/status.h"

#include <inttypes.h>

#define OUR_MARK "# "

static void add_safely(struct text *text, const char *words)
{
	line_text_add_sentence(text, words, strlen(words));
}

/* On Linux the main thread's id is the process id; with musl's libc threads have no ids. */
static bool is_main(const struct json *thread)
{
	int64_t id = json_as_integer(json_get(thread, "os_thread_id"), 0);

	return id ? id == json_as_integer(json_get(thread, "pid"), 0)
		  : text_equals(json_get_string(thread, "thread_name", "?"), "MainThread");
}

static void add_head(struct text *text, const struct json *thread)
{
	if (is_main(thread)) {
		text_add(text, "Current thread 0");
	} else {
		text_addf(text, "Thread %" PRId64 " [",
			  json_as_integer(json_get(thread, "os_thread_id"), 0));
		add_safely(text, json_get_string(thread, "thread_name", "?"));
		text_add(text, "]");
	}
	text_add(text, " (most recent call first):\n");
}

static void add_spied_frame(struct text *text, const struct json *frame)
{
	text_add(text, "  File \"");
	add_safely(text, json_get_string(frame, "filename", "?"));
	text_addf(text, "\", line %" PRId64 " in ", json_as_integer(json_get(frame, "line"), 0));
	add_safely(text, json_get_string(frame, "name", "?"));
	text_add_char(text, '\n');
}

static void add_threads(struct text *text, const struct text *output)
{
	struct json *threads CLEANUP(json_cleanup) = NULL;
	struct err err = {0};

	if (output->len == 0)
		return;
	if (json_read_repaired(output->bytes, output->len, &threads, &err) < 0 ||
	    json_type_of(threads) != JSON_ARRAY) {
		stacks_add_obstacle(text, "the output of py-spy cannot be read");
		return;
	}
	for (size_t i = 0; i < json_count(threads); i++) {
		const struct json *frames = json_get(json_at(threads, i), "frames");

		add_head(text, json_at(threads, i));
		for (size_t j = 0; j < json_count(frames); j++)
			add_spied_frame(text, json_at(frames, j));
	}
}

void spied_stacks_add(struct text *text, const char *output)
{
	struct text threads CLEANUP(text_done) = {0};

	for (size_t len; *output; output += len) {
		len = strcspn(output, "\n");
		len += output[len] == '\n';
		if (!text_starts_with(output, OUR_MARK)) {
			text_add_bytes(&threads, output, len);
			continue;
		}
		add_threads(text, &threads);
		text_clear(&threads);
		text_add_bytes(text, output, len);
	}
	add_threads(text, &threads);
}

#define PROCESS_MARK "# process "
#define THREAD_MARK "Thread "
#define MAIN_MARK "Current thread " /* the thread that was asked, which is the main thread */
#define FRAME_MARK "  "
#define MOST_FRAMES 128 /* faulthandler writes 100 of a thread */

void stacks_done(struct stacks *stacks)
{
	free(stacks->list);
	*stacks = (struct stacks){0};
}

/* Writing. */

void stacks_add_process(struct text *text, int64_t pid, const char *command)
{
	text_addf(text, PROCESS_MARK "%" PRId64 " ", pid);
	line_text_add_sentence(text, command, strlen(command));
	text_add_char(text, '\n');
}

void stacks_add_obstacle(struct text *text, const char *obstacle)
{
	text_addf(text, OUR_MARK "%s\n", obstacle);
}

/* Reading. */

static struct stack *add_stack(struct stacks *stacks, const struct stack *stack)
{
	mem_grow(&stacks->list, &stacks->capacity, stacks->count, sizeof(*stacks->list));
	stacks->list[stacks->count] = *stack;
	return &stacks->list[stacks->count++];
}

/* File names are untrusted text. */
static const char *copy_safely(const char *bytes, size_t len, struct arena *arena)
{
	struct text text CLEANUP(text_done) = {0};

	line_text_add_sentence(&text, bytes, len);
	return arena_copy_text(arena, text_of(&text));
}

static const char *rest_of(const char *line, const char *mark, struct arena *arena)
{
	const char *rest = line + strlen(mark);

	return copy_safely(rest, strlen(rest), arena);
}

/* The name in "Thread 0x00007f0d [name] (most recent call first):". */
static const char *name_of_thread(const char *line, struct arena *arena)
{
	const char *name = line + strlen(THREAD_MARK);
	const char *end = strstr(name, " (most recent");

	return copy_safely(name, end ? (size_t) (end - name) : strlen(name), arena);
}

static void add_frame(struct stack *stack, const char *line, struct arena *arena)
{
	if (stack->n_frames == MOST_FRAMES)
		return;
	if (!stack->frames)
		stack->frames = arena_take_array(arena, MOST_FRAMES, sizeof(*stack->frames));
	stack->frames[stack->n_frames++] = rest_of(line, FRAME_MARK, arena);
}

/* The result of the lines read so far. */
struct reading {
	struct stacks *stacks;
	struct arena *arena;
	struct stack process; /* the process of the next thread */
	struct stack *stack; /* the stack of the next frame; NULL: none */
};

static void read_stack_line(struct reading *reading, const char *line)
{
	struct stack next = reading->process;

	if (text_starts_with(line, PROCESS_MARK)) {
		reading->process.process = rest_of(line, PROCESS_MARK, reading->arena);
		reading->stack = NULL;
	} else if (text_starts_with(line, OUR_MARK)) {
		next.obstacle = rest_of(line, OUR_MARK, reading->arena);
		add_stack(reading->stacks, &next);
		reading->stack = NULL;
	} else if (text_starts_with(line, MAIN_MARK) || text_starts_with(line, THREAD_MARK)) {
		if (text_starts_with(line, THREAD_MARK))
			next.thread = name_of_thread(line, reading->arena);
		reading->stack = add_stack(reading->stacks, &next);
	} else if (text_starts_with(line, FRAME_MARK) && reading->stack) {
		add_frame(reading->stack, line, reading->arena);
	}
}

void stacks_read(struct stacks *stacks, const char *text, const char *role, int index,
		 struct arena *arena)
{
	struct reading reading = {
		.stacks = stacks,
		.arena = arena,
		.process = {.role = arena_copy_text(arena, role), .index = index},
	};

	while (*text) {
		size_t len = strcspn(text, "\n");
		char *line CLEANUP(mem_free_text) = mem_copy_bytes(text, len);

		read_stack_line(&reading, line);
		text += len + (text[len] == '\n');
	}
}

/* Showing. */

static bool is_alike(const struct stack *a, const struct stack *b)
{
	if (a->n_frames != b->n_frames || !text_equals(a->obstacle, b->obstacle) ||
	    !a->thread != !b->thread)
		return false;
	for (size_t i = 0; i < a->n_frames; i++)
		if (!text_equals(a->frames[i], b->frames[i]))
			return false;
	return true;
}

static bool is_of_replica(const struct stack *stack, const char *role, int index)
{
	return text_equals(stack->role, role) && stack->index == index;
}

/* One or more stacks shown as one. */
struct group {
	const struct stack **members; /* in list order */
	size_t count;
};

/* Two are no range. */
static void add_range(const struct stack *first, int last, struct text *text)
{
	bool is_pair = last == first->index + 1;

	if (text->len && text->bytes[text->len - 1] != '\n')
		text_add(text, ", ");
	replica_names_add_range(text, first->role, first->index, is_pair ? first->index : last);
	if (is_pair)
		text_addf(text, ", %s-%d", first->role, last);
}

/* Appends the replicas, each once: "worker-0, worker-2 to worker-5". */
static void add_stack_replicas(const struct group *group, struct text *text)
{
	const struct stack *first = group->members[0];
	int last = first->index;

	for (size_t i = 1; i < group->count; i++) {
		const struct stack *stack = group->members[i];

		if (is_of_replica(stack, first->role, last))
			continue;
		if (is_of_replica(stack, first->role, last + 1)) {
			last++;
			continue;
		}
		add_range(first, last, text);
		first = stack;
		last = stack->index;
	}
	add_range(first, last, text);
}

/* Names the processes if a replica has several. */
static void add_stack_count(const struct group *group, struct text *text)
{
	const char *what = group->members[0]->thread ? "threads" : "processes";
	size_t n_replicas = 1;

	for (size_t i = 1; i < group->count; i++)
		if (!is_of_replica(group->members[i], group->members[i - 1]->role,
				   group->members[i - 1]->index))
			n_replicas++;
	if (group->count > n_replicas)
		text_addf(text, ", %zu %s", group->count, what);
	else if (group->members[0]->thread)
		text_addf(text, ", thread %s", group->members[0]->thread);
}

/* Calls `fn` for each group of equal stacks. */
static void each_group(const struct stacks *stacks, bool has_all_threads,
		       void (*fn)(const struct group *group, void *data), void *data)
{
	bool *is_shown CLEANUP(mem_free_any) = mem_new_array(stacks->count + 1, sizeof(*is_shown));
	const struct stack **members CLEANUP(mem_free_any) =
		mem_new_array(stacks->count + 1, sizeof(*members));

	for (size_t i = 0; i < stacks->count; i++) {
		struct group group = {members, 0};

		if (is_shown[i] || (stacks->list[i].thread && !has_all_threads))
			continue;
		for (size_t j = i; j < stacks->count; j++)
			if (!is_shown[j] && is_alike(&stacks->list[i], &stacks->list[j])) {
				is_shown[j] = true;
				members[group.count++] = &stacks->list[j];
			}
		fn(&group, data);
	}
}

static void describe_group(const struct group *group, void *data)
{
	struct text *text = data;
	const struct stack *first = group->members[0];

	if (text->len)
		text_add_char(text, '\n');
	add_stack_replicas(group, text);
	add_stack_count(group, text);
	if (group->count == 1 && first->process)
		text_addf(text, " (process %s)", first->process);
	if (first->obstacle)
		text_addf(text, ": %s", first->obstacle);
	text_add_char(text, '\n');
	for (size_t i = 0; i < first->n_frames; i++)
		text_addf(text, "  %s\n", first->frames[i]);
}

void stacks_describe(const struct stacks *stacks, bool has_all_threads, struct text *text)
{
	each_group(stacks, has_all_threads, describe_group, text);
}

static struct json *stack_to_json(const struct stack *stack)
{
	char *replica CLEANUP(mem_free_text) = mem_format("%s-%d", stack->role, stack->index);
	struct json *object =
		json_new_texts("replica", replica, "process", stack->process, "thread",
			       stack->thread, "obstacle", stack->obstacle, NULL);

	for (size_t i = 0; i < stack->n_frames; i++)
		json_append(json_array_at(object, "frames"), json_new_string(stack->frames[i]));
	return object;
}

struct json *stacks_to_json(const struct stacks *stacks, bool has_all_threads)
{
	struct json *array = json_new_array();

	for (size_t i = 0; i < stacks->count; i++)
		if (has_all_threads || !stacks->list[i].thread)
			json_append(array, stack_to_json(&stacks->list[i]));
	return array;
}

/* The parts of a frame, which point into it. */
struct code_place {
	const char *file; /* its last component */
	size_t file_len;
	int line;
	const char *function;
	bool is_library; /* of Python or an installed package */
};

static bool is_in_library(const char *path, size_t len)
{
	static const char *const folders[] = {"/site-packages/", "/dist-packages/", "/lib/python3"};

	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		if (memmem(path, len, folders[i], strlen(folders[i])))
			return true;
	return len > 0 && path[0] == '<'; /* <frozen runpy> */
}

/* File "train.py", line 12 in main */
static bool read_frame(const char *frame, struct code_place *ret_place)
{
	static const char begin[] = "File \"", middle[] = "\", line ", end[] = " in ";
	const char *quote = strstr(frame, middle);
	const char *function = quote ? strstr(quote, end) : NULL;

	if (!text_starts_with(frame, begin) || !function)
		return false;
	const char *path = frame + strlen(begin);
	const char *slash = memrchr(path, '/', (size_t) (quote - path));

	*ret_place = (struct code_place){
		.file = slash ? slash + 1 : path,
		.line = (int) strtol(quote + strlen(middle), NULL, 10),
		.function = function + strlen(end),
		.is_library = is_in_library(path, (size_t) (quote - path)),
	};
	ret_place->file_len = (size_t) (quote - ret_place->file);
	return true;
}

/* The innermost frame, and the frame in the user's own files that led to it. */
static void add_place(const struct stack *stack, struct text *text)
{
	struct code_place place, own;

	if (stack->n_frames == 0 || !read_frame(stack->frames[0], &place)) {
		text_add(text, stack->n_frames ? stack->frames[0] : "no Python frame");
		return;
	}
	text_addf(text, "%s (%.*s:%d)", place.function, (int) place.file_len, place.file,
		  place.line);
	for (size_t i = 1; place.is_library && i < stack->n_frames; i++) {
		if (!read_frame(stack->frames[i], &own) || own.is_library)
			continue;
		text_addf(text, ", from %.*s:%d", (int) own.file_len, own.file, own.line);
		return;
	}
}

struct summary_lines {
	const char **lines;
	size_t count, most, n_more;
	struct arena *arena;
};

static void summarize_group(const struct group *group, void *data)
{
	struct summary_lines *summary = data;
	struct text text CLEANUP(text_done) = {0};

	if (group->members[0]->obstacle)
		return;
	if (summary->count == summary->most) {
		summary->n_more++;
		return;
	}
	add_stack_replicas(group, &text);
	add_stack_count(group, &text);
	text_add(&text, ": ");
	add_place(group->members[0], &text);
	summary->lines[summary->count++] = arena_copy_text(summary->arena, text_of(&text));
}

const char **stacks_summarize(const struct stacks *stacks, size_t most, struct arena *arena,
			      size_t *ret_count)
{
	struct summary_lines summary = {
		.lines = arena_take_array(arena, most + 1, sizeof(*summary.lines)),
		.most = most,
		.arena = arena,
	};

	each_group(stacks, false, summarize_group, &summary);
	if (summary.n_more)
		summary.lines[summary.count++] =
			arena_format(arena, "and %zu more", summary.n_more);
	*ret_count = summary.count;
	return summary.lines;
}
