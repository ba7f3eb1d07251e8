/* The local back end: a replica is a process group, its output a pipe, its exit a SIGCHLD.
 *
 * An attempt has ended when no process of it is left: its process was reaped after its group was
 * killed, and its descendants outside the group were killed and reaped too. They are found among
 * our children (we are a subreaper) by the attempt's mark in their environment. Only then its end
 * is observed, so that two attempts of one replica never run at the same time.
 *
 * One back end serves one job, that of its supervisor. */
#include "local/backend.h"

#include "base/backoff.h"
#include "io/control_group.h"
#include "io/port.h"
#include "jobs/processes.h"
#include "jobs/record.h"
#include "local/error_file.h"
#include "local/machine_gpus.h"
#include "local/queue.h"
#include "local/replica.h"
#include "local/start.h"
#include "logs/output_copies.h"
#include "logs/reader.h"

#include <signal.h>
#include <unistd.h>

#define FIRST_CHECK_DELAY ((msec) 1)
#define LAST_CHECK_DELAY MSEC_PER_SECOND
#define SHORTEST_STEP MSEC_PER_SECOND /* a smaller step of the clock is not corrected */
#define HOST "127.0.0.1"

/* Addresses of the job on this machine: ports that are claimed in the store. */

struct local_address {
	char *role;
	int index;
	int port;
	char *text; /* "127.0.0.1:20001" */
	bool is_published;
	bool was_used; /* its replica was started before */
};

struct local_ports {
	struct claims *claims; /* borrowed */
	bool are_private; /* in a private network */
	struct port_reservations reserved; /* against all other muster processes of this machine */
	struct local_address *addresses;
	size_t n_addresses;
	size_t capacity;
	int coordinator_port; /* 0: nothing is claimed */
};

/* Ports of a private network cannot be tested from outside; no other program takes one there. */
static bool claim_local_port(int number, void *data)
{
	struct local_ports *ports = data;

	return ports->are_private || port_reservations_take(&ports->reserved, number);
}

static struct local_address *find_local_address(const struct local_ports *ports, const char *role,
						int index)
{
	for (size_t i = 0; i < ports->n_addresses; i++) {
		struct local_address *address = &ports->addresses[i];

		if (address->index == index && text_equals(address->role, role))
			return address;
	}
	return NULL;
}

/* Tests the port of a replica that is about to restart. The replica keeps its port anyway, but a
 * program that has bound it meanwhile is reported. Returns the port, or 0 when it is free. */
static int local_ports_find_taken(struct local_ports *ports, const char *role, int index)
{
	struct local_address *address = find_local_address(ports, role, index);

	if (!address)
		return 0;
	bool is_taken = address->was_used && !ports->are_private && !port_is_free(address->port);

	address->was_used = true;
	return is_taken ? address->port : 0;
}

static size_t count_missing(const struct local_ports *ports, const struct job *job)
{
	size_t missing = 0;

	for (size_t i = 0; i < job->n_roles; i++)
		for (int index = 0; index < job->roles[i].replicas; index++)
			missing += !find_local_address(ports, job->roles[i].name, index);
	return missing;
}

static void assign_missing_ports(struct local_ports *ports, const struct job *job,
				 const int *numbers)
{
	for (size_t i = 0; i < job->n_roles; i++) {
		const char *role = job->roles[i].name;

		for (int index = 0; index < job->roles[i].replicas; index++) {
			if (find_local_address(ports, role, index))
				continue;
			mem_grow(&ports->addresses, &ports->capacity, ports->n_addresses,
				 sizeof(*ports->addresses));
			ports->addresses[ports->n_addresses++] = (struct local_address){
				.role = mem_copy_text(role),
				.index = index,
				.port = *numbers,
				.text = mem_format(HOST ":%d", *numbers),
			};
			numbers++;
		}
	}
}

static int claim_missing(struct local_ports *ports, const struct job *job, struct err *err)
{
	bool lacks_coordinator = ports->coordinator_port == 0;
	size_t count = count_missing(ports, job) + lacks_coordinator;
	int *numbers CLEANUP(mem_free_any) = mem_new_array(count, sizeof(*numbers));
	struct claim_request request = {.kind = CLAIM_PORT,
					.owner_uid = job->uid,
					.count = count,
					.is_free = claim_local_port,
					.data = ports};
	int rc = port_range(&request.low, &request.high, err);

	if (rc == 0)
		rc = ports->claims->functions->claim(ports->claims, &request, numbers, err);
	if (rc < 0)
		return rc;
	if (lacks_coordinator)
		ports->coordinator_port = numbers[0];
	assign_missing_ports(ports, job, numbers + lacks_coordinator);
	return 0;
}

