/* The fields of a Pod template, by Kubernetes' names, and their places in a user's files.
 *
 * Source: k8s.io/api/core/v1, types.go of Kubernetes 1.36, and every field of older versions. Newer
 * versions add fields, so an unknown name is no fault in itself. */
#pragma once

#include "base/text.h"
#include "base/yaml.h"
#include "spec/job_field.h"

/* Adds faults for members that are no field of Kubernetes but spelled similarly ("resouces"), or
 * that other tools use for one ("environment"); only when strict. */
void pod_fields_check(struct field_reader *reader, const struct field *template);

/* The same for a file that is a Pod, or contains a Pod template by pod_build_template. */
void pod_fields_check_file(const struct document *document, struct faults *faults);

bool pod_field_is_known(const char *name); /* of the Pod's spec */
bool pod_container_field_is_known(const char *name);

/* A TFJob, or a file with a Pod template by spec/pod_build.h. */
struct pod_file {
	const char *name; /* for faults */
	const struct document *document;
};

/* A cluster's messages about Pods name fields ("unknown field
 * \"spec.containers[0].imagePullPolcy\""), but no file. Adds the sentence, or its lines, with the
 * places after each field of a Pod that one of the files has: `unknown field "spec.x"
 * (job.yaml:12:9)`. */
void pod_place_add(const struct pod_file *files, size_t n_files, const char *sentence,
		   struct text *text);
