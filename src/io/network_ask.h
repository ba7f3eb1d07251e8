/* Asks one question about a peer, from its name to what was measured; takes the time it needs. */
#pragma once

#include "io/network_measure.h"

/* Resolves the name, connects and, when `own_name` is set, measures. With `own_name`, what a peer
 * that comes up late looks like is tried again until `until`; without, there is one try. Always
 * gives a finding. Returns soon after `until`, unless the name service hangs. */
void network_ask(const struct network_question *question, struct network_finding *ret_finding);