/* Gives the replica its address. The first call claims a port for every replica of the job that has
 * none, and one where rank 0 meets the others; all or none. They stay over restarts. */
static int local_ports_publish(struct local_ports *ports, const struct job *job, const char *role,
			       int index, struct err *err)
{
	int rc = find_local_address(ports, role, index) ? 0 : claim_missing(ports, job, err);

	if (rc < 0)
		return rc;
	struct local_address *address = find_local_address(ports, role, index);

	if (!address)
		return err_set(err, ERR_NOT_FOUND, "job '%s' has no %s-%d", job->name, role, index);
	address->is_published = true;
	return 0;
}

static void local_ports_done(struct local_ports *ports)
{
	for (size_t i = 0; i < ports->n_addresses; i++) {
		free(ports->addresses[i].role);
		free(ports->addresses[i].text);
	}
	free(ports->addresses);
	port_reservations_done(&ports->reserved);
	*ports = (struct local_ports){.claims = ports->claims, .are_private = ports->are_private};
}

/* Releases all ports; no process may listen on them any longer. */
static int local_ports_release(struct local_ports *ports, const char *uid, struct err *err)
{
	if (ports->coordinator_port == 0)
		return 0;
	int rc = ports->claims->functions->release(ports->claims, CLAIM_PORT, uid, err);

	if (rc == 0)
		local_ports_done(ports);
	return rc;
}

/* Withdraws it; with the last address all ports are released in the store. */
static int local_ports_unpublish(struct local_ports *ports, const char *uid, const char *role,
				 int index, struct err *err)
{
	struct local_address *address = find_local_address(ports, role, index);

	if (address)
		address->is_published = false;
	for (size_t i = 0; i < ports->n_addresses; i++)
		if (ports->addresses[i].is_published)
			return 0;
	return local_ports_release(ports, uid, err);
}

static void local_ports_observe(const struct local_ports *ports, struct arena *arena,
				struct observed *observed)
{
	observed->addresses =
		arena_take_array(arena, ports->n_addresses, sizeof(*observed->addresses));
	for (size_t i = 0; i < ports->n_addresses; i++) {
		const struct local_address *address = &ports->addresses[i];

		if (address->is_published)
			observed->addresses[observed->n_addresses++] = (struct observed_address){
				.role = arena_copy_text(arena, address->role),
				.index = address->index,
				.address = arena_copy_text(arena, address->text),
			};
	}
}

/* The addresses of all replicas, for the environment of the job's processes; lives in the arena. */
static struct tf_cluster local_ports_cluster(const struct local_ports *ports, const struct job *job,
					     struct arena *arena)
{
	struct tf_cluster_address *addresses =
		arena_take_array(arena, ports->n_addresses, sizeof(*addresses));
	size_t count = 0;

	for (size_t i = 0; i < ports->n_addresses; i++) {
		const struct local_address *known = &ports->addresses[i];
		const struct role *role = job_role(job, known->role);

		if (role && known->index < role->replicas)
			addresses[count++] =
				(struct tf_cluster_address){known->role, known->index, known->text};
	}
	return (struct tf_cluster){
		.job = job,
		.addresses = addresses,
		.n_addresses = count,
		.coordinator_host = HOST,
		.coordinator_port = ports->coordinator_port,
	};
}

/* The back end. */

struct local {
	struct backend backend; /* first, so that a pointer to one is a pointer to the other */
	struct backend_local_settings settings;
	char *jobs_folder;
	char *job_name; /* NULL before the first observation */
	char *uid;
	struct local_ports ports;
	struct local_gpus gpus;
	struct local_queue queue;
	bool gives_back; /* GPUs, since the last observation: those that wait look after it */
	struct output_reader *reader;
	struct loop_watch *child_watch;
	struct loop_watch *kill_timer;
	struct loop_watch *resized; /* NULL: our processes have no terminals */
	struct local_stacks stacks; /* of replicas that are asked to exit after these are kept */
	struct loop_watch *look_timer; /* armed while a child cannot be assigned */
	int n_unclear_looks; /* in a row */
	struct local_replicas replicas;
	msec clock_offset; /* loop_clock_offset, last seen */
	msec clock_step; /* how far the clock was set since the last observation */
	double cores; /* shared by the job's replicas */
};

