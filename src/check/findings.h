/* The steps of a check that muster performs itself, before any job starts: whether TensorFlow and
 * the data exist on this machine, and whether remote servers can be reached. */
#pragma once

#include "base/json.h"
#include "check/request.h"
#include "io/loop.h"

/* Appends what was found. Returns ERR_NOT_FOUND or ERR_UNSUPPORTED with what to install, or with
 * all that is missing. */
typedef int (*check_find_fn)(const struct check_request *request, struct text *what,
			     struct err *err);
/* TensorFlow's C library and, if a model trains, a Python with TensorFlow. */
int check_find_library(const struct check_request *request, struct text *what,
		       struct err *err) MUST_USE;
/* The files of the model in the data directory, plain or compressed (.gz). */
int check_find_data(const struct check_request *request, struct text *what,
		    struct err *err) MUST_USE;

/* Reports the test of one server, as a "network" event. */
typedef void (*check_link_fn)(const struct json *event, void *data);

/* Starts to test each of the request's servers once, for a few seconds at most, and reports each
 * from the loop. Faults of servers are no error of this function. */
struct check_reach;
int check_reach_start(struct loop *loop, const struct check_request *request, check_link_fn tell,
		      void *data, struct check_reach **ret_reach, struct err *err) MUST_USE;
/* Cancels the remaining tests. NULL is fine. */
void check_reach_free(struct check_reach *reach);
