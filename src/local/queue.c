#include "local/queue.h"

#include "io/file.h"
#include "io/log.h"
#include "jobs/orphaned_job.h"
#include "jobs/record.h"
#include "jobs/state_folder.h"
#include "jobs/supervisor_id.h"
#include "local/control.h"

#define NUMBERS 64 /* of a set */
#define TRIES 8 /* other processes change the queue meanwhile */
#define LOOK_AGAIN (5 * MSEC_PER_SECOND) /* at what cannot be watched: it is on another machine */

struct awaited_job {
	char *name;
	char *uid; /* NULL: it did not exist */
	bool must_succeed;
};

struct queue_watch {
	struct loop_watch *watch;
	int fd;
};

/* The decision. */

static uint64_t bit(size_t number)
{
	return (uint64_t) 1 << number % NUMBERS;
}

bool queue_admits(const struct claim_queue *queue, const char *uid, uint64_t free, bool *ret_ahead)
{
	for (size_t i = 0; i < queue->count; i++) {
		const struct claim_waiter *waiter = &queue->list[i];
		uint64_t usable = free & waiter->usable;
		bool is_enough = gpus_count(usable) >= waiter->count;

		if (text_equals(waiter->owner_uid, uid))
			return is_enough;
		if (is_enough)
			usable = gpus_take_lowest(&usable, waiter->count);
		else if (waiter->n_passed < QUEUE_PASSES)
			usable = 0;
		free &= ~usable;
		ret_ahead[i] = usable != 0;
	}
	return false;
}

/* Watching supervisors. */

static void on_supervisor_exit(void *data)
{
	const struct local_queue *queue = data;

	/* Until the next look, which watches anew. */
	for (size_t i = 0; i < queue->n_watches; i++)
		loop_watch_enable(queue->watches[i].watch, false);
	queue->on_news(queue->data);
}

static void watch_nothing(struct local_queue *queue)
{
	for (size_t i = 0; i < queue->n_watches; i++) {
		loop_watch_free(queue->watches[i].watch);
		file_close(&queue->watches[i].fd);
	}
	queue->n_watches = 0;
	loop_watch_free(TAKE(queue->timer));
}

static void watch_supervisor(struct local_queue *queue, const char *supervisor)
{
	int fds[2];
	size_t count = supervisor_open(supervisor, fds);

	for (size_t i = 0; i < count; i++) {
		mem_grow(&queue->watches, &queue->watch_capacity, queue->n_watches,
			 sizeof(*queue->watches));
		queue->watches[queue->n_watches++] = (struct queue_watch){
			.watch =
				loop_watch_readable(queue->loop, fds[i], on_supervisor_exit, queue),
			.fd = fds[i],
		};
	}
	if (count == 2 || queue->timer)
		return;
	queue->timer = loop_new_timer(queue->loop, on_supervisor_exit, queue);
	loop_timer_arm_after(queue->timer, LOOK_AGAIN);
}

/* Whether processes of the job may run: a finished job still ends some, until it has no supervisor.
 */
static bool is_supervised(const struct store_record *record)
{
	return !record_is_finished(record) || record->supervisor[0];
}

/* Watches the supervisor of a job that has GPUs or waits for them. True: it has none any more, so
 * its claims are released. */
static bool has_ended(struct local_queue *queue, const char *name, const char *uid)
{
	struct store_record record CLEANUP(store_record_done) = {0};
	struct claims *claims = queue->store->claims;

	if (!name)
		return claims->functions->release(claims, CLAIM_GPU, uid, NULL) == 0;
	int rc = orphaned_job_get(queue->store, name, &record, NULL);

	if (rc == 0 && text_equals(record.uid, uid) && is_supervised(&record)) {
		watch_supervisor(queue, record.supervisor);
		return false;
	}
	return rc == 0 || rc == ERR_NOT_FOUND;
}

/* Other jobs. */

static void add_awaited(struct local_queue *queue, const char *names, bool must_succeed)
{
	char *copy CLEANUP(mem_free_text) = mem_copy_text(names);
	char *rest = copy;

	for (char *name; (name = strsep(&rest, ","));) {
		struct store_record record CLEANUP(store_record_done) = {0};
		struct awaited_job *awaited = &queue->awaited[queue->n_awaited++];
		int rc = queue->store->functions->get(queue->store, name, &record, NULL);

		*awaited = (struct awaited_job){.name = mem_copy_text(name),
						.uid = rc == 0 ? TAKE(record.uid) : NULL,
						.must_succeed = must_succeed};
	}
}

static size_t count_names(const char *names)
{
	size_t count = names != NULL;

	for (; names && *names; names++)
		count += *names == ',';
	return count;
}

