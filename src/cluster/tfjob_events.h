/* Events of TFJobs, as training-operator 1.9 sends them, each of them once.
 *
 * An Event about an object of a job has a name that follows from the reason and that object's uid.
 * The server refuses a second one of that name, so an operator that is started again repeats
 * nothing. Of a job with more than TFJOB_EVENTS_SINGLE replicas, and of every job while hundreds of
 * Events wait, those of one reason about one role are collected, and sent as one with their count.
 *
 * No caller waits for an Event, and one that the server refuses is lost. */
#pragma once

#include "base/own.h"
#include "io/loop.h"
#include "kube/api.h"
#include "reconcile/plan.h"
#include "spec/job.h"

#define TFJOB_EVENTS_SINGLE 20

struct tfjob_events;

/* About an object that a job owns. The sentence is `before`, the object's name, `after`, `detail`;
 * of several that are collected the detail is that of the first. */
struct object_event {
	enum note_level level;
	const char *reason; /* "SuccessfulCreatePod" */
	const char *before, *name; /* "Created pod: ", "mnist-worker-0" */
	const char *after, *detail; /* NULL: none */
	const char *role; /* whose replica's it is; NULL: no replica's, and it is never collected */
	const char *uid; /* of the object; the job's where the Event is the same for all objects */
};

struct tfjob_events *tfjob_events_new(struct loop *loop, struct kube_api *api) MUST_USE;
/* Before the API. Events that wait are lost. */
void tfjob_events_free(struct tfjob_events *events);

/* A sentence about the job itself, as often as it is sent. */
void tfjob_events_send(struct tfjob_events *events, const struct job *job, const struct note *note);
void tfjob_events_send_of(struct tfjob_events *events, const struct job *job,
			  const struct object_event *object);
