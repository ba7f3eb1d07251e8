#include "elastic/orchestrator.h"

#include "base/mem.h"
#include "base/names.h"
#include "elastic/job.h"
#include "io/file.h"
#include "jobs/registration.h"
#include "spec/limits.h"

#define JSON_TYPE "application/json"
#define AFTER "after=" /* in the query of a reader */
#define NO_JOB "the server has no elastic job '%s'"
#define DRAIN_REPLY_TIME (5 * MSEC_PER_SECOND)

struct orchestrator {
	struct orchestrator_settings settings;
	struct http_server *server;
	struct loop_watch *timer;
	struct store *store; /* NULL: nothing is stored */
	struct elastic_job **jobs; /* in order of their start */
	size_t n_jobs, capacity;
	/* Connections on which a drain was asked for: what came of it will be asked there, too. */
	size_t n_drain_askers;
	instant drain_askers_until; /* for this long at most */
};

/* Time. */

static void arm_orchestrator_timer(struct orchestrator *orchestrator)
{
	instant wake_at =
		orchestrator->n_drain_askers ? orchestrator->drain_askers_until : INSTANT_NEVER;

	for (size_t i = 0; i < orchestrator->n_jobs; i++)
		wake_at = instant_min(wake_at, elastic_job_wake_at(orchestrator->jobs[i]));
	loop_timer_arm(orchestrator->timer, wake_at);
}

static void report_if_idle(const struct orchestrator *orchestrator)
{
	const struct orchestrator_settings *settings = &orchestrator->settings;

	if (settings->on_idle && orchestrator_is_idle(orchestrator))
		settings->on_idle(settings->data);
}

static void release_drain_askers(struct orchestrator *orchestrator, size_t count)
{
	orchestrator->n_drain_askers -= count;
	report_if_idle(orchestrator);
}

static void on_orchestrator_timer(void *data)
{
	struct orchestrator *orchestrator = data;
	instant now = loop_monotonic_now();

	for (size_t i = 0; i < orchestrator->n_jobs; i++)
		if (instant_has_come(elastic_job_wake_at(orchestrator->jobs[i]), now))
			elastic_job_handle_timer(orchestrator->jobs[i], now);
	if (orchestrator->n_drain_askers && instant_has_come(orchestrator->drain_askers_until, now))
		release_drain_askers(orchestrator, orchestrator->n_drain_askers);
	arm_orchestrator_timer(orchestrator);
}

static void on_elastic_job_change(struct elastic_job *job, void *data)
{
	struct orchestrator *orchestrator = data;

	arm_orchestrator_timer(orchestrator);
	if (elastic_job_is_over(job))
		report_if_idle(orchestrator);
}

/* Answers. */

static void answer_json(struct http_call *call, int status, const struct json *object)
{
	struct text text CLEANUP(text_done) = {0};

	json_add_compact(&text, object);
	http_call_answer(call, status, JSON_TYPE, text_of(&text), text.len);
}

static void answer_error(struct http_call *call, int status, const char *sentence)
{
	struct json *object CLEANUP(json_cleanup) = json_new_texts("error", sentence, NULL);

	answer_json(call, status, object);
}

/* Jobs. */

static struct elastic_job **find_elastic_job(const struct orchestrator *orchestrator,
					     const char *name)
{
	for (size_t i = 0; i < orchestrator->n_jobs; i++)
		if (text_equals(orchestrator->jobs[i]->settings.name, name))
			return &orchestrator->jobs[i];
	return NULL;
}

static void print_elastic_sentence(const char *sentence, void *data)
{
	const struct orchestrator *orchestrator = data;

	if (orchestrator->settings.say)
		orchestrator->settings.say(sentence, orchestrator->settings.data);
}

static struct elastic_job_settings settings_of_jobs(struct orchestrator *orchestrator)
{
	return (struct elastic_job_settings){
		.loop = orchestrator->settings.loop,
		.lease = orchestrator->settings.lease,
		.store = orchestrator->store,
		.on_change = on_elastic_job_change,
		.say = print_elastic_sentence,
		.data = orchestrator,
	};
}

