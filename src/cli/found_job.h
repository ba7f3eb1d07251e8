/* What commands do with a job that they have found: read it, choose a replica of it, change it. */
#pragma once

#include "base/json.h"
#include "cli/lookup.h"
#include "logs/folder.h"
#include "spec/job.h"
#include "status/status.h"

/* A job as its client has it now. Zero it to begin. */
struct job_state {
	struct json *object; /* the TFJob with its status */
	struct arena *arena; /* of the status */
	struct status status;
	struct job *job; /* as first read; NULL: not read */
};

/* Reads the object and its status; earlier ones are freed. On an error they are kept. */
int job_state_read(const struct found_job *found, struct job_state *state,
		   struct err *err) MUST_USE;
/* The same, and the first time the job. */
int job_state_read_job(const struct found_job *found, struct job_state *state,
		       struct err *err) MUST_USE;
void job_state_done(struct job_state *state);

/* The role of the replica that the user names (an empty role: the job's default one). NULL and
 * ERR_NOT_FOUND: the job has no such replica. */
const struct role *job_choose_replica(const struct job *job, const struct log_name *replica,
				      struct err *err) MUST_USE;

/* Applies a merge patch (RFC 7396) to a job. ERR_REFUSED when the job has finished. */
int change_job(const struct found_job *found, const struct json *patch, struct err *err) MUST_USE;

/* Sets or clears spec.runPolicy.suspend. ERR_REFUSED when the job has finished. */
int change_suspension(const struct found_job *found, bool is_suspended, struct err *err) MUST_USE;
