#include "check/task.h"

#include <string.h>

/* For a remote cluster, whose list of devices names its tasks. */
#define TASKS_MOST 1000

struct check_task *check_find_task(const struct check *check, const char *name)
{
	for (size_t i = 0; i < check->n_tasks; i++)
		if (text_equals(check->tasks[i].name, name))
			return &check->tasks[i];
	return NULL;
}

struct check_trainer *check_find_trainer(const struct check *check, const char *name)
{
	for (size_t i = 0; i < check->n_trainers; i++)
		if (text_equals(check->trainers[i].name, name))
			return &check->trainers[i];
	return NULL;
}

struct check_task *check_add_task(struct check *check, const char *name)
{
	struct check_task *task = check_find_task(check, name);

	if (task || check->n_tasks == TASKS_MOST)
		return task;
	mem_grow(&check->tasks, &check->tasks_capacity, check->n_tasks, sizeof(*check->tasks));
	task = &check->tasks[check->n_tasks++];
	*task = (struct check_task){.name = arena_copy_text(check->arena, name)};
	return task;
}

int check_count_workers(const struct check *check)
{
	int count = 0;

	for (size_t i = 0; i < check->n_tasks; i++)
		count += text_starts_with(check->tasks[i].name, "worker-");
	return count;
}

bool check_task_serves(const struct check_task *task)
{
	return task->target != NULL;
}

bool check_task_is_listed(const struct check_task *task)
{
	return task->has_devices;
}

bool check_task_has_run(const struct check_task *task)
{
	return task->has_run;
}

bool check_task_has_answered(const struct check_task *task)
{
	return task->has_answered;
}

bool check_task_is_stopped(const struct check_task *task)
{
	return task->is_stopped;
}

size_t check_count_tasks(const struct check *check, check_task_fn is_so)
{
	size_t count = 0;

	for (size_t i = 0; i < check->n_tasks; i++)
		count += is_so(&check->tasks[i]);
	return count;
}

void check_names_add(struct check_names *names, const char *name)
{
	if (names->count < ARRAY_LEN(names->shown))
		names->shown[names->count] = name;
	names->count++;
}

void check_names_add_others(struct check_names *names, const struct check *check,
			    check_task_fn is_so)
{
	for (size_t i = 0; i < check->n_tasks; i++)
		if (!is_so(&check->tasks[i]))
			check_names_add(names, check->tasks[i].name);
}

void check_names_write(const struct check_names *names, struct text *text)
{
	if (names->count == 0)
		return;
	text_add(text, names->shown[0]);
	if (names->count == 2)
		text_addf(text, " and %s", names->shown[1]);
	if (names->count > 2)
		text_addf(text, ", %s and %zu more", names->shown[1], names->count - 2);
}
