/* An elastic job as its server describes it (elastic/orchestrator.h), as text for users. Members
 * missing in the description are omitted. */
#pragma once

#include "base/json.h"
#include "base/text.h"

#include <stdbool.h>

/* One job: its state, its machines by rank, all its worlds, and the last failure. `is_local`: times
 * in this machine's time zone, not UTC. */
void elastic_text_add(const struct json *job, bool is_local, struct text *text);
/* The same as one line that changes whenever the job changes. */
void elastic_text_add_line(const struct json *job, struct text *text);
/* A table of all jobs of a server. */
void elastic_text_add_list(const struct json *jobs, struct text *text);
/* Whether it is closed: nothing more will change. */
bool elastic_text_is_over(const struct json *job);
