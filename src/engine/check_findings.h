/* The steps of a check that muster takes itself, before anything is started: is TensorFlow here,
 * and are the data? */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "base/text.h"
#include "core/check_request.h"

/* Finds TensorFlow's C library and, where a model trains, a Python that has TensorFlow. Adds what
 * was found. ERR_NOT_FOUND or ERR_UNSUPPORTED says what to install. */
int check_find_library(const struct check_request *request, struct text *what,
		       struct err *err) MUST_USE;
/* Looks for the files of the model in the data folder, as they are or compressed (.gz). Adds what
 * was found. ERR_NOT_FOUND names all that are missing. */
int check_find_data(const struct check_request *request, struct text *what,
		    struct err *err) MUST_USE;
