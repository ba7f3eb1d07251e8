/* Events that tell why Pods are not set up on their nodes (volumes, network), for all jobs of a
 * namespace at once. For each such list the server reads all Events of the namespace, so separate
 * requests of many jobs would overload it. */
#pragma once

#include "base/json.h"
#include "kube/api.h"

struct pod_warnings;

struct pod_warnings_settings {
	struct kube_api *api;
	/* Called before the list: whether a job still wants it. */
	bool (*is_wanted)(const char *namespace_name, void *data);
	/* The newest first, all borrowed; none if the request failed. It may call
	 * pod_warnings_ask. */
	void (*on_listed)(const char *namespace_name, const struct json *const *events,
			  size_t count, void *data);
	void *data;
};

struct pod_warnings *pod_warnings_new(const struct pod_warnings_settings *settings) MUST_USE;
void pod_warnings_free(struct pod_warnings *warnings); /* no callback follows; NULL is fine */
/* Lists the Events ten seconds from now, or together with an earlier request for this namespace. If
 * permission is missing, the next list is minutes later. */
void pod_warnings_ask(struct pod_warnings *warnings, const char *namespace_name);

/* Whether this is the reason of such an Event. */
bool pod_warnings_is_reason(const char *reason);
