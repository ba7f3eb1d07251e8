/* The fields of a Pod template, as Kubernetes names them.
 *
 * Source: k8s.io/api/core/v1, types.go of Kubernetes 1.36, and every field that older versions
 * had. Newer versions get more, so a name that is not among them is no fault in itself. */
#pragma once

#include "spec/job_field.h"

#include <stdbool.h>

/* Refuses members that are no field of Kubernetes but nearly spelled like one ("resouces"), or that
 * other programs have for one ("environment"); only when strict. */
void pod_fields_check(struct field_reader *reader, const struct field *template);

/* The same for a file that is a Pod, or that has a Pod template as pod_build_template finds it. */
void pod_fields_check_file(const struct document *document, struct faults *faults);

bool pod_field_is_known(const char *name); /* of the Pod's spec */
bool pod_container_field_is_known(const char *name);
