/* Finds the cause of a failed step and states it in a sentence for the user. Only for the files of
 * check/check*.
 *
 * Each function sets the check's fault (check/fault). Those that return a bool first test whether
 * there is a fault. */
#pragma once

#include "check/facts.h"

#include <stdbool.h>

/* The servers' job has ended although it was wanted. */
void check_diagnose_servers(struct check *check, enum check_step step, instant now);
bool check_diagnose_network(struct check *check, instant now);
/* The cluster has fewer workers than requested. */
bool check_diagnose_size(struct check *check, instant now);
void check_diagnose_probe(struct check *check, enum check_step step, instant now);
/* The model's job has ended before all its workers had trained. */
void check_diagnose_training(struct check *check, instant now);
bool check_diagnose_result(struct check *check, instant now);
/* Returns false if the model has no bound for so few steps (a bound that is null). */
bool check_result_is_judged(const struct check *check);
/* The time of a step is over: names the tasks that did not answer. */
void check_diagnose_silence(struct check *check, enum check_step step, instant now);

/* The servers' job has ended after a fault was found. A server that died before the fault is its
 * cause. */
void check_revise_cause(struct check *check);
