/* Where in a person's files stands what a cluster says of the Pods that are made of them: it names
 * a field ("unknown field \"spec.containers[0].imagePullPolcy\""), and knows of no file. */
#pragma once

#include "base/text.h"
#include "base/yaml.h"

#include <stddef.h>

/* A TFJob, or what spec/pod_build.h takes for a Pod template. */
struct pod_file {
	const char *name; /* as faults name it */
	const struct document *document;
};

/* Adds the sentence, or lines of them, with the places behind each field of a Pod that it names and
 * that one of the files has: `unknown field "spec.x" (job.yaml:12:9)`. */
void pod_place_add(const struct pod_file *files, size_t n_files, const char *sentence,
		   struct text *text);
