/* Reports the warnings that a server adds to its answers, each once. */
#pragma once

#include "http/client.h"

#include <stddef.h>

/* Receives a warning of the server (a `Warning` header), in the server's words. */
typedef void (*kube_warning_fn)(const char *sentence, void *data);

/* Zero it to begin; without `fn` warnings are only recorded. */
struct kube_warnings {
	kube_warning_fn fn;
	void *data;
	char **told;
	size_t n_told, capacity;
};

/* Reports the warnings of the answer that were not reported before. */
void kube_warnings_take(struct kube_warnings *warnings, const struct http_answer *answer);
void kube_warnings_done(struct kube_warnings *warnings);
