#include "cli/copy_progress.h"

#include "base/amount.h"
#include "base/mem.h"
#include "cli/output.h"
#include "io/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BEGINNING (1 * MSEC_PER_SECOND) /* what is shorter needs no line */
#define STEP ((msec) 250)
#define CLEAR "\r\033[K"

struct copy_progress {
	struct loop_watch *timer;
	uint64_t (*count_bytes)(void *data);
	void *data;
	msec begun; /* of the clock that never jumps */
	bool is_shown;
};

static void show(void *data)
{
	struct copy_progress *progress = data;
	uint64_t bytes = progress->count_bytes(progress->data);
	msec taken = loop_monotonic_now() - progress->begun;
	char *amount CLEANUP(mem_free_text) = amount_of_bytes(bytes);
	char *rate CLEANUP(mem_free_text) = amount_of_bytes(
		(uint64_t) ((double) bytes * MSEC_PER_SECOND / (double) (taken > 0 ? taken : 1)));

	fprintf(stderr, CLEAR "%s, %s/s", amount, rate);
	progress->is_shown = true;
	loop_timer_arm(progress->timer, loop_now() + STEP);
}

struct copy_progress *copy_progress_new(struct loop *loop, uint64_t (*count_bytes)(void *data),
					void *data)
{
	struct copy_progress *progress = mem_new(sizeof(*progress));

	progress->count_bytes = count_bytes;
	progress->data = data;
	progress->begun = loop_monotonic_now();
	if (isatty(STDERR_FILENO) && terminal_understands_escapes(STDERR_FILENO)) {
		progress->timer = loop_new_timer(loop, show, progress);
		loop_timer_arm(progress->timer, loop_now() + BEGINNING);
	}
	return progress;
}

void copy_progress_end(struct copy_progress *progress)
{
	if (!progress)
		return;
	loop_watch_free(TAKE(progress->timer));
	if (progress->is_shown)
		fputs(CLEAR, stderr);
	progress->is_shown = false;
}

void copy_progress_free(struct copy_progress *progress)
{
	copy_progress_end(progress);
	free(progress);
}
