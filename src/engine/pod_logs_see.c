/* What the log of a Pod has to know of the Pod. */
#include "core/pod_template.h"
#include "engine/pod_logs.h"

#include <limits.h>

#define TRAINING_CONTAINER "tensorflow"

/* How often the container was started again in this Pod. */
static int restarts_of(const struct json *pod, const char *container)
{
	const struct json *list = json_get_path(pod, "status", "containerStatuses", NULL);
	const struct json *status = pod_template_find(list, "name", container);
	int64_t count = json_as_integer(json_get(status, "restartCount"), 0);

	return count > 0 && count < INT_MAX ? (int) count : 0;
}

void pod_logs_see(struct pod_logs *logs, const struct job *job, const struct json *pod,
		  const struct observed_replica *seen)
{
	const struct json *metadata = json_get(pod, "metadata");
	const struct role *role = job_role(job, seen->role);
	const struct pod_log_name name = {
		.pod_name = json_as_string(json_get(metadata, "name"), ""),
		.uid = json_as_string(json_get(metadata, "uid"), ""),
		.container = role ? role->container.name : TRAINING_CONTAINER,
		.role = seen->role,
		.index = seen->index,
		.attempt = seen->attempt,
	};
	const struct log_container container = {
		.has_ended = !observed_is_live(seen),
		.is_ending = observed_was_asked_to_end(seen),
		.n_restarts = restarts_of(pod, name.container),
	};

	if (seen->started_at != MSEC_UNSET)
		pod_logs_follow(logs, &name, &container);
}
