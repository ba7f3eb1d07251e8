/* All objects of a job in their order of creation: the owner, what Pods need, the Pods; and the
 * ConfigMaps of its files alone. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/own.h"
#include "spec/job.h"
#include "spec/job_files.h"

/* Appends all objects to a list, in the form before the owner has a uid. Errors as in
 * objects_add_files. */
int objects_add_all(const struct job *job, const struct job_file *files, size_t n_files,
		    const struct job_secret *secret, struct json *list, struct err *err) MUST_USE;

/* Appends the ConfigMaps of the files to a list. Text is in `data` unchanged, so that kubectl shows
 * it; other bytes are in `binaryData`. The ConfigMaps are immutable, which saves the kubelet a
 * watch for each. Returns ERR_LIMIT if a file is too large for a ConfigMap. */
int objects_add_files(const struct job *job, const struct job_file *files, size_t n_files,
		      const char *owner_uid, struct json *list, struct err *err) MUST_USE;
