/* The stage: time, the two ends of the reconciler, the transcript and what must always hold. */
#include "scenario/stage.h"

#include "base/mem.h"
#include "jobs/record.h"
#include "reconcile/compact_status.h"
#include "reconcile/plan.h"
#include "reconcile/reconcile.h"
#include "reconcile/status_seen.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No job needs more passes than this at one moment. */
#define MOST_PASSES 200

static struct stage *stage_of_backend(struct backend *backend)
{
	return (struct stage *) backend;
}

static struct stage *stage_of_store(struct store *store)
{
	return (struct stage *) ((char *) store - offsetof(struct stage, seen_store));
}

static void break_rule(struct stage *stage, const char *format, ...) PRINTF_LIKE(2, 3);

static void break_rule(struct stage *stage, const char *format, ...)
{
	char sentence[300];
	va_list values;

	if (stage->broken.len)
		return;
	va_start(values, format);
	vsnprintf(sentence, sizeof(sentence), format, values);
	va_end(values);
	text_addf(&stage->broken, "at %.3f: %s", (double) (stage->now - STAGE_BEGIN) / 1000,
		  sentence);
}

static void say(struct stage *stage, const char *format, ...) PRINTF_LIKE(2, 3);

static void say(struct stage *stage, const char *format, ...)
{
	char line[1000];
	va_list values;

	if (stage->is_silent)
		return;
	va_start(values, format);
	vsnprintf(line, sizeof(line), format, values);
	va_end(values);
	text_addf(&stage->transcript, "\t%.3f %s\n", (double) (stage->now - STAGE_BEGIN) / 1000,
		  line);
}

/* One more effect has reached the world; it may be the last one of this reconciler. */
static void count_effect(struct stage *stage)
{
	stage->n_effects++;
	if (stage->crashes_always || stage->n_effects == stage->crash_after)
		stage->is_lost = true;
}

/* The transcript of a status: what changed in it. */

static void say_condition(struct stage *stage, const struct condition *condition)
{
	const struct condition *old = status_condition(&stage->status, condition->type);

	if (old && old->is_true == condition->is_true &&
	    text_equals(old->reason, condition->reason))
		return;
	say(stage, "%s=%s %s: %s", condition_type_words[condition->type],
	    condition->is_true ? "True" : "False", condition->reason, condition->message);
}

static void say_replica(struct stage *stage, const struct replica_status *replica)
{
	const struct replica_status *old =
		status_replica(&stage->status, replica->role, replica->index);

	if (old && old->state == replica->state && old->attempt == replica->attempt)
		return;
	if (old || replica->state != REPLICA_PENDING)
		say(stage, "%s-%d.%d %s", replica->role, replica->index, replica->attempt,
		    replica_state_words[replica->state]);
}

static void say_status(struct stage *stage, const struct status *status)
{
	for (size_t i = 0; i < status->n_replicas; i++)
		say_replica(stage, &status->replicas[i]);
	for (size_t i = 0; i < status->n_conditions; i++)
		say_condition(stage, &status->conditions[i]);
	if (status->exit_code != stage->status.exit_code)
		say(stage, "exit code %d", status->exit_code);
}

/* What must hold between two statuses that follow each other. */

static void check_replica(struct stage *stage, const struct status *status,
			  const struct replica_status *old, bool is_planned)
{
	const struct replica_status *new = status_replica(status, old->role, old->index);
	bool was_ended_by_us = old->state == REPLICA_STOPPING || old->state == REPLICA_STOPPED;
	bool has_run = old->start_time != MSEC_UNSET || replica_state_is_end(old->state);

	if (!new) {
		break_rule(stage, "%s-%d was forgotten", old->role, old->index);
		return;
	}
	if (new->attempt < old->attempt || new->attempt > old->attempt + 1)
		break_rule(stage, "%s-%d went from attempt %d to %d", old->role, old->index,
			   old->attempt, new->attempt);
	if (new->attempt > old->attempt && !was_ended_by_us && !is_planned &&
	    has_run &&new->restarts != old->restarts + 1)
		break_rule(stage, "%s-%d.%d was replaced, and nobody was charged", old->role,
			   old->index, old->attempt);
	if (new->attempt > old->attempt && status_is_finished(status))
		break_rule(stage, "%s-%d got attempt %d in a finished job", old->role, old->index,
			   new->attempt);
}