static struct local *local_backend_of(struct backend *backend)
{
	return (struct local *) backend;
}

static void notify_local_news(void *data)
{
	const struct local *local = data;

	if (local->job_name)
		local->settings.on_news(local->settings.data);
}

static char *job_folder(const struct local *local)
{
	return mem_format("%s/%s", local->jobs_folder, local->uid);
}

static void set_local_job_identity(struct local *local, const struct job *job)
{
	if (local->job_name)
		return;
	local->job_name = mem_copy_text(job->name);
	local->uid = mem_copy_text(job->uid);
	local->stacks.job_folder = job_folder(local);
	local->stacks.uid = local->uid;
}

/* Before times are compared with the present: a resumed virtual machine sets its clock. */
static void apply_clock_step(struct local *local)
{
	msec step = loop_clock_offset() - local->clock_offset;

	if (step > -SHORTEST_STEP && step < SHORTEST_STEP)
		return;
	local->clock_offset += step;
	local_replicas_move_times(&local->replicas, step);
	local->clock_step += step;
}

/* Observing. */

static int local_observe(struct backend *backend, const struct job *job, struct arena *arena,
			 struct observed *ret_observed, struct err *err)
{
	struct local *local = local_backend_of(backend);
	struct text told CLEANUP(text_done) = {0};
	struct observed observed = {
		.queue = local_queue_look(&local->queue, job, &local->gpus, &told),
		.traits =
			{
				.sends_signals = true,
				.kills_after_grace = true,
				.names_carry_attempt = true,
				.ends_finished_jobs = true,
			},
	};

	(void) err;
	if (told.len)
		local->settings.on_trouble(text_of(&told), local->settings.data);
	/* Once for all replicas that a pass has ended. */
	if (local->gives_back)
		local_queue_wake(local->settings.store, local->settings.state_folder);
	local->gives_back = false;
	set_local_job_identity(local, job);
	apply_clock_step(local);
	observed.clock_step = local->clock_step;
	local->clock_step = 0;
	local_replicas_observe(&local->replicas, arena, &observed);
	local_ports_observe(&local->ports, arena, &observed);
	*ret_observed = observed;
	return 0;
}

/* Starting. */

static void warn_if_port_is_taken(struct local *local, const struct action *action)
{
	int port = local_ports_find_taken(&local->ports, action->role, action->index);

	if (port == 0)
		return;
	char *sentence CLEANUP(mem_free_text) = mem_format(
		"port %d of %s-%d is still in use; to find the process: ss -tlnp 'sport = :%d'",
		port, action->role, action->index, port);

	local->settings.on_trouble(sentence, local->settings.data);
}

/* Without a log the replica runs all the same; its output is lost, which is reported. */
static struct log_writer *open_log(struct local *local, const struct log_name *name)
{
	char *folder CLEANUP(mem_free_text) = job_folder(local);
	struct log_writer *log;
	struct err err;

	if (log_writer_open(folder, name, local->settings.rotate_at, &log, &err) < 0) {
		local->settings.on_trouble(err.text, local->settings.data);
		return NULL;
	}
	log_writer_set_unsaved_output(log, local->settings.unsaved_output);
	log_writer_begin_copy(log, local->settings.copies);
	return log;
}

static struct terminal_size size_for_replicas(const struct local *local)
{
	struct terminal_size size = terminal_size(STDOUT_FILENO);

	if (size.columns > local->settings.name_columns)
		size.columns -= local->settings.name_columns;
	return size;
}

static void on_resized(int number, void *data)
{
	const struct local *local = data;
	const struct terminal_size size = size_for_replicas(local);
	const struct local_replica *replica;

	(void) number;
	TAILQ_FOREACH (replica, &local->replicas.list, link)
		if (replica->output)
			replica_output_set_size(replica->output, size);
}

