/* Reads the JSON of a server's objects: whole answers, and the events of a watch, one a line,
 * wherever the bytes are cut. Pure.
 *
 * metadata.managedFields is removed before the JSON is parsed, which costs one scan of the bytes.
 * It is nearly half of a Pod, and only the reader of Leases uses it (kube/lease.h). */
#pragma once

#include "base/json.h"
#include "base/text.h"

/* Largest event. etcd rejects objects above 1.5 MiB, and JSON may escape each of their bytes with
 * six. So no object that a user can create breaks a watch. */
#define KUBE_FRAME_LIMIT ((size_t) 12 * 1024 * 1024)

/* Reads one value as json_read_repaired does, without managedFields unless `has_writers`. They are
 * recognized only in JSON without white space, as API servers write it. */
int kube_json_read(const char *bytes, size_t len, bool has_writers, struct json **ret_value,
		   struct err *err) MUST_USE;

enum kube_event_type {
	KUBE_ADDED,
	KUBE_MODIFIED,
	KUBE_DELETED,
	KUBE_BOOKMARK, /* no change up to its object's resourceVersion */
	KUBE_ERROR, /* its object is a Status; the watch has ended */
};

struct kube_event {
	enum kube_event_type type;
	const struct json *object; /* valid only during the callback */
};

/* The incomplete last line. Zero it to begin. */
struct kube_frames {
	struct text line;
	bool has_writers; /* managedFields are kept */
};

/* Returns false to stop the events; the callback may then have freed the frames. */
typedef bool (*kube_event_fn)(const struct kube_event *event, void *data);

/* Takes bytes and calls `fn` for each complete event. Returns ERR_INVALID if a line is no event,
 * ERR_LIMIT if a line is too long. After an error the stream cannot be read further. */
int kube_frames_take(struct kube_frames *frames, const char *bytes, size_t len, kube_event_fn fn,
		     void *data, struct err *err) MUST_USE;
void kube_frames_done(struct kube_frames *frames);
