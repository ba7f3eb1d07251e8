/* The state of a rendezvous as JSON, as a server keeps it:
 *
 *     {"generation": 3, "worldReason": "grew", "goesOn": true, "restarts": 1, "reason": "first",
 *      "verdict": "open", "members": [["ID", OFFER, true], …], "setAside": [["ID", OFFER], …],
 *      "budget": {"end": "left", "charged": 1, "ages": [2000], "fruitless": 0, "progress": 120,
 *                 "failedAt": 100}}
 *
 * Members of the world are by rank, each with whether it is a member still. Ages are in
 * milliseconds, and only where restarts have a window. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/own.h"
#include "rendezvous/rendezvous.h"

void rendezvous_snapshot_set(struct json *object, const struct rendezvous_snapshot *past);
/* What is read lives in the arena. ERR_INVALID, ERR_LIMIT. */
int rendezvous_snapshot_read(const struct json *object, struct arena *arena,
			     struct rendezvous_snapshot *ret_snapshot, struct err *err) MUST_USE;
