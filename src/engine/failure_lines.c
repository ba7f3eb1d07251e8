#include "engine/failure_lines.h"

#include "core/exception.h"
#include "core/limits.h"
#include "core/log_noise.h"

void failure_lines_done(struct failure_lines *lines)
{
	arena_free(lines->said.arena);
	*lines = (struct failure_lines){0};
}

static struct failure *change_failure(struct plan *plan, struct arena *arena)
{
	struct failure *changed = arena_take(arena, sizeof(*changed));

	*changed = *plan->status.failure;
	plan->status.failure = changed;
	plan->is_failure_new = plan->is_status_changed = true;
	return changed;
}

/* In place; all stay where nothing else is among them. Gives how many stay. */
static size_t leave_out_noise(const char **lines, size_t count)
{
	size_t kept = 0, n_noise = 0;

	for (size_t i = 0; i < count; i++)
		n_noise += log_noise_is(lines[i]);
	for (size_t i = 0; n_noise < count && i < count; i++)
		if (!log_noise_is(lines[i]))
			lines[kept++] = lines[i];
	return n_noise < count ? kept : count;
}

static void add_last_lines(struct failure_lines *lines, struct backend *backend,
			   const struct job *job, struct plan *plan, struct arena *arena)
{
	const struct failure *failure = plan->status.failure;
	const char **last = NULL;
	size_t count = 0;

	lines->awaits_lines = false;
	if (!failure || !failure->role || failure->n_last_lines)
		return;
	int rc = backend->functions->last_lines(backend, job, failure->role, failure->index,
						failure->attempt, LIMIT_SEARCHED_LINES, arena,
						&last, &count, NULL);

	lines->awaits_lines = rc == ERR_UNREACHABLE;
	if (rc < 0 || count == 0)
		return;
	struct failure *changed = change_failure(plan, arena);

	changed->exception = exception_find(last, count, arena);
	count = leave_out_noise(last, count);
	changed->n_last_lines = count < LIMIT_LAST_LINES ? count : LIMIT_LAST_LINES;
	changed->last_lines = last + count - changed->n_last_lines;
}

static void add_stacks(struct failure_lines *lines, struct backend *backend, struct plan *plan,
		       struct arena *arena)
{
	const struct failure *failure = plan->status.failure;
	const char **stacks = NULL;
	size_t count = 0;

	if (!failure || failure->role ||
	    backend->functions->last_stacks(backend, arena, &stacks, &count, NULL) < 0)
		return;
	struct failure *changed = change_failure(plan, arena);

	lines->awaits_stacks = false;
	changed->stacks = stacks;
	changed->n_stacks = count;
	changed->last_lines = lines->said.lines;
	changed->n_last_lines = lines->said.count;
}

void failure_lines_add(struct failure_lines *lines, struct backend *backend, const struct job *job,
		       struct plan *plan, struct arena *arena)
{
	if (plan->is_failure_new || lines->awaits_lines)
		add_last_lines(lines, backend, job, plan, arena);
	if (lines->awaits_stacks)
		add_stacks(lines, backend, plan, arena);
}

void failure_lines_add_again(struct failure_lines *lines)
{
	lines->awaits_lines = true;
	lines->awaits_stacks = lines->said.arena != NULL;
}

static void keep_line_of_each(struct said *said, struct backend *backend, const struct job *job,
			      const struct status *status)
{
	said->arena = arena_new();
	said->lines = arena_take_array(said->arena, LIMIT_LAST_LINES, sizeof(*said->lines));
	for (size_t i = 0; i < status->n_replicas && said->count < LIMIT_LAST_LINES; i++) {
		const struct replica_status *replica = &status->replicas[i];
		const char **last = NULL;
		size_t count = 0;
		int rc = backend->functions->last_lines(backend, job, replica->role, replica->index,
							replica->attempt, LIMIT_LAST_LINES,
							said->arena, &last, &count, NULL);

		count = rc == 0 ? leave_out_noise(last, count) : 0;
		if (count > 0)
			said->lines[said->count++] =
				arena_format(said->arena, "%s-%d | %s", replica->role,
					     replica->index, last[count - 1]);
	}
}

void failure_lines_note_actions(struct failure_lines *lines, struct backend *backend,
				const struct job *job, const struct plan *plan)
{
	bool are_kept = false;

	for (size_t i = 0; backend->functions->last_stacks && i < plan->n_actions; i++)
		are_kept = are_kept || plan->actions[i].keeps_stacks;
	if (!are_kept || lines->said.arena)
		return;
	lines->awaits_stacks = true;
	keep_line_of_each(&lines->said, backend, job, &plan->status);
}
