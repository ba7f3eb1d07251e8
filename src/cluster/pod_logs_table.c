/* A table of Pods by name, each with its log. */
#include "cluster/pod_logs.h"

#include "base/mem.h"
#include "cluster/pod_logs_parts.h"
#include "io/file.h"
#include "logs/folder.h"

#include <stdlib.h>

#define SILENCE (600 * MSEC_PER_SECOND)

struct pod_logs *pod_logs_new(const struct pod_logs_settings *settings)
{
	struct pod_logs *logs = mem_new(sizeof(*logs));

	/* A log with lines needs, with the console's, four open files: a large job exceeds the
	 * usual limit of 1024. */
	descriptor_limit_raise_to_most();
	logs->settings = *settings;
	if (!logs->settings.output_idle)
		logs->settings.output_idle = SILENCE;
	logs->lock_fd = settings->folder ? log_folder_lock(settings->folder) : -1;
	return logs;
}

static void free_log(struct pod_log *log)
{
	pod_log_close(log);
	free(log->uid);
	free(log->pod_name);
	free(log->container);
	free(log->role);
	free(log->words);
	free(log);
}

void pod_logs_free(struct pod_logs *logs)
{
	struct mirror_entry *entry;
	size_t place = 0;

	if (!logs)
		return;
	while ((entry = mirror_table_next(&logs->table, &place)))
		free_log(entry->kept);
	mirror_table_done(&logs->table);
	file_close(&logs->lock_fd);
	text_done(&logs->batch);
	free(logs);
}

static struct pod_log *find_pod_log(const struct pod_logs *logs, const char *pod_name)
{
	const struct mirror_entry *entry = mirror_table_find(&logs->table, pod_name);

	return entry ? entry->kept : NULL;
}

/* Known logs. */

static struct pod_log *log_new(struct pod_logs *logs, const struct pod_log_name *name)
{
	struct pod_log *log = mem_new(sizeof(*log));

	log->logs = logs;
	log->uid = mem_copy_text(name->uid);
	log->pod_name = mem_copy_text(name->pod_name);
	log->container = mem_copy_text(name->container);
	log->role = mem_copy_text(name->role);
	log->index = name->index;
	log->attempt = name->attempt;
	log->timer = loop_new_timer(kube_api_loop(logs->settings.api), pod_log_begin_stream, log);
	logs->n_open++;
	return log;
}

/* A new state of the container may end a wait, and starts one for a stream that does not end. */
static void apply_container_state(struct pod_log *log, const struct log_container *container)
{
	struct log_container before = log->follow.container;
	bool is_new = !log->follow.has_started || container->has_ended != before.has_ended ||
		      container->n_restarts != before.n_restarts;

	log->follow.container.is_ending |= container->is_ending;
	if (!pod_log_is_open(log) || !(is_new || container->is_gone))
		return;
	log->logs->n_ended_open += container->has_ended;
	log->logs->n_ended_open -= before.has_ended;
	log->follow.container = *container;
	log->follow.container.is_ending |= before.is_ending;
	if (is_new)
		pod_log_poll(log);
}

void pod_logs_follow(struct pod_logs *logs, const struct pod_log_name *name,
		     const struct log_container *container)
{
	struct mirror_entry *entry = mirror_table_put(&logs->table, name->pod_name);
	struct pod_log *log = entry->kept;
	struct log_name written;

	/* Lines that an earlier muster process wrote are sent again, as a whole. */
	if (!log && logs->settings.folder &&
	    log_name_make(name->role, name->index, name->attempt, &written, NULL) == 0)
		log_writer_remove(logs->settings.folder, &written);
	if (log && !text_equals(log->uid, name->uid)) {
		free_log(log);
		log = NULL;
	}
	entry->kept = log ? log : log_new(logs, name);
	/* If only the present log is wanted, it ends there. */
	apply_container_state(entry->kept, &(struct log_container){
						   .has_ended = container->has_ended ||
								logs->settings.ends_at_once,
						   .is_ending = container->is_ending,
						   .n_restarts = container->n_restarts,
					   });
}

void pod_logs_update(struct pod_logs *logs, const struct job_pod *pod)
{
	const struct observed_replica *seen = &pod->seen;
	const struct pod_log_name name = {
		.pod_name = pod->name,
		.uid = pod->uid,
		.container = pod->container,
		.role = seen->role,
		.index = seen->index,
		.attempt = seen->attempt,
	};
	const struct log_container container = {
		.has_ended = !observed_is_live(seen),
		.is_ending = observed_was_asked_to_end(seen),
		.n_restarts = pod->n_restarts,
	};

	if (seen->started_at != MSEC_UNSET)
		pod_logs_follow(logs, &name, &container);
}

void pod_logs_gone(struct pod_logs *logs, const char *pod_name)
{
	struct pod_log *log = logs ? find_pod_log(logs, pod_name) : NULL;

	if (!log)
		return;
	struct log_container container = log->follow.container;

	container.has_ended = container.is_gone = true;
	apply_container_state(log, &container);
}

/* Streams are closed: an unread one would stall the others on its connection. */
void pod_logs_pause(struct pod_logs *logs)
{
	struct mirror_entry *entry;
	size_t place = 0;

	logs->is_paused = true;
	while ((entry = mirror_table_next(&logs->table, &place)))
		pod_log_give_up_stream(entry->kept);
}

void pod_logs_resume(struct pod_logs *logs)
{
	struct mirror_entry *entry;
	size_t place = 0;

	logs->is_paused = false;
	while ((entry = mirror_table_next(&logs->table, &place))) {
		struct pod_log *log = entry->kept;

		if (pod_log_is_open(log) && !log->call)
			loop_timer_arm_after(log->timer, 0);
	}
}

bool pod_logs_is_open(const struct pod_logs *logs, const char *pod_name, const char *uid)
{
	const struct pod_log *log = logs ? find_pod_log(logs, pod_name) : NULL;

	return log && pod_log_is_open(log) && text_equals(log->uid, uid);
}

bool pod_logs_is_any_ended_open(const struct pod_logs *logs)
{
	return logs && logs->n_ended_open > 0;
}

bool pod_logs_is_any_open(const struct pod_logs *logs)
{
	return logs->n_open > 0;
}

msec pod_logs_known_until(const struct pod_logs *logs)
{
	const struct mirror_entry *entry;
	msec until = MSEC_NEVER;
	size_t place = 0;

	while ((entry = mirror_table_next(&logs->table, &place))) {
		const struct pod_log *log = entry->kept;

		if (pod_log_is_open(log))
			until = msec_min(until, log->last_time);
	}
	return until;
}
