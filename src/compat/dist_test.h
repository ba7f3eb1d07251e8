/* The flags that local_test and remote_test of TensorFlow's tools/dist_test share. */
#pragma once

#include "command/options.h"
#include "compat/call.h"

/* Adds the options for the model and its training. */
void dist_test_add_model(struct call *call, const struct options *old);

/* Counts are passed on only if given; the default is 2 of each in both programs. */
#define DIST_TEST_ROWS                                                                             \
	OPTION("num-workers", NUMBER, "N", "2", "now check --workers", .low = 1,                   \
	       .high = LIMIT_REPLICAS),                                                            \
		OPTION("num-parameter-servers", NUMBER, "N", "2", "now check --ps", .low = 1,      \
		       .high = LIMIT_REPLICAS),                                                    \
		FLAG("sync-replicas", "now check --sync-replicas"),                                \
		WORDS("model-name", "MNIST|CENSUS_WIDENDEEP", "MNIST",                             \
		      "now check --model mnist or --model census"),                                \
		FLAG("setup-cluster-only", "now check --setup-only"),                              \
		FLAG("leave-container-running",                                                    \
		     "accepted, no effect; prints what to use instead"),                           \
		CALL_ROWS
