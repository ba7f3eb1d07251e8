/* Tries from this machine whether servers elsewhere can be reached: the network step of a remote
 * check. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/own.h"

#include <stddef.h>

/* Hears of one way, as a "network" event. */
typedef void (*check_way_fn)(const struct json *event, void *data);

/* Tries each of the servers ("grpc://host:2222") once and waits for a few seconds at most. What is
 * wrong with a server is no error of this function. */
int check_reach(const char *const *servers, size_t n_servers, check_way_fn tell, void *data,
		struct err *err) MUST_USE;
