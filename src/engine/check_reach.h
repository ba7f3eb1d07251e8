/* Tries from this machine whether servers elsewhere can be reached: the network step of a remote
 * check. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/own.h"
#include "core/check_request.h"
#include "io/loop.h"

/* Hears of one way, as a "network" event. */
typedef void (*check_way_fn)(const struct json *event, void *data);

/* Begins to try each of the request's servers once, for a few seconds at most, and tells of each
 * from the loop. What is wrong with a server is no error of this function. */
struct check_reach;
int check_reach_start(struct loop *loop, const struct check_request *request, check_way_fn tell,
		      void *data, struct check_reach **ret_reach, struct err *err) MUST_USE;
/* Ends what still tries. NULL is fine. */
void check_reach_free(struct check_reach *reach);
