/* The flags that local_test and remote_test of TensorFlow's tools/dist_test share. */
#pragma once

#include "command/options.h"
#include "compat/call.h"

/* Adds the options for the model and its training. */
void dist_test_add_model(struct call *call, const struct options *old);

/* Counts are passed on only if given; the default is 2 of each in both programs. */
#define DIST_TEST_ROWS                                                                             \
	{.name = "num-workers",                                                                    \
	 .kind = OPTION_NUMBER,                                                                    \
	 .value_name = "N",                                                                        \
	 .otherwise = "2",                                                                         \
	 .low = 1,                                                                                 \
	 .high = LIMIT_REPLICAS,                                                                   \
	 .one_line = "now check --workers"},                                                       \
		{.name = "num-parameter-servers",                                                  \
		 .kind = OPTION_NUMBER,                                                            \
		 .value_name = "N",                                                                \
		 .otherwise = "2",                                                                 \
		 .low = 1,                                                                         \
		 .high = LIMIT_REPLICAS,                                                           \
		 .one_line = "now check --ps"},                                                    \
		{.name = "sync-replicas",                                                          \
		 .kind = OPTION_FLAG,                                                              \
		 .one_line = "now check --sync-replicas"},                                         \
		{.name = "model-name",                                                             \
		 .kind = OPTION_WORD,                                                              \
		 .words = "MNIST|CENSUS_WIDENDEEP",                                                \
		 .otherwise = "MNIST",                                                             \
		 .one_line = "now check --model mnist or --model census"},                         \
		{.name = "setup-cluster-only",                                                     \
		 .kind = OPTION_FLAG,                                                              \
		 .one_line = "now check --setup-only"},                                            \
		{.name = "leave-container-running",                                                \
		 .kind = OPTION_FLAG,                                                              \
		 .one_line = "accepted, no effect; prints what to use instead"},                   \
		CALL_ROWS
