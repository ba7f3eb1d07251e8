/* For its processes, a synchronous job of another size is another job. Each got the list of all
 * others at its start, and TensorFlow answers an unknown task by ending all tasks ("Unexpected task
 * registered").
 *
 * The running size is the recorded one. A wanted replica that was not recorded, or was stopped
 * since, was added. A recorded replica at work that is not wanted was removed. Each change is seen
 * once, because the new status records the present replicas. */
#include "reconcile/resize.h"

#include "base/text.h"

static bool was_at_work(const struct replica *replica)
{
	return replica->is_remembered &&
	       (replica->last_state == REPLICA_PENDING || replica->last_state == REPLICA_STARTING ||
		replica->last_state == REPLICA_RUNNING);
}

static bool was_ended(const struct replica *replica)
{
	return replica->last_state == REPLICA_STOPPING || replica->last_state == REPLICA_STOPPED;
}

static bool has_replica_set_changed(const struct replica *replica)
{
	return replica->is_wanted ? !replica->is_remembered || was_ended(replica)
				  : was_at_work(replica);
}

/* If the job no longer has a replica's role, the role's world is gone too. */
static bool changes_size(const struct decision *decision, const struct replica *replica)
{
	return has_replica_set_changed(replica) &&
	       (!replica->role || job_resizes_whole(decision->job, replica->role));
}

static bool has_size_changed(const struct decision *decision)
{
	bool has_changed = false;
	bool is_first_observation = true;

	for (size_t i = 0; i < decision->n_replicas; i++) {
		has_changed |= changes_size(decision, &decision->replicas[i]);
		is_first_observation &= !decision->replicas[i].is_remembered;
	}
	return has_changed && !is_first_observation;
}

/* Replicas that have not started yet will get the new size. */
static bool is_any_at_work(const struct decision *decision)
{
	for (size_t i = 0; i < decision->n_replicas; i++) {
		const struct replica *replica = &decision->replicas[i];

		if (replica->is_wanted && replica_is_live(replica) &&
		    job_resizes_whole(decision->job, replica->role))
			return true;
	}
	return false;
}

static void report_resize_restart(struct decision *decision)
{
	const char *message =
		arena_format(decision->arena, "job %s is restarting because it was scaled.",
			     decision->job->name);
	struct text sentence CLEANUP(text_done) = {0};

	text_add(&sentence, "the job was scaled to ");
	job_describe_size(decision->job, &sentence);
	text_add(&sentence, ": restarting all replicas; the running processes have ");
	text_add_duration(&sentence, decision->job->grace);
	text_add(&sentence, " to exit");
	decision_set_condition(decision, CONDITION_RESTARTING, true, "TFJobScaled", message);
	decision_note(decision, NOTE_NORMAL, "TFJobScaled",
		      arena_copy_text(decision->arena, text_of(&sentence)));
}

void resize_if_scaled(struct decision *decision)
{
	if (!has_size_changed(decision) || !is_any_at_work(decision))
		return;
	/* the field tells why the job last restarted, which was no failure */
	decision->status->failure = NULL;
	decision->plan->is_failure_new = false;
	decision_forget_delays(decision);
	decision_begin_all_attempts(decision);
	report_resize_restart(decision);
}
