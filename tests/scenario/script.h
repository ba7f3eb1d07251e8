/* The language of transcripts: a few words for a job, what happens to it, and when.
 *
 *     like local                            the first line: habits of the back end, which may be
 *                                           those of `local`, of `kubernetes`, of `tfjobs` (under
 *                                           the operator) or of `nothing`
 *     job worker=2 ps=1 restart=OnFailure   comes onto the stage, and all that follows at once
 *     behave worker-1 attempt=1 runs=2s exit=3
 *     wait 10s | wait                       time goes on; without an end: until nothing happens
 *     away 10s                              time goes on, and muster is not there to see it
 *     kill worker-1 9 | delete worker-1 5s | lose worker-1
 *     suspend | resume                      also of a job that was stopped or has failed
 *     scale Worker=3 | stop interrupted
 *     grace 1s                              runPolicy.gracePeriodSeconds is changed
 *     crash | conflict | full | refuse 2
 *     show                                  the status in a few lines
 *
 * Words of `job`: a role's name = its count; restart=POLICY, ROLE.restart=POLICY; scope=,
 * success=, clean=; backoff=N; deadline=, ttl=, grace= (whole seconds); suspend; dynamic.
 * Words of `behave`: attempt=N (this one and later ones), starts=, runs=, exit=, signal=, reason=,
 * term= (time to end after TERM), ignores-term, ignores-stops, exits-on-term, cannot-start. */
#pragma once

#include "scenario/stage.h"

/* One line of a script; what it led to stands in the stage's transcript. `*stage` is made by
 * `like`. NULL, or what is wrong with the line (the caller frees it). */
char *script_run_line(struct stage **stage, const char *line);

/* A copy of the stage's end, for comparing: conditions, exit code, restarts, replicas. */
void script_describe_end(struct stage *stage, struct text *text);
