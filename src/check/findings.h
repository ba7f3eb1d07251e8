/* The steps of a check that muster takes itself, before anything is started: is TensorFlow here,
 * are the data, and can servers elsewhere be reached? */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/own.h"
#include "base/text.h"
#include "check/facts.h"
#include "io/loop.h"

/* Finds TensorFlow's C library and, where a model trains, a Python that has TensorFlow. Adds what
 * was found. ERR_NOT_FOUND or ERR_UNSUPPORTED says what to install. */
int check_find_library(const struct check_request *request, struct text *what,
		       struct err *err) MUST_USE;
/* Looks for the files of the model in the data folder, as they are or compressed (.gz). Adds what
 * was found. ERR_NOT_FOUND names all that are missing. */
int check_find_data(const struct check_request *request, struct text *what,
		    struct err *err) MUST_USE;

/* Hears of one way, as a "network" event. */
typedef void (*check_way_fn)(const struct json *event, void *data);

/* Begins to try each of the request's servers once, for a few seconds at most, and tells of each
 * from the loop. What is wrong with a server is no error of this function. */
struct check_reach;
int check_reach_start(struct loop *loop, const struct check_request *request, check_way_fn tell,
		      void *data, struct check_reach **ret_reach, struct err *err) MUST_USE;
/* Ends what still tries. NULL is fine. */
void check_reach_free(struct check_reach *reach);
