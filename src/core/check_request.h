/* What `muster check` was asked to do: which model, on how many servers, whose. */
#pragma once

#include "base/msec.h"
#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum check_model {
	CHECK_MNIST,
	CHECK_CENSUS,
	CHECK_MWMS,
	CHECK_PS2,
	CHECK_NO_MODEL,
	CHECK_MODEL_COUNT,
};
extern const char *const check_model_words[CHECK_MODEL_COUNT]; /* "mnist" … "none" */
#define CHECK_MODEL_CHOICE "mnist|census|mwms|ps2|none" /* the same, for an option */

/* Servers of one role that a check may start, or train with. */
#define CHECK_SERVERS_MOST 50
/* Workers that train when nothing else was said. */
#define CHECK_WORKERS 2
/* After how long a step is given up: what TensorFlow's own test of distributed MNIST allowed
 * (tools/dist_test/scripts/dist_mnist_test.sh). */
#define CHECK_TIMEOUT "2m"

struct check_request {
	const char *name; /* "check-x1y2z": of the servers' job, and the beginning of the others' */
	enum check_model model;
	int workers; /* of a remote check: 0 means those that are there, at most CHECK_WORKERS */
	int ps;
	bool is_sync;
	bool is_setup_only; /* the servers stay, in the background */
	int64_t steps; /* 0: as many as the model has by itself */
	const char *data_dir; /* NULL: the models bring their data */
	const char *libtensorflow; /* as given; NULL: found */
	const char *state_dir; /* as given; NULL: the default */
	msec timeout; /* of each step */

	bool is_remote; /* servers that exist: */
	const char *const *servers; /* "grpc://host:2222" */
	size_t n_servers;

	/* Everything that the check starts is Pods of a cluster: servers, where they do not exist
	 * already, and their clients. `place` are the options of `muster run` that say which
	 * cluster and what kind of Pods; it ends with NULL. */
	bool is_on_kubernetes;
	const char *const *place;
};

/* MultiWorkerMirroredStrategy and ParameterServerStrategy start servers themselves, inside of the
 * model's own processes. */
bool check_model_brings_servers(enum check_model model);
/* Something trains, and the steps behind the session are made. */
bool check_request_trains(const struct check_request *request);

/* The role of the processes that train ("worker", for ps2 "chief"), and how many. */
const char *check_trainer_role(enum check_model model);
int check_trainer_count(enum check_model model, int workers);