static struct replica_logs open_logs(struct local *local, struct local_replica *replica)
{
	struct replica_logs logs = {.keeps_streams_apart = local->settings.keeps_streams_apart};
	struct log_name name;
	struct err err;

	if (log_name_make(replica->seen.role, replica->seen.index, replica->seen.attempt, &name,
			  &err) < 0) {
		local->settings.on_trouble(err.text, local->settings.data);
		return logs;
	}
	logs.log = open_log(local, &name);
	if (logs.log)
		replica->seen.log = mem_copy_text(log_writer_path(logs.log));
	name.is_stderr = true;
	if (logs.keeps_streams_apart)
		logs.error_log = open_log(local, &name);
	return logs;
}

/* With torchrun's log directory it is there. */
static char *error_file_of(const struct local *local, const char *role, int index, int attempt)
{
	char *folder CLEANUP(mem_free_text) = job_folder(local);
	struct log_name name;
	char *file = log_name_make(role, index, attempt, &name, NULL) == 0
			     ? output_copies_error_file(local->settings.copies, &name)
			     : NULL;

	return file ? file : job_attempt_file(folder, role, index, attempt, LOCAL_ERROR_FILE);
}

static void start_replica(struct local *local, const struct job *job, const struct role *role,
			  const struct action *action)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	char *folder CLEANUP(mem_free_text) = job_folder(local);
	char *error_file CLEANUP(mem_free_text) =
		error_file_of(local, action->role, action->index, action->attempt);
	struct tf_cluster cluster = local_ports_cluster(&local->ports, job, arena);
	const struct local_machine machine = {
		.visible_gpus =
			local_gpus_visible(&local->gpus, job, action->role, action->index, arena),
		.stacks_hook = local->stacks.hook,
		.error_file = error_file,
		.cores = local->cores,
	};
	struct local_replica *replica = local_replica_new(local->uid, action->role, action->index,
							  action->attempt, loop_now());
	const struct replica_input *input = &local->settings.input;
	struct child_start start;
	struct err err;

	warn_if_port_is_taken(local, action);
	cluster.report_folder = folder;
	/* A process sees one MIG device at most, whatever its LOCAL_RANK. */
	cluster.has_own_machines = local->gpus.gpus && gpus_have_mig(local->gpus.gpus) &&
				   gpu_assignment_is_disjoint(&local->gpus.deal);
	if (local->settings.join_world)
		local->settings.join_world(&cluster, arena, local->settings.world_data);
	local_start_describe(&cluster, role, action->index, action->attempt, &machine, arena,
			     &start);
	replica->seen.gpus = local_gpus_names(&local->gpus, action->role, action->index);
	replica->stop_file = job_attempt_file(folder, action->role, action->index, action->attempt,
					      LOCAL_STOP_FILE);
	if (input->fd && input->name.index == replica->seen.index &&
	    text_equals(input->name.role, replica->seen.role))
		start.input_fd = input->fd;
	start.nice = job->nice;
	start.descriptor_limit = local->settings.descriptor_limit;
	start.network = local->settings.network;
	struct replica_logs logs = open_logs(local, replica);
	struct terminal_size size;

	if (local->settings.has_terminals) {
		size = size_for_replicas(local);
		logs.terminal = &size;
	}

	output_reader_expect(local->reader,
			     (size_t) job_replica_count(job) * (logs.keeps_streams_apart ? 2 : 1));
	if (local_replica_start(replica, &start, local->reader, &logs, &err) < 0)
		local_replica_fail_start(replica, &err, loop_now());
	local_replicas_add(&local->replicas, replica);
}

/* Stopping. */

static void arm_kill_timer(struct local *local)
{
	apply_clock_step(local);
	loop_timer_arm_wall(local->kill_timer, local_replicas_next_kill(&local->replicas));
}

static void reap_children(void *data);

static void kill_overdue(void *data)
{
	struct local *local = data;

	apply_clock_step(local);
	local_replicas_kill_overdue(&local->replicas, loop_now());
	reap_children(local);
	arm_kill_timer(local);
}

