/* Calls that wait for a change of the part of an elastic job that they read. */
#pragma once

#include "base/instant.h"
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
void elastic_readers_hold(struct elastic_readers *readers, struct http_call *call, instant until);
/* Whether calls are held until `now` or for less; INSTANT_NEVER: any call. */
bool elastic_readers_are_due(const struct elastic_readers *readers, instant now);
/* Answers these calls, with JSON. */
void elastic_readers_answer(struct elastic_readers *readers, instant now, const struct text *body);
instant elastic_readers_wake_at(const struct elastic_readers *readers); /* INSTANT_NEVER: none */
