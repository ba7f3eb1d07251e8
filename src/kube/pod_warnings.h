/* The Events that warn of Pods, for all jobs of a namespace at once: for each such list a server
 * reads all Events of the namespace, so that many jobs that each ask are a flood. */
#pragma once

#include "base/json.h"
#include "base/own.h"
#include "io/loop.h"
#include "kube/api.h"

#include <stdbool.h>

struct pod_warnings;

struct pod_warnings_settings {
	struct loop *loop;
	struct kube_api *api;
	/* Whether somebody still wants them, when they are about to be listed. */
	bool (*is_wanted)(const char *namespace_name, void *data);
	/* `events`: borrowed, a thousand of them at most; NULL: the call has failed. May ask again.
	 */
	void (*on_listed)(const char *namespace_name, const struct json *events, void *data);
	void *data;
};

struct pod_warnings *pod_warnings_new(const struct pod_warnings_settings *settings) MUST_USE;
void pod_warnings_free(struct pod_warnings *warnings); /* tells nothing more; NULL is fine */
/* They are listed ten seconds from now, or with those that were asked for here before. Without the
 * right to list them they never come. */
void pod_warnings_ask(struct pod_warnings *warnings, const char *namespace_name);
