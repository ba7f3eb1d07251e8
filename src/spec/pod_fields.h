/* The fields of a Pod template, by Kubernetes' names.
 *
 * Source: k8s.io/api/core/v1, types.go of Kubernetes 1.36, and every field of older versions. Newer
 * versions add fields, so an unknown name is no fault in itself. */
#pragma once

#include "spec/job_field.h"

#include <stdbool.h>

/* Adds faults for members that are no field of Kubernetes but spelled similarly ("resouces"), or
 * that other tools use for one ("environment"); only when strict. */
void pod_fields_check(struct field_reader *reader, const struct field *template);

/* The same for a file that is a Pod, or contains a Pod template by pod_build_template. */
void pod_fields_check_file(const struct document *document, struct faults *faults);

bool pod_field_is_known(const char *name); /* of the Pod's spec */
bool pod_container_field_is_known(const char *name);
