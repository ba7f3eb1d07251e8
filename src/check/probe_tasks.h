/* Finds the tasks of a cluster through one of its servers. For the files of check/probe* alone. */
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

/* Adds those that answer. Those that do not are told as errors, and ERR_UNREACHABLE is returned. */
int probe_tasks_find(const struct probe_request *request, const struct probe_servers *servers,
		     const struct library *library, struct probe_tasks *tasks) MUST_USE;
