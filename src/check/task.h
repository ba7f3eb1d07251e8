/* The servers and the training processes, by name. Only for the files of check/check*. */
#pragma once

#include "check/facts.h"

/* NULL: none of that name. */
struct check_task *check_find_task(const struct check *check, const char *name);
struct check_trainer *check_find_trainer(const struct check *check, const char *name);
/* The task of that name, added if new; NULL: too many tasks. */
struct check_task *check_add_task(struct check *check, const char *name);
/* Number of tasks of the role worker. */
int check_count_workers(const struct check *check);

/* A predicate on tasks. */
typedef bool (*check_task_fn)(const struct check_task *task);
bool check_task_serves(const struct check_task *task);
bool check_task_is_listed(const struct check_task *task); /* its devices are listed */
bool check_task_has_run(const struct check_task *task);
bool check_task_has_answered(const struct check_task *task);
bool check_task_is_stopped(const struct check_task *task);
/* Number of tasks for which the predicate holds. */
size_t check_count_tasks(const struct check *check, check_task_fn is_so);

/* The names of tasks (or training processes) for users: "ps-1", "ps-0 and ps-1", "worker-0,
 * worker-1 and 6 more". */
struct check_names {
	const char *shown[2];
	size_t count;
};
void check_names_add(struct check_names *names, const char *name);
/* Adds the names of the tasks for which the predicate does not hold. */
void check_names_add_others(struct check_names *names, const struct check *check,
			    check_task_fn is_so);
void check_names_write(const struct check_names *names, struct text *text);
