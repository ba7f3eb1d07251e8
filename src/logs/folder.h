/* Lists the attempts that have logs in a job's log directory. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "base/text.h"
#include "logs/name.h"

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

/* Names sorted by role, index, stream and attempt. */
struct log_folder {
	char *path;
	struct log_name *names;
	size_t count;
	size_t capacity;
	struct timespec changed; /* of the directory at the last read */
	bool is_stable; /* a later change shows in the directory's time */
};

/* Does not read yet. */
void log_folder_init(struct log_folder *folder, const char *path);
void log_folder_done(struct log_folder *folder);

/* Reads the names again if the directory may have changed: *ret_is_changed. ERR_NOT_FOUND,
 * ERR_IO. */
int log_folder_read(struct log_folder *folder, bool *ret_is_changed, struct err *err) MUST_USE;

/* The next attempt of the same stream of a replica that has a log; NULL when there is none. */
const struct log_name *log_folder_next_attempt(const struct log_folder *folder,
					       const struct log_name *name);

/* Adds the replicas as text: "worker-0..3, ps-0"; nothing without replicas. */
void log_folder_describe_replicas(const struct log_folder *folder, struct text *text);