static bool is_uid_of_other_job(const struct orchestrator *orchestrator, const char *name,
				const char *uid)
{
	for (size_t i = 0; i < orchestrator->n_jobs; i++) {
		const struct elastic_job_settings *job = &orchestrator->jobs[i]->settings;

		if (text_equals(job->uid, uid) && !text_equals(job->name, name))
			return true;
	}
	return false;
}

static void add_job(struct orchestrator *orchestrator, struct elastic_job *job)
{
	mem_grow(&orchestrator->jobs, &orchestrator->capacity, orchestrator->n_jobs,
		 sizeof(struct elastic_job *));
	orchestrator->jobs[orchestrator->n_jobs++] = job;
}

/* Deletes the oldest finished job to make room. */
static bool evict_oldest_ended_job(struct orchestrator *orchestrator)
{
	size_t at = 0;

	if (orchestrator->n_jobs < LIMIT_ELASTIC_JOBS)
		return true;
	while (at < orchestrator->n_jobs && !elastic_job_is_over(orchestrator->jobs[at]))
		at++;
	if (at == orchestrator->n_jobs)
		return false;
	elastic_job_forget(orchestrator->jobs[at]);
	elastic_job_free(orchestrator->jobs[at]);
	memmove(orchestrator->jobs + at, orchestrator->jobs + at + 1,
		(--orchestrator->n_jobs - at) * sizeof(struct elastic_job *));
	return true;
}

/* The first member creates the job. The name of a finished job is free again. */
static int begin_job(struct orchestrator *orchestrator, struct elastic_job **old, const char *name,
		     const struct member_request *request, struct elastic_job **ret_job,
		     struct err *err)
{
	struct elastic_job_settings settings = settings_of_jobs(orchestrator);
	/* Members of a job without a record know its uid. One that gives the uid of another job
	 * gets a new one: a job whose uid is taken could not be stored. */
	bool is_known = *request->uid && !is_uid_of_other_job(orchestrator, name, request->uid);
	char *uid CLEANUP(mem_free_text) = is_known ? NULL : job_uid_new();

	settings.name = name;
	settings.uid = uid ? uid : request->uid;
	settings.terms = request->terms;
	struct elastic_job *job = elastic_job_new(&settings, loop_monotonic_now());
	int rc = elastic_job_check_first_call(job, request, loop_monotonic_now(), err);

	if (rc == 0 && !old && !evict_oldest_ended_job(orchestrator))
		rc = err_set(err, ERR_LIMIT, "the server already has %d jobs, which is the maximum",
			     LIMIT_ELASTIC_JOBS);
	if (rc < 0) {
		elastic_job_free(job);
		return rc;
	}
	if (old) {
		elastic_job_replace(job, *old);
		elastic_job_free(*old);
		*old = job;
	} else {
		add_job(orchestrator, job);
	}
	*ret_job = job;
	return 0;
}

static int find_or_start_elastic_job(struct orchestrator *orchestrator, const char *name,
				     const struct member_request *request,
				     struct elastic_job **ret_job, struct err *err)
{
	struct elastic_job **found = find_elastic_job(orchestrator, name);
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();

	/* Its members know a job that this server has no record of: it is begun again. If a
	 * newcomer has begun it before them, they join that one. */
	bool is_without_record = !found || !(*found)->has_past;

	if (*request->uid && !is_without_record &&
	    !text_equals((*found)->settings.uid, request->uid))
		return err_set(err, ERR_NOT_FOUND, "its job '%s' no longer exists", name);
	if (request->report.has_left && !*request->uid) {
		*ret_job = *found;
		return 0;
	}
	if (!found || (!*request->uid && elastic_job_is_over(*found)))
		return begin_job(orchestrator, found, name, request, ret_job, err);
	const char *differs =
		member_terms_differ(&(*found)->settings.terms, &request->terms, arena);

	if (differs && (*found)->rendezvous->members.count == 0)
		return begin_job(orchestrator, found, name, request, ret_job, err);
	/* After a restart of the server its members have one lease to reconnect. */
	if (differs && !(*found)->n_waiters)
		return err_set(err, ERR_LIMIT, "job '%s' is waiting for its machines: %s", name,
			       differs);
	if (differs)
		return err_set(err, ERR_CONFLICT, "job '%s' was started with other options: %s",
			       name, differs);
	*ret_job = *found;
	return 0;
}

