/* The servers and the processes that train, by name. For the files of check/check* alone. */
#pragma once

#include "check/facts.h"

/* NULL where there is none of that name. */
struct check_task *check_find_task(const struct check *check, const char *name);
struct check_trainer *check_find_trainer(const struct check *check, const char *name);
/* The task of that name, added when it is new; NULL when there are too many. */
struct check_task *check_add_task(struct check *check, const char *name);
/* Tasks of the role worker. */
int check_count_workers(const struct check *check);

/* What may be known of a task. */
typedef bool (*check_task_fn)(const struct check_task *task);
bool check_task_serves(const struct check_task *task);
bool check_task_is_listed(const struct check_task *task); /* its devices are */
bool check_task_has_run(const struct check_task *task);
bool check_task_has_answered(const struct check_task *task);
bool check_task_is_stopped(const struct check_task *task);
/* How many tasks that is known of. */
size_t check_count_tasks(const struct check *check, check_task_fn is_so);

/* The names of tasks (or trainers) as people list them: "ps-1", "ps-0 and ps-1", "worker-0,
 * worker-1 and 6 more". */
struct check_names {
	const char *shown[2];
	size_t count;
};
void check_names_add(struct check_names *names, const char *name);
/* The names of the tasks that it is not known of. */
void check_names_add_others(struct check_names *names, const struct check *check,
			    check_task_fn is_so);
void check_names_write(const struct check_names *names, struct text *text);