static void check_end(struct stage *stage, const struct status *status)
{
	const struct status *old = &stage->status;

	if (status_condition_is_true(status, CONDITION_FAILED) != (status->exit_code > 0))
		break_rule(stage, "exit code %d", status->exit_code);
	if (status_condition_is_true(status, CONDITION_FAILED) && !status->failure)
		break_rule(stage, "failed without a reason");

	if (status_condition_is_true(status, CONDITION_SUCCEEDED) &&
	    status_condition_is_true(status, CONDITION_FAILED))
		break_rule(stage, "the job both succeeded and failed");
	if (status_is_finished(status) &&
	    (status->completion_time == MSEC_UNSET || status->exit_code < 0))
		break_rule(stage, "finished without completion time or exit code");
	if (!status_is_finished(old))
		return;
	if (status->exit_code != old->exit_code || status->n_conditions != old->n_conditions ||
	    status->completion_time != old->completion_time || status->restarts != old->restarts)
		break_rule(stage, "the end of the job changed");
}

static bool is_scaled(const struct status *status)
{
	const struct condition *condition = status_condition(status, CONDITION_RESTARTING);

	return condition && text_equals(condition->reason, "TFJobScaled");
}

static void check_status(struct stage *stage, const struct status *status)
{
	bool is_resumed = status_condition_is_true(&stage->status, CONDITION_SUSPENDED) &&
			  !status_condition_is_true(status, CONDITION_SUSPENDED);
	bool is_new_size = is_scaled(status);

	for (size_t i = 0; i < stage->status.n_replicas; i++)
		check_replica(stage, status, &stage->status.replicas[i], is_resumed || is_new_size);
	check_end(stage, status);
}

static void remember_status(struct stage *stage, const char *text)
{
	struct arena *arena = arena_new();
	struct json *value CLEANUP(json_cleanup) = NULL;
	struct status status;
	struct err err;

	if (json_read(text, strlen(text), &value, &err) < 0 ||
	    compact_status_read(value, arena, &status, &err) < 0) {
		break_rule(stage, "the status cannot be read back: %s", err.text);
		arena_free(arena);
		return;
	}
	check_status(stage, &status);
	say_status(stage, &status);
	arena_free(stage->arena);
	stage->arena = arena;
	stage->status = status;
}

/* The store as the reconciler sees it. */

static int seen_get(struct store *store, const char *name, struct store_record *ret_record,
		    struct err *err)
{
	struct stage *stage = stage_of_store(store);

	return stage->store->functions->get(stage->store, name, ret_record, err);
}

/* Somebody else writes the document that is there once more. */
static void disturb(struct stage *stage)
{
	struct json *document CLEANUP(json_cleanup) = stage_document(stage);

	stage->n_conflicts--;
	stage_change_document(stage, document);
}

static int seen_change(struct store *store, const char *name, int64_t version,
		       const struct store_change *change, int64_t *ret_version, struct err *err)
{
	struct stage *stage = stage_of_store(store);

	if (stage->is_lost)
		return err_set(err, ERR_IO, "the reconciler is lost");
	if (stage->n_full > 0) {
		stage->n_full--;
		return err_set(err, ERR_SPACE, "no space left on device");
	}
	if (stage->n_conflicts > 0)
		disturb(stage);
	int rc = stage->store->functions->change(stage->store, name, version, change, ret_version,
						 err);

	if (rc < 0)
		return rc;
	if (change->status)
		remember_status(stage, change->status);
	count_effect(stage);
	return stage->is_lost ? err_set(err, ERR_IO, "the reconciler is lost") : 0;
}

static int seen_remove(struct store *store, const char *name, const char *uid, struct err *err)
{
	struct stage *stage = stage_of_store(store);

	if (stage->is_lost)
		return err_set(err, ERR_IO, "the reconciler is lost");
	say(stage, "the job is deleted");
	return stage->store->functions->remove(stage->store, name, uid, err);
}

