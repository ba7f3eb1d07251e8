/* An elastic job as its server describes it (elastic/orchestrator.h), as text for people. What is
 * missing in a description is left out. */
#pragma once

#include "base/json.h"
#include "base/text.h"

#include <stdbool.h>

/* One job: where it stands, its machines by rank, all its worlds, and what failed last. `is_local`:
 * times in this machine's time zone, not UTC. */
void elastic_text_add(const struct json *job, bool is_local, struct text *text);
/* The same as one line that changes whenever the job does. */
void elastic_text_add_line(const struct json *job, struct text *text);
/* A table of all jobs of a server. */
void elastic_text_add_list(const struct json *jobs, struct text *text);
/* It is closed: nothing more will change. */
bool elastic_text_is_over(const struct json *job);
