/* Finds out what to blame when a step has failed, and says it in a sentence that a person
 * understands. For the files of check/check* alone.
 *
 * Each sets the check's fault (check/fault). Those that give a bool look whether there is
 * anything to blame. */
#pragma once

#include "check/facts.h"

#include <stdbool.h>

/* The servers' job has ended though it was wanted. */
void check_diagnose_servers(struct check *check, enum check_step step, msec now);
bool check_diagnose_network(struct check *check, msec now);
/* The cluster has fewer workers than were asked for. */
bool check_diagnose_size(struct check *check, msec now);
void check_diagnose_probe(struct check *check, enum check_step step, msec now);
/* The model's job has ended before all its workers had trained. */
void check_diagnose_training(struct check *check, msec now);
bool check_diagnose_result(struct check *check, msec now);
/* False: of so few steps the model asks nothing (a bound that is null). */
bool check_result_is_judged(const struct check *check);
/* The time of a step is over: which did not answer? */
void check_diagnose_silence(struct check *check, enum check_step step, msec now);

/* The servers' job has ended after a fault was found. A server that had died before that is what
 * the fault came from. */
void check_revise_cause(struct check *check);