/* A change on its way to a store that is far away. */
struct stage_write {
	struct store_record record; /* name and version, and the parts that change */
	msec done_at;
	store_done_fn done;
	void *data;
};

static void forget_write(struct stage *stage)
{
	if (stage->write)
		store_record_done(&stage->write->record);
	free(stage->write);
	stage->write = NULL;
}

static void finish_change(struct stage *stage, const struct store_record *record,
			  store_done_fn done, void *data)
{
	const struct store_change change = {
		.document = record->document, .status = record->status, .summary = record->summary};
	int64_t version = 0;
	struct err err = {0};
	int rc = seen_change(&stage->seen_store, record->name, record->version, &change, &version,
			     &err);

	done(version, rc < 0 ? &err : NULL, data);
}

static void seen_begin_change(struct store *store, const char *name, int64_t version,
			      const struct store_change *change, store_done_fn done, void *data)
{
	struct stage *stage = stage_of_store(store);
	struct store_record record = {
		.name = mem_copy_text(name),
		.version = version,
		.document = mem_copy_text(change->document),
		.status = mem_copy_text(change->status),
		.summary = mem_copy_text(change->summary),
	};

	if (stage->write)
		break_rule(stage, "a write was started while another is on its way");
	if (stage->write_takes == 0) {
		finish_change(stage, &record, done, data);
		store_record_done(&record);
		return;
	}
	forget_write(stage);
	stage->write = mem_new(sizeof(*stage->write));
	*stage->write = (struct stage_write){.record = record,
					     .done_at = stage->now + stage->write_takes,
					     .done = done,
					     .data = data};
}

/* The write that is due arrives, and its answer. */
static void let_write_arrive(struct stage *stage)
{
	struct stage_write *write = stage->write;

	if (!write || write->done_at > stage->now)
		return;
	stage->write = NULL;
	finish_change(stage, &write->record, write->done, write->data);
	store_record_done(&write->record);
	free(write);
}

static const struct store_functions seen_store_functions = {
	.get = seen_get,
	.change = seen_change,
	.begin_change = seen_begin_change,
	.remove = seen_remove,
};

/* The back end as the reconciler sees it. */

static int seen_observe(struct backend *backend, const struct job *job, struct arena *arena,
			struct observed *ret_observed, struct err *err)
{
	struct stage *stage = stage_of_backend(backend);

	return stage->backend->functions->observe(stage->backend, job, arena, ret_observed, err);
}

static void say_action(struct stage *stage, const struct action *action)
{
	const char *verb = action_type_words[action->type];
	bool is_term = action->signal == 0 || action->signal == SIGTERM;

	if (action->type == ACTION_PUBLISH || action->type == ACTION_UNPUBLISH)
		say(stage, "%s %s-%d", verb, action->role, action->index);
	else if (action->type == ACTION_STOP)
		say(stage, "%s %s-%d.%d%s%s, %.3g s grace", verb, action->role, action->index,
		    action->attempt, is_term ? "" : " by ",
		    is_term ? "" : sigabbrev_np(action->signal), (double) action->grace / 1000);
	else
		say(stage, "%s %s-%d.%d", verb, action->role, action->index, action->attempt);
}

static void check_action(struct stage *stage, const struct action *action)
{
	const struct replica_status *replica =
		status_replica(&stage->status, action->role, action->index);

	if (status_is_finished(&stage->status) &&
	    (action->type == ACTION_START || action->type == ACTION_PUBLISH))
		break_rule(stage, "%s in a finished job", action_type_words[action->type]);
	if (action->type == ACTION_START && (!replica || replica->attempt != action->attempt))
		break_rule(stage, "start of %s-%d.%d, which was not written first", action->role,
			   action->index, action->attempt);
	if (action->type == ACTION_STOP && replica && replica->attempt == action->attempt &&
	    replica->state != REPLICA_STOPPING)
		break_rule(stage, "stop of %s-%d.%d, which was not written first", action->role,
			   action->index, action->attempt);
}