static void read_awaited(struct local_queue *queue, const struct job *job)
{
	size_t count = count_names(job->after) + count_names(job->after_any);

	if (queue->awaited || count == 0)
		return;
	queue->awaited = mem_new_array(count, sizeof(*queue->awaited));
	add_awaited(queue, job->after, true);
	add_awaited(queue, job->after_any, false);
}

/* Whether to wait for the end of this job. Adds why it was in vain. */
static bool waits_for_job(struct local_queue *queue, const struct awaited_job *awaited,
			  const struct job *job, struct text *vain)
{
	struct store_record record CLEANUP(store_record_done) = {0};
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct summary summary;
	int rc = orphaned_job_get(queue->store, awaited->name, &record, NULL);
	bool is_there = rc == 0 && text_equals(record.uid, awaited->uid);

	if (rc < 0 && rc != ERR_NOT_FOUND) { /* the store cannot be read now */
		watch_supervisor(queue, "");
		return true;
	}
	if (text_equals(awaited->uid, job->uid))
		text_addf(vain, "it would wait for itself");
	if (vain->len)
		return false;
	if (is_there && is_supervised(&record)) {
		watch_supervisor(queue, record.supervisor);
		return true;
	}
	if (!awaited->must_succeed)
		return false;
	if (!is_there) {
		text_addf(vain, "job '%s', which it should follow, %s", awaited->name,
			  awaited->uid ? "was deleted" : "does not exist");
		return false;
	}
	record_read_summary(&record, arena, &summary);
	if (summary.exit_code != 0)
		text_addf(vain,
			  "job '%s', which it should follow, has not succeeded (exit code %d)",
			  awaited->name, summary.exit_code);
	return false;
}

static bool waits_for_jobs(struct local_queue *queue, const struct job *job)
{
	size_t n_left = 0;

	read_awaited(queue, job);
	text_clear(&queue->text);
	text_clear(&queue->details);
	queue->observed = (struct observed_queue){.details = ""};
	for (size_t i = 0; i < queue->n_awaited; i++) {
		const struct awaited_job *awaited = &queue->awaited[i];

		if (waits_for_job(queue, awaited, job, &queue->details))
			text_addf(&queue->text, "%sjob '%s' to %s", n_left++ ? ", " : "",
				  awaited->name, awaited->must_succeed ? "succeed" : "end");
		if (queue->details.len) {
			queue->observed.vain = text_of(&queue->details);
			return true;
		}
	}
	queue->observed.awaited = text_of(&queue->text);
	return n_left > 0;
}

/* GPUs. */

/* The free GPUs and those of all, as numbers of the machine. */
static int read_free(struct local_queue *queue, const char *uid, uint64_t *ret_free,
		     uint64_t *ret_all, struct err *err)
{
	gpu_set held;
	int rc = machine_gpus_held(queue->gpus, queue->store->claims, uid, &held, &queue->details,
				   err);

	*ret_free = *ret_all = 0;
	for (size_t i = 0; rc == 0 && i < queue->gpus->count; i++) {
		uint64_t number = bit((size_t) queue->gpus->list[i].number);

		*ret_all |= number;
		*ret_free |= held >> i & 1 ? 0 : number;
	}
	return rc;
}

/* Watches the supervisors of all jobs that have GPUs, and of those that come first. True: one of
 * them has ended, so the queue has changed. */
static bool watch_holders(struct local_queue *queue, const char *uid,
			  const struct claim_queue *waiters, const bool *is_ahead)
{
	struct claim_list claims CLEANUP(claim_list_done) = {0};
	struct claims *all = queue->store->claims;
	bool has_changed = false;

	watch_nothing(queue);
	if (all->functions->list(all, CLAIM_GPU, &claims, NULL) < 0)
		return true;
	for (size_t i = 0; i < claims.count; i++) {
		const struct claim *claim = &claims.list[i];
		bool is_next = i == 0 || !text_equals(claim->owner_uid, claim[-1].owner_uid);

		if (is_next && !text_equals(claim->owner_uid, uid))
			has_changed |= has_ended(queue, claim->job_name, claim->owner_uid);
	}
	for (size_t i = 0; i < waiters->count; i++)
		if (is_ahead[i])
			has_changed |= has_ended(queue, waiters->list[i].job_name,
						 waiters->list[i].owner_uid);
	return has_changed;
}

/* Others pass one whose supervisor is stopped by a signal (Ctrl-Z): it cannot claim its GPUs. True:
 * there is one of those. */
static bool pass_stopped(struct store *store, struct claim_queue *waiters, const bool *is_ahead)
{
	bool is_any = false;

	for (size_t i = 0; i < waiters->count; i++) {
		struct store_record record CLEANUP(store_record_done) = {0};
		struct claim_waiter *waiter = &waiters->list[i];

		if (!is_ahead[i] || !waiter->job_name ||
		    store->functions->get(store, waiter->job_name, &record, NULL) < 0)
			continue;
		pid_t supervisor = supervisor_find(record.supervisor);

		if (supervisor > 0 && process_is_stopped(supervisor)) {
			waiter->usable = 0;
			is_any = true;
		}
	}
	return is_any;
}

