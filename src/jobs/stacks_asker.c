#include "jobs/stacks_asker.h"

#include "io/file.h"
#include "io/log.h"
#include "io/python_stacks.h"
#include "jobs/processes.h"

#include <sys/file.h>

/* A process answers in less than a millisecond, unless it has to wait for a CPU. */
#define LOOK_EVERY ((msec) 2)
#define ANSWER_LIMIT MSEC_PER_SECOND
#define LONGEST_COMMAND 1024

struct asked {
	char *role;
	int index;
	char *path; /* of its file */
	char *attempt; /* "worker-0.2" */
	int fd; /* its file, locked; -1: not yet */
	pid_t *pids;
	size_t n_pids, capacity;
	size_t next; /* position in its processes */
	bool is_waiting; /* for the process before that */
	off_t size; /* of the file before that request */
	instant until; /* deadline of the answer, or of the lock */
	bool has_answer; /* at least one process has answered */
	bool is_done;
	char *answer; /* then: the contents of the file; NULL: unreadable */
};

struct stacks_asker {
	void (*on_done)(void *data);
	void *data;
	struct loop_watch *timer;
	struct asked *list;
	size_t count;
};

void stacks_asker_free(struct stacks_asker *asker)
{
	if (!asker)
		return;
	for (size_t i = 0; i < asker->count; i++) {
		file_close(&asker->list[i].fd);
		free(asker->list[i].role);
		free(asker->list[i].answer);
		free(asker->list[i].path);
		free(asker->list[i].attempt);
		free(asker->list[i].pids);
	}
	loop_watch_free(asker->timer);
	free(asker->list);
	free(asker);
}

void stacks_asker_read(const struct stacks_asker *asker, struct arena *arena, struct stacks *stacks)
{
	for (size_t i = 0; i < asker->count; i++) {
		const struct asked *asked = &asker->list[i];

		if (asked->answer)
			stacks_read(stacks, asked->answer, asked->role, asked->index, arena);
	}
}

/* Processes. */

static void add_process(struct asked *asked, pid_t pid)
{
	for (size_t i = 0; i < asked->n_pids; i++)
		if (asked->pids[i] == pid)
			return;
	mem_grow(&asked->pids, &asked->capacity, asked->n_pids, sizeof(*asked->pids));
	asked->pids[asked->n_pids++] = pid;
}

static void assign_process(pid_t pid, const char *attempt, void *data)
{
	struct stacks_asker *asker = data;

	for (size_t i = 0; i < asker->count; i++)
		if (text_equals(asker->list[i].attempt, attempt))
			add_process(&asker->list[i], pid);
}

/* The words of its command line, separated by spaces. */
static char *process_command_of(pid_t pid)
{
	char *path CLEANUP(mem_free_text) = mem_format("/proc/%d/cmdline", (int) pid);
	char buf[LONGEST_COMMAND];
	int fd CLEANUP(file_close) = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = fd < 0 ? 0 : file_read_at(fd, buf, sizeof(buf), 0);

	for (size_t i = 0; i < len; i++)
		if (buf[i] == '\0')
			buf[i] = ' ';
	return mem_copy_bytes(buf, len && buf[len - 1] == ' ' ? len - 1 : len);
}

/* One file. */

static void write_line(const struct asked *asked, const struct text *text)
{
	int error = file_write_all(asked->fd, text->bytes, text->len, NULL);

	if (error)
		log_info("stacks of %s-%d: %s", asked->role, asked->index, strerror(error));
}

static void name_process(const struct asked *asked, pid_t pid, const char *obstacle)
{
	char *command CLEANUP(mem_free_text) = process_command_of(pid);
	struct text text CLEANUP(text_done) = {0};

	stacks_add_process(&text, pid, command);
	if (obstacle)
		stacks_add_obstacle(&text, obstacle);
	write_line(asked, &text);
}