static bool is_same_and_live(const struct observed_replica *a, const struct observed_replica *b)
{
	return a->index == b->index && text_equals(a->role, b->role) && observed_is_live(a) &&
	       observed_is_live(b);
}

static void check_lives(struct stage *stage, const struct job *job)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct observed observed;

	if (stage->backend->functions->observe(stage->backend, job, arena, &observed, NULL) < 0)
		return;
	for (size_t i = 0; i < observed.n_replicas; i++)
		for (size_t k = i + 1; k < observed.n_replicas; k++)
			if (is_same_and_live(&observed.replicas[i], &observed.replicas[k]))
				break_rule(stage, "%s-%d lives in two attempts",
					   observed.replicas[i].role, observed.replicas[i].index);
}

/* Of the job as replicas are told of it that cannot take a change. */
static int size_of(const struct job *job)
{
	int size = 0;

	for (size_t i = 0; i < job->n_roles; i++)
		if (job_resizes_whole(job, &job->roles[i]))
			size += job->roles[i].replicas;
	return size;
}

static void remember_start(struct stage *stage, const struct job *job, const struct action *action)
{
	mem_grow(&stage->starts, &stage->capacity_of_starts, stage->n_starts,
		 sizeof(*stage->starts));
	struct stage_start *start = &stage->starts[stage->n_starts++];

	snprintf(start->role, sizeof(start->role), "%s", action->role);
	start->index = action->index;
	start->attempt = action->attempt;
	start->size = size_of(job);
}

static int seen_apply(struct backend *backend, const struct job *job, const struct action *action,
		      struct err *err)
{
	struct stage *stage = stage_of_backend(backend);

	if (stage->is_lost)
		return err_set(err, ERR_IO, "the reconciler is lost");
	say_action(stage, action);
	check_action(stage, action);
	int rc = stage->backend->functions->apply(stage->backend, job, action, err);

	if (rc < 0)
		say(stage, "(refused)");
	else if (action->type == ACTION_START) {
		remember_start(stage, job, action);
		check_lives(stage, job);
	}
	count_effect(stage);
	return rc;
}

static int seen_last_lines(struct backend *backend, const struct job *job, const char *role,
			   int index, int attempt, size_t most, struct arena *arena,
			   struct printed *ret_printed, struct err *err)
{
	struct stage *stage = stage_of_backend(backend);

	return stage->backend->functions->last_lines(stage->backend, job, role, index, attempt,
						     most, arena, ret_printed, err);
}

static const struct backend_functions seen_backend_functions = {
	.name = "stage",
	.observe = seen_observe,
	.apply = seen_apply,
	.last_lines = seen_last_lines,
};

/* A note whose sentence stands in a condition already is told by its reason. */
static void on_note(const struct job *job, const struct note *note, void *data)
{
	struct stage *stage = data;
	bool is_told = false;

	(void) job;
	if (stage->is_lost)
		return;
	for (size_t i = 0; i < stage->status.n_conditions; i++)
		is_told |= text_equals(stage->status.conditions[i].message, note->sentence);
	say(stage, "%s %s%s%s", note->level == NOTE_WARNING ? "warning" : "note", note->reason,
	    is_told ? "" : ": ", is_told ? "" : note->sentence);
	count_effect(stage);
}

static void on_passed(const struct reconciler_outcome *outcome, const struct err *err, void *data)
{
	struct stage *stage = data;

	if (err && !stage->is_lost)
		stage->n_trouble++;
	stage->wake_at = outcome->wake_at;
	stage->is_gone = outcome->is_gone;
	stage->is_finished = outcome->is_finished;
}

void stage_replace_driver(struct stage *stage)
{
	const struct reconciler_settings settings = {
		.store = &stage->seen_store,
		.backend = &stage->seen_backend,
		.job_name = STAGE_JOB,
		.listener = {.on_note = on_note, .data = stage},
		.on_passed = on_passed,
		.data = stage,
	};

	reconciler_free(stage->reconciler);
	forget_write(stage);
	stage->is_lost = false;
	stage->reconciler = reconciler_new(&settings);
}

