/* All objects of a job in the order in which they are made: the owner, what Pods need, the Pods;
 * and the ConfigMaps of its files alone. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/own.h"
#include "spec/job.h"
#include "spec/job_files.h"
#include "spec/job_secret.h"

/* Adds them to a list, as they are before the owner has a uid. Errors as objects_add_files. */
int objects_add_all(const struct job *job, const struct job_file *files, size_t n_files,
		    const struct job_secret *secret, struct json *list, struct err *err) MUST_USE;

/* Appends them to a list. What is text stands in `data` as it is, so that kubectl shows it;
 * anything else in `binaryData`. They cannot be changed once made (immutable), which spares the
 * kubelet a watch for each. ERR_LIMIT for a file that no ConfigMap can hold. */
int objects_add_files(const struct job *job, const struct job_file *files, size_t n_files,
		      const char *owner_uid, struct json *list, struct err *err) MUST_USE;