/* The members of all jobs together share the memory of this server, and its connections. */
static int check_server_room(const struct orchestrator *orchestrator, const char *name,
			     const char *id, struct err *err)
{
	struct elastic_job **found = find_elastic_job(orchestrator, name);
	size_t count = 0;

	if (found && member_table_find(&(*found)->rendezvous->members, id))
		return 0;
	for (size_t i = 0; i < orchestrator->n_jobs; i++)
		count += orchestrator->jobs[i]->rendezvous->members.count;
	if (count < LIMIT_MEMBERS)
		return 0;
	return err_set(err, ERR_LIMIT,
		       "the server already has %d members in all its jobs, which is the maximum",
		       LIMIT_MEMBERS);
}

static int elastic_http_status_of(int code)
{
	if (code == ERR_REFUSED || code == ERR_LIMIT)
		return 503;
	if (code == ERR_EXISTS) /* another member with its id */
		return 403;
	return code == ERR_NOT_FOUND ? 410 : code == ERR_CONFLICT ? 409 : 400;
}

/* Calls. */

static int read_body(struct http_call *call, struct json **ret_body, struct err *err)
{
	size_t len = 0;
	const void *bytes = http_call_body(call, &len);

	return json_read(bytes ? bytes : "", len, ret_body, err);
}

static int apply_member_call(struct orchestrator *orchestrator, struct http_call *call,
			     const char *name, const char *id, struct err *err)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct json *body CLEANUP(json_cleanup) = NULL;
	struct elastic_job *job = NULL;
	struct member_request request;

	if (!name_is_label_value(name) || !name_is_label_value(id) || !*name || !*id)
		return err_set(err, ERR_INVALID,
			       "the id of a job or a member must have 1 to 63 letters, digits, "
			       "'-', '_' and '.', and a letter or digit at both ends");
	int rc = read_body(call, &body, err);

	if (rc == 0)
		rc = member_request_read(body, arena, &request, err);
	/* The last call of a member that never had an answer starts no job. */
	if (rc == 0 && request.report.has_left && !find_elastic_job(orchestrator, name)) {
		static const struct member_answer gone = {.uid = "",
							  .order = {.order = RENDEZVOUS_GO}};
		struct text answer CLEANUP(text_done) = {0};

		member_answer_add(&gone, &answer);
		http_call_answer(call, 200, JSON_TYPE, text_of(&answer), answer.len);
		return 0;
	}
	if (rc == 0)
		rc = check_server_room(orchestrator, name, id, err);
	if (rc == 0)
		rc = find_or_start_elastic_job(orchestrator, name, &request, &job, err);
	return rc < 0 ? rc
		      : elastic_job_accept_call(job, call, id, &request, loop_monotonic_now(), err);
}

static bool is_acceptable(struct http_call *call, bool acts)
{
	const char *method = http_call_method(call);
	bool has_method = acts ? text_equals(method, "POST")
			       : text_equals(method, "GET") || text_equals(method, "HEAD");

	if (!has_method) {
		http_call_add_header(call, "Allow", acts ? "POST" : "GET, HEAD");
		answer_error(call, 405, acts ? "use POST" : "use GET");
		return false;
	}
	if (!acts || !http_call_is_from_browser(call))
		return true;
	answer_error(call, 403, "requests of browsers are rejected");
	return false;
}

static void answer_job(const struct orchestrator *orchestrator, struct http_call *call,
		       const char *name)
{
	struct elastic_job **found = find_elastic_job(orchestrator, name);

	if (!found) {
		char *sentence CLEANUP(mem_free_text) = mem_format(NO_JOB, name);

		answer_error(call, 404, sentence);
		return;
	}
	const char *query = http_call_query(call);
	int64_t known = 0;

	if (query && text_starts_with(query, AFTER) &&
	    text_read_int(query + strlen(AFTER), 0, INT64_MAX, &known, NULL) < 0) {
		answer_error(call, 400, "after: must be the revision of an earlier response");
		return;
	}
	elastic_job_read(*found, call, known, loop_monotonic_now());
}