struct stage *stage_new(const struct backend_fake_settings *settings)
{
	struct stage *stage = mem_new(sizeof(*stage));

	stage->seen_backend.functions = &seen_backend_functions;
	stage->seen_store.functions = &seen_store_functions;
	stage->now = STAGE_BEGIN;
	stage->wake_at = MSEC_NEVER;
	stage->store = store_memory_new();
	stage->backend = backend_fake_new(settings, stage->now);
	stage->status.exit_code = -1;
	stage_replace_driver(stage);
	return stage;
}

void stage_keep_statuses_small(struct stage *stage)
{
	stage->seen_store.is_small = stage->store->is_small = true;
}

void stage_free(struct stage *stage)
{
	if (!stage)
		return;
	reconciler_free(stage->reconciler);
	forget_write(stage);
	stage->backend->functions->free(stage->backend);
	stage->store->functions->free(stage->store);
	arena_free(stage->arena);
	free(stage->starts);
	text_done(&stage->transcript);
	text_done(&stage->broken);
	free(stage);
}

void stage_cleanup(struct stage **stage)
{
	stage_free(*stage);
}

/* The job's document. */

static char *first_fault(const struct faults *faults)
{
	return faults->count ? mem_format("%s: %s", faults->list[0].path, faults->list[0].sentence)
			     : mem_copy_text("unknown fault");
}

char *stage_create_job(struct stage *stage, const struct json *document)
{
	struct job *job CLEANUP(job_cleanup) = NULL;
	struct faults faults CLEANUP(faults_done) = {0};
	struct store_record record CLEANUP(store_record_done) = {0};
	struct err err;

	if (job_read(document, NULL, JOB_STRICT, &faults, &job) < 0)
		return first_fault(&faults);
	job_set_uid(job, "00000000-0000-0000-0000-000000000001");
	if (reconciler_create_job(stage->store, job, NULL, "", NULL, stage->now, &err) < 0 ||
	    stage->store->functions->get(stage->store, STAGE_JOB, &record, &err) < 0)
		return mem_copy_text(err.text);
	remember_status(stage, record.status);
	stage->wake_at = stage->now;
	return NULL;
}

struct json *stage_document(struct stage *stage)
{
	struct store_record record CLEANUP(store_record_done) = {0};
	struct json *document = NULL;

	if (stage->store->functions->get(stage->store, STAGE_JOB, &record, NULL) < 0 ||
	    json_read(record.document, strlen(record.document), &document, NULL) < 0)
		return NULL;
	return document;
}

void stage_change_document(struct stage *stage, const struct json *document)
{
	struct store_record record CLEANUP(store_record_done) = {0};
	struct text text CLEANUP(text_done) = {0};
	int64_t version;

	if (stage->store->functions->get(stage->store, STAGE_JOB, &record, NULL) < 0)
		return;
	json_add_compact(&text, document);
	const struct store_change change = {.document = text_of(&text)};

	if (stage->store->functions->change(stage->store, STAGE_JOB, record.version, &change,
					    &version, NULL) < 0)
		break_rule(stage, "the document could not be changed");
	stage->wake_at = stage->now;
}

void stage_suspend(struct stage *stage, bool is_suspended)
{
	struct json *document CLEANUP(json_cleanup) = stage_document(stage);

	if (!document)
		return;
	json_set_bool(json_object_at(json_object_at(document, "spec"), "runPolicy"), "suspend",
		      is_suspended);
	stage_change_document(stage, document);
}

