/* Serves /metrics, /healthz and /readyz for what this process supervises: one job (`muster run
 * --metrics-listen`), or all TFJobs of a cluster. */
#pragma once

#include "base/text.h"
#include "http/listening.h"
#include "io/loop.h"
#include "status/metrics.h"

struct exporter;

/* All is borrowed. */
struct exporter_settings {
	const struct listening *listening; /* NULL: no exporter */
	/* Called on each request for the metrics. */
	void (*write)(const struct metrics_passes *passes, struct text *text, void *data);
	bool (*is_ready)(void *data); /* NULL: it always is */
	void *data;
};

/* *ret_exporter is NULL without `listening`. */
int exporter_new(struct loop *loop, const struct exporter_settings *settings,
		 struct exporter **ret_exporter, struct err *err) MUST_USE;
/* Also removes a socket from its path. */
void exporter_free(struct exporter *exporter);
/* Called around each reconcile pass; without effect if the exporter is NULL. A pass that begins
 * during another one counts as part of it. */
void exporter_begin_pass(struct exporter *exporter);
void exporter_end_pass(struct exporter *exporter);