static int apply_drain_request(const struct orchestrator *orchestrator, struct http_call *call,
			       const char *name, struct json *answer, struct err *err)
{
	struct elastic_job **found = find_elastic_job(orchestrator, name);
	struct json *body CLEANUP(json_cleanup) = NULL;

	if (!found)
		return err_set(err, ERR_NOT_FOUND, NO_JOB, name);
	int rc = read_body(call, &body, err);
	const struct json *machines = json_get(body, "machines");

	if (rc == 0 && json_count(machines) == 0)
		rc = err_set(err, ERR_INVALID,
			     "machines: must be a list of hosts, ranks or ids of members");
	return rc < 0 ? rc : elastic_job_drain(*found, machines, loop_monotonic_now(), answer, err);
}

static void drain(struct orchestrator *orchestrator, struct http_call *call, const char *name)
{
	struct json *answer CLEANUP(json_cleanup) = json_new_object();
	struct err err = {0};
	int rc = apply_drain_request(orchestrator, call, name, answer, &err);

	if (rc < 0) {
		answer_error(call, rc == ERR_NOT_FOUND ? 404 : 400, err.text);
		return;
	}
	orchestrator->n_drain_askers++;
	orchestrator->drain_askers_until = loop_instant_after(DRAIN_REPLY_TIME);
	arm_orchestrator_timer(orchestrator);
	http_call_report_end(call);
	answer_json(call, 200, answer);
}

#define ALL_JOBS "/v1/jobs"

/* Splits a path /v1/jobs/JOB with `middle` after it: returns what follows, and sets the job's name,
 * which the caller frees. NULL: another path. */
static const char *split_path(const char *path, const char *middle, char **ret_name)
{
	static const char before[] = ALL_JOBS "/";
	const char *name = text_starts_with(path, before) ? path + sizeof(before) - 1 : "";
	const char *found = strstr(name, middle);

	if (!found)
		return NULL;
	*ret_name = mem_copy_bytes(name, (size_t) (found - name));
	return found + strlen(middle);
}

static void answer_reader(const struct orchestrator *orchestrator, struct http_call *call,
			  const char *path)
{
	if (text_equals(path, ALL_JOBS)) {
		struct json *object CLEANUP(json_cleanup) = json_new_object();
		struct json *list = json_array_at(object, "jobs");

		for (size_t i = 0; i < orchestrator->n_jobs; i++)
			json_append(list, elastic_job_describe(orchestrator->jobs[i], false));
		answer_json(call, 200, object);
	} else if (text_starts_with(path, ALL_JOBS "/")) {
		answer_job(orchestrator, call, path + strlen(ALL_JOBS "/"));
	} else {
		answer_error(
			call, 404,
			"not found (this server has /v1/jobs, /v1/jobs/JOB, its members and its "
			"drain)");
	}
}

/* The routes: /v1/jobs, /v1/jobs/JOB, /v1/jobs/JOB/members/ID and /v1/jobs/JOB/drain. */
static void on_orchestrator_call(struct http_call *call, void *data)
{
	const char *path = http_call_path(call);
	const struct orchestrator *orchestrator = data;
	char *name CLEANUP(mem_free_text) = NULL;
	const char *member = split_path(path, "/members/", &name);
	const char *tail = member ? NULL : split_path(path, "/drain", &name);
	bool drains = tail && !*tail;
	struct err err = {0};

	if (!http_access_is_given(call, &orchestrator->settings.access)) {
		http_call_add_header(call, "WWW-Authenticate", "Bearer");
		answer_error(call, 401, "missing or wrong bearer token");
		return;
	}
	if (!is_acceptable(call, member || drains))
		return;
	if (member) {
		http_call_report_end(call);
		if (apply_member_call(data, call, name, member, &err) < 0)
			answer_error(call, elastic_http_status_of(err.code), err.text);
	} else if (drains) {
		drain(data, call, name);
	} else {
		answer_reader(data, call, path);
	}
}

static void on_connection_end(const char *path, void *data)
{
	struct orchestrator *orchestrator = data;
	char *name CLEANUP(mem_free_text) = NULL;
	const char *member = split_path(path, "/members/", &name);
	struct elastic_job **job = member ? find_elastic_job(orchestrator, name) : NULL;

	if (job)
		elastic_job_handle_disconnect(*job, member);
	else if (!member && orchestrator->n_drain_askers)
		release_drain_askers(orchestrator, 1);
}

