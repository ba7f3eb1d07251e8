/* The answering side of the network probe: listens on the task's port and answers frames.
 *
 * Whatever comes in is bounded: a connection keeps one frame, only so many are open, and what is
 * not our protocol ends the connection. Connections end in a way that leaves nothing on the port.
 */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "io/loop.h"
#include "io/network_address.h"
#include "tensorflow/network_ask.h"

#include <stdbool.h>
#include <stddef.h>

struct network_answerer;

/* Answers as task `own` of the list, on its port. `on_change` is called when another task of the
 * list has asked all it had to ask, and when a connection ends. ERR_REFUSED: the port is taken. */
int network_answerer_new(struct loop *loop, const struct network_peer *peers, size_t n_peers,
			 size_t own, loop_fn on_change, void *data,
			 struct network_answerer **ret_answerer, struct err *err) MUST_USE;
void network_answerer_free(struct network_answerer *answerer); /* NULL is fine */

/* Nothing is to be expected of that task: it counts as if it had asked. */
void network_answerer_expect_nothing(struct network_answerer *answerer, size_t peer);
/* What the host of that task resolves to. Only who calls from there counts as the task; others are
 * answered too. */
void network_answerer_know(struct network_answerer *answerer, size_t peer,
			   const struct network_addresses *addresses);
/* Whence somebody asked in the name of that task, who was not the task; NULL: nobody did, or the
 * task has asked as well, or its addresses are not known. */
const struct in6_addr *network_answerer_other(const struct network_answerer *answerer, size_t peer);
/* Every other task has asked. */
bool network_answerer_was_asked_by_all(const struct network_answerer *answerer);
bool network_answerer_is_busy(const struct network_answerer *answerer); /* somebody is connected */
