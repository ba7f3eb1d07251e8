/* The answering side of the network probe: listens on the task's port and answers frames.
 *
 * All input is bounded: a connection buffers one frame, the number of connections is limited, and
 * any other protocol ends the connection. Connections are closed so that the port is free
 * afterward. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "io/loop.h"
#include "io/network_address.h"
#include "tensorflow/network_ask.h"

struct network_answerer;

/* Answers as task `own` of the list, on its port. `on_change` is called when another task of the
 * list has asked all its questions, and when a connection ends. Returns ERR_REFUSED if the port is
 * taken. */
int network_answerer_new(struct loop *loop, const struct network_peer *peers, size_t n_peers,
			 size_t own, loop_fn on_change, void *data,
			 struct network_answerer **ret_answerer, struct err *err) MUST_USE;
void network_answerer_free(struct network_answerer *answerer); /* NULL is fine */

/* The task counts as having asked. */
void network_answerer_expect_nothing(struct network_answerer *answerer, size_t peer);
/* Sets the addresses of that task's host: only from these a client counts as the task. */
void network_answerer_know(struct network_answerer *answerer, size_t peer,
			   const struct network_addresses *addresses);
/* The address of another client that used that task's name; NULL: none, or the task has asked as
 * well, or its addresses are unknown. */
const struct in6_addr *network_answerer_other(const struct network_answerer *answerer, size_t peer);
/* Whether every other task has asked. */
bool network_answerer_was_asked_by_all(const struct network_answerer *answerer);
bool network_answerer_is_busy(const struct network_answerer *answerer); /* has a client */
