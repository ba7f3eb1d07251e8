/* /metrics and /healthz of one job that is seen through (`muster run --metrics-listen`). */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "core/job.h"
#include "core/status.h"
#include "io/listening.h"
#include "io/loop.h"

struct exporter;

/* All is borrowed. `status` is read whenever the metrics are asked for. Without `listening` (NULL)
 * there is no exporter: NULL. */
int exporter_new(struct loop *loop, const struct listening *listening, const struct job *job,
		 const struct status *status, struct exporter **ret_exporter,
		 struct err *err) MUST_USE;
/* And the socket is gone from its path. */
void exporter_free(struct exporter *exporter);
/* Of the driver, around each pass; nothing is done where the exporter is NULL. What begins while a
 * pass is under way belongs to that. */
void exporter_begin_pass(struct exporter *exporter);
void exporter_end_pass(struct exporter *exporter);
