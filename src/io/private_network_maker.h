/* Creates private networks. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "io/private_network.h"

/* ERR_REFUSED if this is not permitted; the sentence says why, and what to do. The network exists
 * as long as it is open or a process is in it. */
int private_network_create(struct private_network *ret_network, struct err *err) MUST_USE;
