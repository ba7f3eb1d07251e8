/* Events that say why Pods are not set up on their nodes (volumes, network), for all jobs of a
 * namespace at once: for each such list a server reads all Events of the namespace, so that many
 * jobs that each ask are a flood. */
#pragma once

#include "base/json.h"
#include "base/own.h"
#include "io/loop.h"
#include "kube/api.h"

#include <stdbool.h>
#include <stddef.h>

struct pod_warnings;

struct pod_warnings_settings {
	struct loop *loop;
	struct kube_api *api;
	/* Whether somebody still wants them, when they are about to be listed. */
	bool (*is_wanted)(const char *namespace_name, void *data);
	/* The newest first, all borrowed; none where the call has failed. May ask again. */
	void (*on_listed)(const char *namespace_name, const struct json *const *events,
			  size_t count, void *data);
	void *data;
};

struct pod_warnings *pod_warnings_new(const struct pod_warnings_settings *settings) MUST_USE;
void pod_warnings_free(struct pod_warnings *warnings); /* tells nothing more; NULL is fine */
/* They are listed ten seconds from now, or with those that were asked for here before; without the
 * right to, they are asked for again after minutes. */
void pod_warnings_ask(struct pod_warnings *warnings, const char *namespace_name);

/* Whether it is a reason of such an Event. */
bool pod_warnings_is_reason(const char *reason);
