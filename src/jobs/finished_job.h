/* A job that ended elsewhere, remembered on this machine: `muster ps -a`, `status` and `logs` show
 * it as they show those that ran here. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "reconcile/observed.h"
#include "store/store.h"

/* Takes the place of what was remembered of it while it went on, under `record_name`
 * (jobs/cluster_job_record.h), and of a finished job of its name, whose logs go. Where a job of
 * this machine has its name and goes on, it stays under `record_name`. */
int finished_job_save(struct store *store, const char *state_folder, const char *record_name,
		      const struct store_record *ended, struct err *err) MUST_USE;

/* The same, of a job's record on a cluster at its end. `place`: where it ran
 * (cluster_job_place_write). `observed` is what was seen of its Pods last: where they were is
 * remembered too. */
int finished_job_record(const char *state_folder, const char *record_name, const char *place,
			const struct store_record *record, const struct observed *observed,
			struct err *err) MUST_USE;
