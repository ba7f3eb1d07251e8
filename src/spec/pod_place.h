/* Adds places in a user's files to a cluster's messages about Pods made from them. The messages
 * name fields ("unknown field \"spec.containers[0].imagePullPolcy\""), but no file. */
#pragma once

#include "base/text.h"
#include "base/yaml.h"

#include <stddef.h>

/* A TFJob, or a file with a Pod template by spec/pod_build.h. */
struct pod_file {
	const char *name; /* for faults */
	const struct document *document;
};

/* Adds the sentence, or its lines, with the places after each field of a Pod that one of the files
 * has: `unknown field "spec.x" (job.yaml:12:9)`. */
void pod_place_add(const struct pod_file *files, size_t n_files, const char *sentence,
		   struct text *text);
