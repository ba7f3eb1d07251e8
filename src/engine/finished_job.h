/* A job that ended elsewhere, remembered on this machine: `muster ps -a`, `status` and `logs` show
 * it as they show those that ran here. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "core/observed.h"
#include "store/store.h"

/* Takes the place of a finished job of that name, whose logs go. A job of this machine that has not
 * ended keeps its name: nothing is remembered then. `observed` is what was seen of its Pods last:
 * where they were is remembered too. */
int finished_job_remember(const char *state_folder, const struct store_record *record,
			  const struct observed *observed, struct err *err) MUST_USE;