static void end_those_that_left(struct local *local, bool has_children)
{
	enum local_check result = local_replicas_end_left(&local->replicas, has_children);

	/* That is so for less than a millisecond, unless the process hangs in the kernel: the
	 * pauses double. */
	if (result == LOCAL_CHECK_UNCLEAR)
		loop_timer_arm_after(local->look_timer,
				     backoff_pause(FIRST_CHECK_DELAY, LAST_CHECK_DELAY,
						   ++local->n_unclear_looks));
	if (result != LOCAL_CHECK_DONE)
		return;
	local->n_unclear_looks = 0;
	loop_timer_arm(local->look_timer, INSTANT_NEVER);
	arm_kill_timer(local);
	notify_local_news(local);
}

static void reap_children(void *data)
{
	struct local *local = data;
	struct child_exit child_exit;
	bool has_children;
	pid_t pid;
	int signal_number;

	apply_clock_step(local);
	/* When a process is stopped by a signal, its peers in the job fail because of it. */
	while (child_next_stop(&pid, &signal_number)) {
		struct local_replica *replica = local_replicas_find_process(&local->replicas, pid);

		if (!replica)
			continue;
		replica->stopped_by = signal_number;
		notify_local_news(local);
	}
	while (child_reap(&child_exit, &has_children, local_replicas_spare_group, &local->replicas))
		local_replicas_handle_exit(&child_exit, &local->replicas);
	end_those_that_left(local, has_children);
}

static void on_sigchld(int signal_number, void *data)
{
	(void) signal_number;
	reap_children(data);
}

void backend_local_kill_all(struct backend *backend)
{
	struct local *local = local_backend_of(backend);

	local_replicas_kill_all(&local->replicas, loop_now());
	child_kill_all(local_replicas_handle_exit, &local->replicas);
	end_those_that_left(local, false);
}

void backend_local_note_signal(struct backend *backend, int number)
{
	struct local_replica *replica;

	TAILQ_FOREACH (replica, &local_backend_of(backend)->replicas.list, link)
		replica->had_signal = number;
}

/* Actions. */

static int local_publish(struct local *local, const struct job *job, const struct action *action,
			 struct err *err)
{
	struct text told CLEANUP(text_done) = {0};
	int rc = local_gpus_assign(&local->gpus, job, action->role, action->index, &told, err);

	if (rc == ERR_LIMIT) /* they were free when the job was checked */
		return err_set(err, rc, "waits for its GPUs: other jobs were faster");
	if (rc < 0)
		return rc;
	if (told.len)
		local->settings.on_trouble(text_of(&told), local->settings.data);
	return local_ports_publish(&local->ports, job, action->role, action->index, err);
}

static int local_unpublish(struct local *local, const struct action *action, struct err *err)
{
	local->gives_back |= local->gpus.deal.count > 0;
	int rc = local_gpus_release(&local->gpus, local->uid, action->role, action->index, err);

	return rc < 0 ? rc
		      : local_ports_unpublish(&local->ports, local->uid, action->role,
					      action->index, err);
}

static int local_start(struct local *local, const struct job *job, const struct action *action,
		       struct err *err)
{
	const struct role *role = job_role(job, action->role);

	if (local_replicas_find(&local->replicas, action->role, action->index, action->attempt))
		return 0;
	if (!role)
		return err_set(err, ERR_NOT_FOUND, "job '%s' has no role '%s'", job->name,
			       action->role);
	start_replica(local, job, role, action);
	return 0;
}

static void local_end(struct local *local, const struct action *action)
{
	struct local_replica *replica =
		local_replicas_find(&local->replicas, action->role, action->index, action->attempt);

	if (!replica)
		return;
	if (action->type == ACTION_STOP) {
		local_replica_stop(replica, loop_now(), action->grace, action->signal);
		if (action->keeps_stacks && local->stacks.hook)
			local_stacks_ask(&local->stacks);
		else
			local_replica_send_held(replica);
	} else if (action->type == ACTION_KILL) {
		local_replica_kill(replica, loop_now());
	} else {
		local_replicas_remove(&local->replicas, replica);
	}
	arm_kill_timer(local);
}

static int local_apply(struct backend *backend, const struct job *job, const struct action *action,
		       struct err *err)
{
	struct local *local = local_backend_of(backend);

