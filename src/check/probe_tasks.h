/* Finds the tasks of a cluster through one of its servers. Only for the files of check/probe*. */
#pragma once

#include "base/own.h"
#include "check/probe_event.h"
#include "check/probe_servers.h"

struct probe_task {
	char *name; /* "worker-0" */
	char *job;
	int index;
};

struct probe_tasks {
	struct probe_task *tasks;
	size_t count;
	size_t capacity;
};

void probe_tasks_done(struct probe_tasks *tasks);

/* Adds the tasks that answer. The others are reported as errors; then it returns
 * ERR_UNREACHABLE. */
int probe_tasks_find(const struct probe_request *request, const struct probe_servers *servers,
		     const struct library *library, struct probe_tasks *tasks) MUST_USE;