static bool is_in_queue(const struct claim_queue *waiters, const char *uid, size_t count,
			uint64_t usable)
{
	for (size_t i = 0; i < waiters->count; i++)
		if (text_equals(waiters->list[i].owner_uid, uid))
			return waiters->list[i].count == count && waiters->list[i].usable == usable;
	return false;
}

/* One look. 0: the job has its GPUs. ERR_LIMIT: it waits. ERR_CONFLICT: look again. */
static int try_to_claim(struct local_queue *queue, const struct job *job, size_t count,
			struct local_gpus *gpus, struct text *told, struct err *err)
{
	struct claims *claims = queue->store->claims;
	struct claim_queue waiters CLEANUP(claim_queue_done) = {0};
	uint64_t free, all;

	text_clear(&queue->details);
	int rc = read_free(queue, job->uid, &free, &all, err);
	if (rc == 0)
		rc = claims->functions->list_queue(claims, CLAIM_GPU, &waiters, err);
	if (rc < 0)
		return rc;
	if (!is_in_queue(&waiters, job->uid, count, all)) {
		rc = claims->functions->enqueue(claims, CLAIM_GPU, job->uid, count, all, err);
		return rc < 0 ? rc : ERR_CONFLICT;
	}
	bool *is_ahead CLEANUP(mem_free_any) = mem_new_array(waiters.count + 1, sizeof(bool));
	bool may_claim;

	do
		may_claim = queue_admits(&waiters, job->uid, free, is_ahead);
	while (!may_claim && pass_stopped(queue->store, &waiters, is_ahead));
	if (!may_claim)
		return watch_holders(queue, job->uid, &waiters, is_ahead) ? ERR_CONFLICT
									  : ERR_LIMIT;
	rc = local_gpus_assign(gpus, job, job->roles[0].name, 0, told, err);
	return rc == ERR_LIMIT ? ERR_CONFLICT : rc; /* a job that does not wait was faster */
}

static bool waits_for_gpus(struct local_queue *queue, const struct job *job,
			   struct local_gpus *gpus, struct text *told)
{
	size_t count =
		job->waits_for_gpus && queue->gpus ? gpu_assignment_count(job, queue->gpus) : 0;
	struct err err = {0};
	int rc = ERR_CONFLICT;

	if (count == 0)
		return false;
	for (int n_tries = 0; rc == ERR_CONFLICT && n_tries < TRIES; n_tries++)
		rc = try_to_claim(queue, job, count, gpus, told, &err);
	if (rc == 0)
		return false;
	if (rc != ERR_LIMIT) {
		log_info("queue: looking again: %s", err.text);
		watch_supervisor(queue, "");
	}
	text_clear(&queue->text);
	text_addf(&queue->text, "%zu GPU%s", count, count == 1 ? "" : "s");
	queue->observed = (struct observed_queue){.awaited = text_of(&queue->text),
						  .details = text_of(&queue->details)};
	return true;
}

const struct observed_queue *local_queue_look(struct local_queue *queue, const struct job *job,
					      struct local_gpus *gpus, struct text *told)
{
	bool may_start = queue->store && !job->is_suspended && !job->stop_reason;

	if (job->is_suspended)
		queue->is_admitted = false;
	watch_nothing(queue);
	if (!may_start || queue->is_admitted)
		return NULL;
	if (waits_for_jobs(queue, job) || waits_for_gpus(queue, job, gpus, told))
		return &queue->observed;
	watch_nothing(queue);
	queue->is_admitted = true;
	return NULL;
}

void local_queue_done(struct local_queue *queue)
{
	watch_nothing(queue);
	for (size_t i = 0; i < queue->n_awaited; i++) {
		free(queue->awaited[i].name);
		free(queue->awaited[i].uid);
	}
	free(queue->awaited);
	free(queue->watches);
	text_done(&queue->text);
	text_done(&queue->details);
}

void local_queue_wake(struct store *store, const char *state_folder)
{
	struct claim_queue waiters CLEANUP(claim_queue_done) = {0};

	if (!store ||
	    store->claims->functions->list_queue(store->claims, CLAIM_GPU, &waiters, NULL))
		return;
	for (size_t i = 0; i < waiters.count; i++) {
		struct store_record record CLEANUP(store_record_done) = {0};
		const char *name = waiters.list[i].job_name;

		if (!name || store->functions->get(store, name, &record, NULL))
			continue;
		char *folder CLEANUP(mem_free_text) = state_folder_job(state_folder, record.uid);

		control_wake(folder, supervisor_find(record.supervisor));
	}
}
