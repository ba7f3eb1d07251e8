/* Calls that wait for a change of the part of an elastic job that they read. */
#pragma once

#include "base/msec.h"
#include "base/own.h"
#include "base/text.h"
#include "http/server.h"

#include <stdbool.h>

struct elastic_reader;

/* Zero it to begin; answer all before you free it. */
struct elastic_readers {
	struct elastic_reader *first;
};

/* Holds a call until it is answered, or its caller hangs up. */
void elastic_readers_hold(struct elastic_readers *readers, struct http_call *call, msec until);
/* Whether calls are held until `now` or for less; MSEC_NEVER: any call. */
bool elastic_readers_are_due(const struct elastic_readers *readers, msec now);
/* Answers these calls, with JSON. */
void elastic_readers_answer(struct elastic_readers *readers, msec now, const struct text *body);
msec elastic_readers_wake_at(const struct elastic_readers *readers); /* MSEC_NEVER: none is held */
