/* /metrics, /healthz and /readyz of what this process sees through: one job (`muster run
 * --metrics-listen`), or all TFJobs of a cluster. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "base/text.h"
#include "http/listening.h"
#include "io/loop.h"
#include "status/metrics.h"

#include <stdbool.h>

struct exporter;

/* All is borrowed. */
struct exporter_settings {
	const struct listening *listening; /* NULL: there is no exporter */
	/* Called whenever the metrics are asked for. */
	void (*write)(const struct metrics_passes *passes, struct text *text, void *data);
	bool (*is_ready)(void *data); /* NULL: it always is */
	void *data;
};

/* *ret_exporter is NULL where there is none. */
int exporter_new(struct loop *loop, const struct exporter_settings *settings,
		 struct exporter **ret_exporter, struct err *err) MUST_USE;
/* And the socket is gone from its path. */
void exporter_free(struct exporter *exporter);
/* Of the reconciler, around each pass; nothing is done where the exporter is NULL. What begins
 * while a pass is under way belongs to that. */
void exporter_begin_pass(struct exporter *exporter);
void exporter_end_pass(struct exporter *exporter);
