/* The state of a rendezvous as JSON, as a server keeps it:
 *
 *     {"generation": 3, "worldReason": "grew", "goesOn": true, "isSpent": false, "restarts": 1,
 *      "reason": "first", "verdict": "open", "members": [["ID", OFFER, true], …]}
 *
 * by rank, each with whether it is a member still. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/own.h"
#include "core/rendezvous.h"

void rendezvous_past_set(struct json *object, const struct rendezvous_past *past);
/* What is read lives in the arena. ERR_INVALID, ERR_LIMIT. */
int rendezvous_past_read(const struct json *object, struct arena *arena,
			 struct rendezvous_past *ret_past, struct err *err) MUST_USE;
