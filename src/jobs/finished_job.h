/* The record of a job that finished elsewhere, for this machine: `muster ps -a`, `status` and
 * `logs` show it like a local job. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "reconcile/observed.h"
#include "store/store.h"

/* Replaces the record of the active job, `record_name` (jobs/cluster_job_record.h), and a finished
 * job of its own name, whose logs are deleted. If an active local job has its name, it stays under
 * `record_name`. */
int finished_job_save(struct store *store, const char *state_folder, const char *record_name,
		      const struct store_record *ended, struct err *err) MUST_USE;

/* The same from a job's record on a cluster when it has finished. `place`: its cluster
 * (cluster_job_place_write). `observed` is the last observation of its Pods: their places are
 * recorded too. */
int finished_job_record(const char *state_folder, const char *record_name, const char *place,
			const struct store_record *record, const struct observed *observed,
			struct err *err) MUST_USE;