/* What a new supervisor writes first. */
static void go_on_after_the_end(struct stage *stage, const struct json *document)
{
	struct store_record record CLEANUP(store_record_done) = {0};
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct faults faults CLEANUP(faults_done) = {0};
	struct job *job CLEANUP(job_cleanup) = NULL;
	struct status status, before = stage->status;
	int64_t version;

	if (job_read(document, NULL, JOB_LENIENT, &faults, &job) < 0 ||
	    stage->store->functions->get(stage->store, STAGE_JOB, &record, NULL) < 0)
		return;
	reconcile_resume(job, &before, stage->now, arena, &status);
	if (record_write(stage->store, job, true, record.version, &status, NULL, &version, NULL) <
	    0)
		break_rule(stage, "the job could not be resumed");
	for (size_t i = 0; i < before.n_replicas; i++)
		check_replica(stage, &status, &before.replicas[i], true);
	store_record_done(&record);
	if (stage->store->functions->get(stage->store, STAGE_JOB, &record, NULL) < 0)
		return;
	stage->status = (struct status){.exit_code = -1};
	remember_status(stage, record.status);
	stage->is_finished = false;
	stage->wake_at = stage->now;
}

void stage_resume(struct stage *stage)
{
	struct json *document CLEANUP(json_cleanup) = stage_document(stage);

	if (!document || !status_condition_is_true(&stage->status, CONDITION_FAILED) ||
	    !stage->is_finished) {
		stage_suspend(stage, false);
		return;
	}
	json_remove(json_get_path(document, "metadata", "annotations", NULL), JOB_ANNOTATION_STOP);
	json_remove(json_get_path(document, "spec", "runPolicy", NULL), "suspend");
	go_on_after_the_end(stage, document);
}

void stage_scale(struct stage *stage, const char *role_title, int replicas)
{
	struct json *document CLEANUP(json_cleanup) = stage_document(stage);
	struct json *role = json_get_path(document, "spec", "tfReplicaSpecs", role_title, NULL);

	if (!role)
		return;
	json_set_integer(role, "replicas", replicas);
	stage_change_document(stage, document);
}

void stage_stop(struct stage *stage, const char *reason)
{
	struct json *document CLEANUP(json_cleanup) = stage_document(stage);

	if (!document)
		return;
	json_set_string(json_object_at(json_object_at(document, "metadata"), "annotations"),
			JOB_ANNOTATION_STOP, reason);
	stage_change_document(stage, document);
}

void stage_see_replicas(struct stage *stage, struct arena *arena, struct status *status)
{
	struct json *document CLEANUP(json_cleanup) = stage_document(stage);
	struct faults faults CLEANUP(faults_done) = {0};
	struct job *job CLEANUP(job_cleanup) = NULL;
	struct observed observed;

	if (!stage->seen_store.is_small || stage->is_gone ||
	    job_read(document, NULL, JOB_LENIENT, &faults, &job) < 0 ||
	    stage->backend->functions->observe(stage->backend, job, arena, &observed, NULL) < 0)
		return;
	status_see(job, &observed, arena, status);
}

/* Time. */

static void pass(struct stage *stage)
{
	stage->wake_at = MSEC_NEVER; /* while a write is on its way */
	let_write_arrive(stage);
	reconciler_run_pass(stage->reconciler, stage->now);
	if (!stage->is_lost)
		return;
	stage_replace_driver(stage);
	stage->wake_at = stage->now;
}

/* What must hold when nothing is left to do: every object is known for what it is. */
static void check_object(struct stage *stage, const struct observed_replica *object)
{
	const struct replica_status *replica =
		status_replica(&stage->status, object->role, object->index);
	bool is_current = replica && replica->attempt == object->attempt;

	if (observed_is_live(object) && !is_current && !observed_was_asked_to_end(object))
		break_rule(stage, "%s-%d.%d is a leftover, and nobody ends it", object->role,
			   object->index, object->attempt);
	if (!observed_is_live(object) && is_current && replica->end_time == MSEC_UNSET &&
	    !stage->seen_store.is_small)
		break_rule(stage, "the end of %s-%d.%d was lost", object->role, object->index,
			   object->attempt);
	if (!observed_is_live(object) && replica && replica->attempt < object->attempt)
		break_rule(stage, "nobody knows attempt %d of %s-%d", object->attempt, object->role,
			   object->index);
}

