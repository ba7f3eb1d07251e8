/* Sentences that a server adds to its answers, each told once. */
#pragma once

#include "http/client.h"

#include <stddef.h>

/* A sentence that the server added to an answer (a `Warning` header), in its own words. */
typedef void (*kube_warning_fn)(const char *sentence, void *data);

/* Zero it to begin; without `fn` they are only remembered. */
struct kube_warnings {
	kube_warning_fn fn;
	void *data;
	char **told;
	size_t n_told, capacity;
};

/* Tells those of the answer that were not told before. */
void kube_warnings_take(struct kube_warnings *warnings, const struct http_answer *answer);
void kube_warnings_done(struct kube_warnings *warnings);
