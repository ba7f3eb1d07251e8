/* The parts in which a job document is read: its roles, and their containers. Used by job_read. */
#pragma once

#include "base/mem.h"
#include "core/job.h"
#include "core/job_field.h"

/* Reads spec.tfReplicaSpecs, or the older spec.replicaSpecs, into job->roles, and puts the
 * normalised tfReplicaSpecs into `spec`, which lies in job->document. */
void job_read_roles(struct field_reader *reader, const struct field *spec, struct job *job);

/* Reads the Pod template of one role: its container and its port. */
void job_read_template(struct field_reader *reader, const struct field *template,
		       struct arena *arena, struct role *role);