static const struct stage_start *start_of(const struct stage *stage,
					  const struct observed_replica *object)
{
	for (size_t i = 0; i < stage->n_starts; i++) {
		const struct stage_start *start = &stage->starts[i];

		if (start->index == object->index && start->attempt == object->attempt &&
		    text_equals(start->role, object->role))
			return start;
	}
	return NULL;
}

/* What had done its work before it was scaled away is missed by nobody. */
static int count_done_and_unwanted(const struct stage *stage, const struct job *job)
{
	int count = 0;

	for (size_t i = 0; i < stage->status.n_replicas; i++) {
		const struct replica_status *replica = &stage->status.replicas[i];
		const struct role *role = job_role(job, replica->role);

		count += role && replica->index >= role->replicas && replica->exit_code == 0 &&
			 job_resizes_whole(job, role);
	}
	return count;
}

/* A replica that cannot take a change of the job's size lives in the size that it was told of,
 * unless all are about to end. */
static void check_sizes(struct stage *stage, const struct observed *observed)
{
	struct json *document CLEANUP(json_cleanup) = stage_document(stage);
	struct faults faults CLEANUP(faults_done) = {0};
	struct job *job CLEANUP(job_cleanup) = NULL;

	if (status_is_finished(&stage->status) ||
	    job_read(document, NULL, JOB_LENIENT, &faults, &job) < 0 || job->is_suspended ||
	    job->stop_reason)
		return;
	int most = size_of(job) + count_done_and_unwanted(stage, job);

	for (size_t i = 0; i < observed->n_replicas; i++) {
		const struct observed_replica *object = &observed->replicas[i];
		const struct role *role = job_role(job, object->role);
		const struct stage_start *start = start_of(stage, object);

		if (observed_is_live(object) && !observed_was_asked_to_end(object) && role &&
		    start && job_resizes_whole(job, role) &&
		    (start->size < size_of(job) || start->size > most))
			break_rule(stage,
				   "%s-%d.%d was started in a job of %d and lives in one of %d",
				   object->role, object->index, object->attempt, start->size,
				   size_of(job));
	}
}

static void check_objects(struct stage *stage)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct observed observed;

	if (stage->backend->functions->observe(stage->backend, NULL, arena, &observed, NULL) < 0)
		return;
	for (size_t i = 0; i < observed.n_replicas; i++)
		check_object(stage, &observed.replicas[i]);
	check_sizes(stage, &observed);
	if (stage->is_finished && observed.traits.ends_finished_jobs &&
	    (observed.n_replicas || observed.n_addresses))
		break_rule(stage, "finished, and something is left");
}

/* Deciding again does nothing and waits for the same moment. */
static void check_quiet(struct stage *stage)
{
	long n_effects = stage->n_effects;
	msec wake_at = stage->wake_at;

	pass(stage);
	if (stage->n_effects != n_effects)
		break_rule(stage, "a second decision did something");
	if (stage->wake_at != wake_at)
		break_rule(stage, "a second decision wakes at another moment");
}

void stage_settle(struct stage *stage)
{
	int n_trouble = stage->n_trouble;
	int n_passes = 0;

	do {
		pass(stage);
		if (++n_passes > MOST_PASSES * (stage->crashes_always ? 10 : 1)) {
			break_rule(stage, "passes without end");
			return;
		}
	} while (stage->wake_at <= stage->now);
	if (stage->n_trouble != n_trouble || stage->is_gone || stage->write)
		return;
	check_objects(stage);
	check_quiet(stage);
}

msec stage_next(const struct stage *stage)
{
	msec next = msec_min(stage->wake_at, backend_fake_next_event(stage->backend));

	return stage->write ? msec_min(next, stage->write->done_at) : next;
}

void stage_advance(struct stage *stage, msec until)
{
	for (msec next = stage_next(stage); next <= until && next != MSEC_NEVER;
	     next = stage_next(stage)) {
		stage->now = next > stage->now ? next : stage->now;
		backend_fake_advance(stage->backend, stage->now);
		stage_settle(stage);
		if (stage->broken.len)
			return;
	}
	if (until == MSEC_NEVER)
		return;
	stage->now = until;
	backend_fake_advance(stage->backend, until);
}
