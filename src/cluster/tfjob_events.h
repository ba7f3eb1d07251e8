/* Events of TFJobs, as training-operator 1.9 sends them, each of them once.
 *
 * The name of an Event about an object follows from the reason and that object's uid. The server
 * rejects a second Event of that name, so a restarted operator repeats nothing. Events of one
 * reason about one role are collected and sent as one with their count, if the job has more than
 * TFJOB_EVENTS_SINGLE replicas or hundreds of Events wait. No caller waits for an Event; an Event
 * that the server rejects is lost. */
#pragma once

#include "base/own.h"
#include "kube/api.h"
#include "reconcile/plan.h"
#include "spec/job.h"

#define TFJOB_EVENTS_SINGLE 20

struct tfjob_events;

/* About an object that a job owns. The sentence is `before`, the object's name, `after`, `detail`;
 * of collected Events the detail is the first one's. */
struct object_event {
	enum note_level level;
	const char *reason; /* "SuccessfulCreatePod" */
	const char *before, *name; /* "Created pod: ", "mnist-worker-0" */
	const char *after, *detail; /* NULL: none */
	const char *role; /* of the replica; NULL: the object is not a replica's, and its Event is
			     never collected */
	const char *uid; /* of the object; the job's if the Event is the same for all objects */
};

struct tfjob_events *tfjob_events_new(struct kube_api *api) MUST_USE;
/* Call it before freeing the API. Waiting Events are lost. */
void tfjob_events_free(struct tfjob_events *events);

/* An Event about the job itself, sent as often as this is called. */
void tfjob_events_send(struct tfjob_events *events, const struct job *job, const struct note *note);
void tfjob_events_send_of(struct tfjob_events *events, const struct job *job,
			  const struct object_event *object);
