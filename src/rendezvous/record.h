/* The state of a rendezvous as JSON, as a server stores it:
 *
 *     {"generation": 3, "worldReason": "grew", "goesOn": true, "restarts": 1, "reason": "first",
 *      "verdict": "open", "members": [["ID", OFFER, true], …], "setAside": [["ID", OFFER], …],
 *      "budget": {"end": "left", "charged": 1, "ages": [2000], "fruitless": 0, "progress": 120,
 *                 "failedAt": 100}}
 *
 * Members of the world are by rank, each with a flag for whether it is still a member. Ages are in
 * milliseconds, and present only if restarts have a window. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/own.h"
#include "rendezvous/rendezvous.h"

void rendezvous_snapshot_set(struct json *object, const struct rendezvous_snapshot *snapshot);
/* The result is in the arena. Returns ERR_INVALID or ERR_LIMIT. */
int rendezvous_snapshot_read(const struct json *object, struct arena *arena,
			     struct rendezvous_snapshot *ret_snapshot, struct err *err) MUST_USE;