/* A record that cannot be read, by this version at least, is kept under a name that no job has. */
static void set_record_aside(const struct orchestrator *orchestrator,
			     const struct store_record *record, const struct err *why)
{
	struct store *store = orchestrator->store;
	struct store_record aside = *record;
	struct err err = {0};
	int64_t version;

	aside.name = mem_format("%s (unreadable, %.8s)", record->name, record->uid);
	aside.is_lasting = true;
	char *sentence CLEANUP(mem_free_text) =
		store->functions->replace(store, record->name, record->uid, &aside, &version,
					  &err) < 0
			? mem_format("%s, and it could not be moved: %s", why->text, err.text)
			: mem_format("%s; it is kept as '%s'", why->text, aside.name);

	print_elastic_sentence(sentence, (void *) orchestrator);
	free(aside.name);
}

static int restore_stored_jobs(struct orchestrator *orchestrator, struct err *err)
{
	struct store_list list CLEANUP(store_list_done) = {0};

	if (!orchestrator->settings.folder)
		return 0;
	int rc = store_sqlite_open(orchestrator->settings.folder, &orchestrator->store, err);

	if (rc == 0)
		rc = orchestrator->store->functions->list(orchestrator->store, STORE_ALL, &list,
							  err);
	if (rc < 0)
		return rc;
	const struct elastic_job_settings settings = settings_of_jobs(orchestrator);

	for (size_t i = 0; i < list.count; i++) {
		const struct store_record *record = &list.records[i];
		struct elastic_job *job;
		struct err why;

		/* Records that were set aside have no name of a job. */
		if (!name_is_label_value(record->name))
			continue;
		if (elastic_job_restore(&settings, record, loop_monotonic_now(), &job, &why) < 0)
			set_record_aside(orchestrator, record, &why);
		else
			add_job(orchestrator, job);
	}
	return 0;
}

/* The server. */

int orchestrator_new(const struct orchestrator_settings *settings,
		     struct orchestrator **ret_orchestrator, struct err *err)
{
	struct orchestrator *orchestrator = mem_new(sizeof(*orchestrator));
	const struct http_server_settings server = {
		.listening = settings->listening,
		.tls = settings->tls,
		.hosts = http_hosts_of(settings->listening),
		.access = &orchestrator->settings.access,
		.header_limit = LIMIT_HTTP_HEADERS,
		.body_limit = LIMIT_MEMBER_CALL,
		.connection_limit =
			descriptor_limit_connections(LIMIT_MEMBERS + LIMIT_EXPORTER_CONNECTIONS),
		.patience = 30 * MSEC_PER_SECOND,
		.on_call = on_orchestrator_call,
		.on_end = on_connection_end,
		.data = orchestrator,
	};

	orchestrator->settings = *settings;
	orchestrator->timer = loop_new_timer(settings->loop, on_orchestrator_timer, orchestrator);
	int rc = restore_stored_jobs(orchestrator, err);

	if (rc == 0)
		rc = http_server_new(settings->loop, &server, &orchestrator->server, err);
	if (rc < 0) {
		orchestrator_free(orchestrator);
		return rc;
	}
	arm_orchestrator_timer(orchestrator);
	*ret_orchestrator = orchestrator;
	return 0;
}

bool orchestrator_is_idle(const struct orchestrator *orchestrator)
{
	if (orchestrator->n_drain_askers)
		return false;
	for (size_t i = 0; i < orchestrator->n_jobs; i++)
		if (orchestrator->jobs[i]->n_waiters && !elastic_job_is_over(orchestrator->jobs[i]))
			return false;
	return true;
}

void orchestrator_free(struct orchestrator *orchestrator)
{
	if (!orchestrator)
		return;
	http_server_free(orchestrator->server);
	for (size_t i = 0; i < orchestrator->n_jobs; i++)
		elastic_job_free(orchestrator->jobs[i]);
	loop_watch_free(orchestrator->timer);
	store_cleanup(&orchestrator->store);
	free(orchestrator->jobs);
	free(orchestrator);
}