/* Requests from the next process that can answer; false when there is none. */
static bool ask_next(struct asked *asked, instant now)
{
	struct stat file;

	while (asked->next < asked->n_pids) {
		pid_t pid = asked->pids[asked->next++];

		if (python_stacks_obstacle(pid, asked->fd))
			continue;
		name_process(asked, pid, NULL);
		asked->size = fstat(asked->fd, &file) == 0 ? file.st_size : 0;
		if (python_stacks_ask(pid, NULL) < 0)
			continue;
		asked->has_answer = asked->is_waiting = true;
		asked->until = instant_add(now, ANSWER_LIMIT);
		return true;
	}
	return false;
}

/* A shell around the script need not be reported when the script has answered. */
static void finish_stacks_question(struct asked *asked)
{
	if (!asked->has_answer && asked->n_pids && asked->fd >= 0)
		name_process(asked, asked->pids[0],
			     python_stacks_obstacle(asked->pids[0], asked->fd));
	asked->answer = stacks_file_text(asked->path);
	file_close(&asked->fd); /* and with it the lock */
	asked->is_done = true;
}

static void start_stacks_question(struct asked *asked, instant now)
{
	if (asked->fd < 0)
		asked->fd = file_open_regular(asked->path, O_RDWR | O_APPEND | O_CREAT);
	/* Two clients that request at the same time take turns. */
	if (asked->fd < 0 || flock(asked->fd, LOCK_EX | LOCK_NB) != 0) {
		if (asked->fd < 0 || instant_has_come(asked->until, now))
			finish_stacks_question(asked);
		return;
	}
	asked->until = INSTANT_UNSET;
	(void) !ftruncate(asked->fd, 0);
	if (!ask_next(asked, now))
		finish_stacks_question(asked);
}

static void continue_stacks_question(struct asked *asked, instant now)
{
	pid_t pid = asked->next ? asked->pids[asked->next - 1] : 0;

	if (asked->next == 0 && !asked->is_waiting) {
		start_stacks_question(asked, now);
		return;
	}
	if (asked->is_waiting && python_stacks_are_written(pid, asked->fd, asked->size)) {
		asked->is_waiting = false;
	} else if (asked->is_waiting && instant_has_come(asked->until, now)) {
		struct text text CLEANUP(text_done) = {0};

		stacks_add_obstacle(&text, "did not respond within 1s");
		write_line(asked, &text);
		asked->is_waiting = false;
	}
	if (!asked->is_waiting && !ask_next(asked, now))
		finish_stacks_question(asked);
}

static void on_stacks_poll_timer(void *data)
{
	struct stacks_asker *asker = data;
	instant now = loop_monotonic_now();
	bool is_done = true;

	for (size_t i = 0; i < asker->count; i++) {
		if (!asker->list[i].is_done)
			continue_stacks_question(&asker->list[i], now);
		is_done = is_done && asker->list[i].is_done;
	}
	if (is_done)
		asker->on_done(asker->data);
	else
		loop_timer_arm(asker->timer, instant_add(now, LOOK_EVERY));
}

struct stacks_asker *stacks_asker_new(const struct stacks_asker_settings *settings,
				      const struct stacks_replica *replicas, size_t n_replicas)
{
	struct stacks_asker *asker = mem_new(sizeof(*asker));
	instant now = loop_monotonic_now();

	*asker = (struct stacks_asker){
		.on_done = settings->on_done,
		.data = settings->data,
		.timer = loop_new_timer(settings->loop, on_stacks_poll_timer, asker),
		.list = mem_new_array(n_replicas + 1, sizeof(*asker->list)),
		.count = n_replicas,
	};
	for (size_t i = 0; i < n_replicas; i++) {
		const struct stacks_replica *replica = &replicas[i];
		struct asked *asked = &asker->list[i];

		*asked = (struct asked){
			.role = mem_copy_text(replica->role),
			.index = replica->index,
			.path = job_attempt_file(settings->job_folder, replica->role,
						 replica->index, replica->attempt, STACKS_FILE),
			.attempt = job_processes_attempt(replica->role, replica->index,
							 replica->attempt),
			.fd = -1,
			.until = instant_add(now, ANSWER_LIMIT),
		};
		if (replica->pid > 0)
			add_process(asked, replica->pid);
	}
	job_processes_each(settings->uid, assign_process, asker);
	loop_timer_arm(asker->timer, now);
	return asker;
}
