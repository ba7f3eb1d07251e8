/* The bytes of a watch as events: one JSON object a line, however the bytes are cut. Pure. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/own.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/* Of one event. etcd refuses objects above 1.5 MiB, and each of their bytes may be a JSON escape of
 * six: what everybody may make never ends a watch. */
#define KUBE_FRAME_LIMIT ((size_t) 12 * 1024 * 1024)

enum kube_event_type {
	KUBE_ADDED,
	KUBE_MODIFIED,
	KUBE_DELETED,
	KUBE_BOOKMARK, /* nothing happened up to its object's resourceVersion */
	KUBE_ERROR, /* its object is a Status; the watch is over */
};

struct kube_event {
	enum kube_event_type type;
	const struct json *object; /* an object; lives as long as the call that hands it over */
};

/* What came of the line that is not complete yet. Zero it to begin. */
struct kube_frames {
	struct text line;
	bool has_writers; /* managedFields are read; else they are left out (kube/writers.h) */
};

/* False: no more events are wanted; the frames may be gone. */
typedef bool (*kube_event_fn)(const struct kube_event *event, void *data);

/* Takes bytes and hands on each event that is complete. ERR_INVALID: a line is no event; ERR_LIMIT:
 * it has no end. The stream cannot be read further then. */
int kube_frames_take(struct kube_frames *frames, const char *bytes, size_t len, kube_event_fn fn,
		     void *data, struct err *err) MUST_USE;
void kube_frames_done(struct kube_frames *frames);
