/* What a check is asked to do, and the addresses of servers that exist. */
#pragma once

#include "base/mem.h"
#include "base/text.h"

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

/* Limit of the servers of one role that a check may start, or train with. */
#define CHECK_SERVERS_MOST 50
/* Default number of workers that train. */
#define CHECK_WORKERS 2
/* Default time limit of a step: the limit of TensorFlow's own test of distributed MNIST
 * (tools/dist_test/scripts/dist_mnist_test.sh). */
#define CHECK_TIMEOUT "2m"

/* An existing server, as users name it. */
struct check_server {
	const char *url; /* "grpc://[::1]:2222": as TensorFlow takes it */
	const char *place; /* "[::1]:2222" */
	const char *host; /* "::1" */
	int port;
};

struct check_request {
	const char *name; /* "check-x1y2z": name of the servers' job, and prefix of the others */
	bool is_for_torch; /* PyTorch, whose processes need no servers; with --model mnist or none
			    */
	enum check_model model;
	int workers; /* for a remote check: 0 means the existing ones, at most CHECK_WORKERS */
	int ps;
	bool is_sync;
	bool is_setup_only; /* the servers stay, in the background */
	bool has_private_network; /* no other client can reach them */
	int64_t steps; /* 0: the model's default */
	const char *data_dir; /* NULL: the models have their own data */
	const char *libtensorflow; /* as given; NULL: search for it */
	const char *state_dir; /* as given; NULL: the default */
	msec timeout; /* of each step */

	bool is_remote; /* the servers already exist: */
	const struct check_server *servers;
	size_t n_servers;

	/* All jobs of the check are Pods of a cluster: the servers, unless they already exist, and
	 * their clients. `place` are the options of `muster run` that select the cluster and the
	 * kind of Pods; it ends with NULL. */
	bool is_on_kubernetes;
	const char *const *place;
};

/* MultiWorkerMirroredStrategy and ParameterServerStrategy start servers in their own processes. */
bool check_model_brings_servers(enum check_model model);
/* No servers are needed for the training: it has its own, or is PyTorch's. */
bool check_request_needs_no_servers(const struct check_request *request);
/* "mnist", "torch": of the model's job and program. */
const char *check_request_model(const struct check_request *request);
/* Whether a model trains, so that the steps after the session are performed. */
bool check_request_trains(const struct check_request *request);

/* Reads "grpc://a:1,b:2", each server once; texts are in the arena. Each word that is no address
 * adds a line to `faults`, which begins with `before`. */
struct check_server *check_servers_read(const char *list, struct arena *arena, const char *before,
					struct text *faults, size_t *ret_count) MUST_USE;