	set_local_job_identity(local, job);
	switch (action->type) {
	case ACTION_PUBLISH:
		return local_publish(local, job, action, err);
	case ACTION_UNPUBLISH:
		return local_unpublish(local, action, err);
	case ACTION_START:
		return local_start(local, job, action, err);
	case ACTION_STOP:
	case ACTION_KILL:
	case ACTION_REMOVE:
		local_end(local, action);
		return 0;
	case ACTION_TYPE_COUNT:
		break;
	}
	return err_set(err, ERR_UNSUPPORTED, "this machine has no action %d", (int) action->type);
}

/* Output and stacks of earlier attempts. */

static int local_last_lines(struct backend *backend, const struct job *job, const char *role,
			    int index, int attempt, size_t most, struct arena *arena,
			    struct printed *ret_printed, struct err *err)
{
	struct local *local = local_backend_of(backend);
	char *folder CLEANUP(mem_free_text) = job_folder(local);
	char *file CLEANUP(mem_free_text) = error_file_of(local, role, index, attempt);

	(void) job;
	int rc = log_last_lines(folder, role, index, attempt, most, arena, ret_printed, err);

	if (rc == 0 && most > 0)
		error_file_add(file, most, arena, ret_printed);
	return rc;
}

static int local_last_stacks(struct backend *backend, struct arena *arena, const char ***ret_lines,
			     size_t *ret_count, struct err *err)
{
	struct local *local = local_backend_of(backend);

	return local_stacks_summarize(&local->stacks, arena, ret_lines, ret_count, err);
}

/* Processes are not killed by this function: its owner has done that (backend_local_kill_all). */
static void local_free(struct backend *backend)
{
	struct local *local = local_backend_of(backend);

	if (local->uid)
		local_ports_release(&local->ports, local->uid, NULL);
	local_ports_done(&local->ports);
	local_gpus_done(&local->gpus);
	local_queue_done(&local->queue);
	local_stacks_done(&local->stacks);
	local_replicas_done(&local->replicas);
	output_reader_free(local->reader);
	loop_watch_free(local->child_watch);
	loop_watch_free(local->kill_timer);
	loop_watch_free(local->resized);
	loop_watch_free(local->look_timer);
	free(local->jobs_folder);
	free(local->job_name);
	free(local->uid);
	free(local);
}

static const struct backend_functions local_functions = {
	.name = "local",
	.observe = local_observe,
	.apply = local_apply,
	.last_lines = local_last_lines,
	.last_stacks = local_last_stacks,
	.free = local_free,
};

struct backend *backend_local_new(const struct backend_local_settings *settings)
{
	struct local *local = mem_new(sizeof(*local));
	const struct output_listener listener = {settings->on_output, settings->on_trouble,
						 settings->data};

	local->backend.functions = &local_functions;
	local->settings = *settings;
	local->jobs_folder = mem_copy_text(settings->jobs_folder);
	local->ports.claims = settings->claims;
	local->ports.are_private = settings->network != NULL;
	local->gpus = (struct local_gpus){.gpus = settings->gpus, .claims = settings->claims};
	local->queue = (struct local_queue){.loop = settings->loop,
					    .store = settings->store,
					    .gpus = settings->gpus,
					    .on_news = notify_local_news,
					    .data = local};
	local->reader = output_reader_new(settings->loop, &listener);
	local->clock_offset = loop_clock_offset();
	local->child_watch = loop_watch_signal(settings->loop, SIGCHLD, on_sigchld, local);
	local->kill_timer = loop_new_timer(settings->loop, kill_overdue, local);
	if (settings->has_terminals)
		local->resized = loop_watch_signal(settings->loop, SIGWINCH, on_resized, local);
	local->look_timer = loop_new_timer(settings->loop, reap_children, local);
	local_stacks_init(&local->stacks, &local->replicas, settings->state_folder, settings->loop);
	local->stacks.on_kept = notify_local_news;
	local->stacks.data = local;
	local->cores = cores_real();
	TAILQ_INIT(&local->replicas.list);
	local->replicas.oom_kills = oom_kill_count();
	return &local->backend;
}

int backend_local_export_error(struct backend *backend, const struct failure *failure,
			       const char *to, struct err *err)
{
	const struct local *local = local_backend_of(backend);
	int exit_code = failure->signal ? -failure->signal : failure->exit_code;
	char *file CLEANUP(mem_free_text) =
		error_file_of(local, failure->role, failure->index, failure->attempt);

	return error_file_export(file, exit_code, to, err);
}
