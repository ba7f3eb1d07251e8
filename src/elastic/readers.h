/* Calls that wait until what they read of an elastic job is another thing. */
#pragma once

#include "base/msec.h"
#include "base/own.h"
#include "base/text.h"
#include "http/server.h"

#include <stdbool.h>

struct elastic_reader;

/* Zero it to begin; all have to be answered before it goes. */
struct elastic_readers {
	struct elastic_reader *first;
};

/* Keeps a call until it is answered, or its caller has gone. */
void elastic_readers_hold(struct elastic_readers *readers, struct http_call *call, msec until);
/* Whether there are calls that are kept until then or for less; MSEC_NEVER: any. */
bool elastic_readers_are_due(const struct elastic_readers *readers, msec now);
/* Answers these, with JSON. */
void elastic_readers_answer(struct elastic_readers *readers, msec now, const struct text *body);
msec elastic_readers_wake_at(const struct elastic_readers *readers); /* MSEC_NEVER: none is kept */
