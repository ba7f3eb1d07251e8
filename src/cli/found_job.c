#include "cli/found_job.h"

int job_state_read(const struct found_job *found, struct job_state *state, struct err *err)
{
	struct json *object CLEANUP(json_cleanup) = NULL;
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct status status;
	int rc = found->client->functions->get(found->client, found->name, &object, err);

	if (rc == 0)
		rc = status_read(json_get(object, "status"), arena, &status, err);
	if (rc < 0)
		return rc;
	json_free(state->object);
	arena_free(state->arena);
	state->object = TAKE(object);
	state->arena = TAKE(arena);
	state->status = status;
	return 0;
}

int job_state_read_job(const struct found_job *found, struct job_state *state, struct err *err)
{
	int rc = job_state_read(found, state, err);

	return rc < 0 || state->job ? rc : client_read_job(state->object, &state->job, err);
}

void job_state_done(struct job_state *state)
{
	json_free(state->object);
	arena_free(state->arena);
	job_free(state->job);
}

const struct role *job_choose_replica(const struct job *job, const struct log_name *replica,
				      struct err *err)
{
	const struct role *role =
		*replica->role ? job_role(job, replica->role) : job_default_role(job);
	const char *name = role ? role->name : *replica->role ? replica->role : "replica";

	if (role && replica->index < role->replicas)
		return role;
	err_set(err, ERR_NOT_FOUND, "job '%s' has no %s-%d", job->name, name, replica->index);
	return NULL;
}

int change_job(const struct found_job *found, const struct json *patch, struct err *err)
{
	struct job_state state CLEANUP(job_state_done) = {0};
	int rc = job_state_read(found, &state, err);

	if (rc == 0 && status_is_finished(&state.status))
		rc = err_set(err, ERR_REFUSED, "job '%s' has ended", found->name);
	return rc < 0 ? rc
		      : found->client->functions->patch(found->client, found->name, patch, err);
}

int change_suspension(const struct found_job *found, bool is_suspended, struct err *err)
{
	struct json *patch CLEANUP(json_cleanup) = json_new_object();

	json_set_bool(json_object_at(json_object_at(patch, "spec"), "runPolicy"), "suspend",
		      is_suspended);
	return change_job(found, patch, err);
}
