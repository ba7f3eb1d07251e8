/* Each request that needs the cluster is one call to it, and its client waits for the answer. A
 * client that disconnects meanwhile cancels nothing: its request is carried out. The list of jobs,
 * which may need many calls, is the exception. */
#include "serve/master.h"

#include "base/names.h"
#include "cluster/store_record.h"
#include "http/query.h"
#include "http/routes.h"
#include "io/random.h"
#include "jobs/client.h"
#include "jobs/record.h"
#include "kube/pages.h"
#include "serve/job_log.h"
#include "spec/elasticdl.h"
#include "spec/limits.h"
#include "status/metrics.h"

#define MOST_CONNECTIONS 256
#define MOST_PARAMETERS 16
#define MOST_LOGS 64
#define MOST_CREATIONS 200 /* jobs at the same time, and … */
#define CREATION_TIME ((msec) 50) /* … another one after each of these times */

struct master {
	struct master_settings settings;
	struct http_server *server;
	LIST_HEAD(, asked) asked; /* calls in progress */
	int n_creations; /* permitted now … */
	instant counted_at; /* … as of this moment */
	struct job_log *logs[MOST_LOGS]; /* being sent; NULL: a free entry */
};

/* Answers a request with the result from the cluster. */
typedef void (*answer_fn)(struct master *master, struct http_call *http, struct json *object);

/* A client's request that waits for an answer of the cluster. */
struct asked {
	struct master *master;
	LIST_ENTRY(asked) link;
	struct http_call *http; /* NULL: its client has disconnected */
	struct kube_call *kube;
	answer_fn answer;

	struct kube_pages *pages; /* of a list of jobs, which has no call */
	int n_tries; /* of this list */
	struct text jobs; /* its answer so far */
};

/* Calls to the cluster. */

static void asked_free(struct asked *asked)
{
	LIST_REMOVE(asked, link);
	text_done(&asked->jobs);
	free(asked);
}

static int master_http_status_of(int code)
{
	if (code == ERR_EXISTS || code == ERR_CONFLICT)
		return 409;
	return code == ERR_NOT_FOUND ? 404 : code == ERR_INVALID ? 400 : 500;
}

static void on_caller_disconnect(struct http_call *http, void *data)
{
	struct asked *asked = data;

	(void) http;
	asked->http = NULL;
}

static void on_master_request_done(const struct kube_result *result, void *data)
{
	struct asked *asked = data;
	const struct err *err = result->err;
	struct http_call *http = asked->http;

	if (http && err)
		http_answer_text(http, master_http_status_of(err->code), err->text);
	else if (http)
		asked->answer(asked->master, http, result->object);
	asked_free(asked);
}

static struct asked *asked_new(struct master *master, struct http_call *http,
			       http_call_fn on_disconnect)
{
	struct asked *asked = mem_new(sizeof(*asked));

	asked->master = master;
	asked->http = http;
	LIST_INSERT_HEAD(&master->asked, asked, link);
	http_call_hold(http, on_disconnect, asked);
	return asked;
}

static void start_master_request(struct master *master, struct http_call *http,
				 struct kube_request request, answer_fn answer)
{
	struct asked *asked = asked_new(master, http, on_caller_disconnect);

	asked->answer = answer;
	request.resource = &kube_tfjobs;
	request.namespace_name = master->settings.namespace_name;
	kube_call_start(&asked->kube, master->settings.host.api, &request, on_master_request_done,
			asked);
}

/* Answers. */

static void answer_ok(struct master *master, struct http_call *http, struct json *object)
{
	(void) master;
	(void) object;
	http_answer_text(http, 200, "OK");
}

static void answer_tfjob(struct master *master, struct http_call *http, struct json *object)
{
	const struct json *reason =
		operator_waiting_reason(master->settings.host.controller, object);

	if (reason)
		json_set(json_object_at(object, "status"), CLIENT_WAITING, json_new_copy(reason));
	http_answer_json(http, 200, object);
}

/* The list of jobs: only one page of it is in memory, and a line of text for each job. */

static void add_listed_job(const struct json *tfjob, void *data)
{
	struct asked *asked = data;
	const struct json *metadata = json_get(tfjob, "metadata");
	const struct json *conditions = json_get_path(tfjob, "status", "conditions", NULL);
	struct json *job CLEANUP(json_cleanup) = json_new_object();
	const char *state = "Pending";

	json_copy_member(job, metadata, "name");
	/* The newest condition that is true, as kubectl shows it. */
	for (size_t i = 0; i < json_count(conditions); i++) {
		const struct json *condition = json_at(conditions, i);

		if (text_equals(json_get_string(condition, "status", ""), "True"))
			state = json_get_string(condition, "type", state);
	}
	json_set_string(job, "state", state);
	json_copy_member(job, metadata, "creationTimestamp");
	text_add(&asked->jobs, asked->jobs.len ? ",\n" : "{\"jobs\": [\n");
	json_add_compact(&asked->jobs, job);
}

static void begin_list(struct asked *asked);

static void on_jobs_listed(const struct kube_result *result, void *data)
{
	struct asked *asked = data;
	const struct err *err = result->err;

	if (err && err->code == ERR_CONFLICT && asked->n_tries < LIMIT_LIST_TRIES) {
		begin_list(asked);
		return;
	}
	text_add(&asked->jobs, asked->jobs.len ? "\n]}\n" : "{\"jobs\": []}\n");
	if (err)
		http_answer_text(asked->http,
				 err->code == ERR_CONFLICT ? 503 : master_http_status_of(err->code),
				 err->text);
	else
		http_call_answer(asked->http, 200, "application/json", text_of(&asked->jobs),
				 asked->jobs.len);
	asked_free(asked);
}

static void begin_list(struct asked *asked)
{
	const struct master_settings *settings = &asked->master->settings;
	const struct kube_request request = {KUBE_LIST, &kube_tfjobs, settings->namespace_name};

	asked->n_tries++;
	text_clear(&asked->jobs);
	asked->pages =
		kube_pages_new(settings->host.api, &request, add_listed_job, on_jobs_listed, asked);
}

static void on_list_disconnect(struct http_call *http, void *data)
{
	struct asked *asked = data;

	(void) http;
	kube_pages_cancel(asked->pages);
	asked_free(asked);
}

/* Logs. */

static struct job_log **find_log(struct master *master, const struct job_log *log)
{
	for (size_t i = 0; i < MOST_LOGS; i++)
		if (master->logs[i] == log)
			return &master->logs[i];
	return NULL;
}

static void on_log_end(struct job_log *log, void *data)
{
	*find_log(data, log) = NULL;
	job_log_free(log);
}

static void answer_log(struct master *master, struct http_call *http, struct json *object)
{
	struct job_log **place = find_log(master, NULL);
	struct store_record record CLEANUP(store_record_done) = {0};
	struct job_log_settings log = {
		.api = master->settings.host.api,
		.http = http,
		.on_end = on_log_end,
		.data = master,
	};
	struct err err = {0};

	if (!place)
		http_answer_text(http, 503, "too many logs are being sent; try again later");
	else if (job_log_request_read(http_call_query(http), &log.take_request, &err) < 0)
		http_answer_text(http, 400, err.text);
	else if (store_kube_tfjobs.read(object, &record, &err) == 0 &&
		 record_read_job(&record, &log.take_job, &err) == 0)
		*place = job_log_new(&log);
	else {
		job_log_request_done(&log.take_request);
		http_answer_text(http, 500, err.text);
	}
}

/* Requests. */

/* A client that creates jobs in a loop fills its namespace, but does not overload the server. */
static bool may_create(struct master *master)
{
	msec earned = instant_since(master->counted_at, loop_monotonic_now()) / CREATION_TIME;

	master->counted_at = instant_add(master->counted_at, earned * CREATION_TIME);
	if (earned >= MOST_CREATIONS - master->n_creations)
		master->n_creations = MOST_CREATIONS;
	else
		master->n_creations += (int) earned;
	if (master->n_creations == 0)
		return false;
	master->n_creations--;
	return true;
}

static void answer_create_job(struct http_call *http, const char *name, void *data)
{
	struct master *master = data;
	struct http_query *query CLEANUP(http_query_cleanup) =
		http_query_new(http_call_query(http));
	struct elasticdl_parameter parameters[MOST_PARAMETERS];
	const void *place = NULL;
	size_t count = 0;
	struct elasticdl_request request;
	struct err err = {0};

	(void) name;
	if (!query) {
		http_answer_text(http, 400, "the query cannot be read (expected NAME=VALUE&…)");
		return;
	}
	while (count < MOST_PARAMETERS &&
	       http_query_next(query, &place, &parameters[count].name, &parameters[count].value))
		count++;
	if (elasticdl_read(parameters, count, &request, &err) < 0) {
		http_answer_text(http, 400, err.text);
		return;
	}
	if (!may_create(master)) {
		http_call_add_header(http, "Retry-After", "1");
		http_answer_text(http, 429, "too many jobs at once; try again in a second");
		return;
	}
	/* A new one for each job: a kubelet may give the Pods of a job an earlier job's Secret of
	 * the same name (docs/design/0015). */
	char *token CLEANUP(mem_free_text) = random_token();
	char *secret_name CLEANUP(mem_free_text) =
		mem_format("%s.pod-server-%.10s", request.task, token);
	const struct elasticdl_manner manner = {
		.program_image = master->settings.program_image,
		.program_path = master->settings.program_path,
		.secret_name = secret_name,
		.template = master->settings.template,
	};
	struct json *document CLEANUP(json_cleanup) = elasticdl_document_new(&request, &manner);

	start_master_request(master, http,
			     (struct kube_request){.verb = KUBE_CREATE, .body = document},
			     answer_ok);
}

static void list(struct http_call *http, const char *name, void *data)
{
	(void) name;
	begin_list(asked_new(data, http, on_list_disconnect));
}

/* An invalid name is not requested from the cluster. */
static void call_named(struct master *master, struct http_call *http, enum kube_verb verb,
		       const char *name, answer_fn answer)
{
	if (name_is_dns1035_label(name))
		start_master_request(master, http,
				     (struct kube_request){.verb = verb, .name = name}, answer);
	else
		http_answer_text(http, 404, "no such job");
}

static void answer_get_job(struct http_call *http, const char *name, void *data)
{
	call_named(data, http, KUBE_GET, name, answer_tfjob);
}

static void get_log(struct http_call *http, const char *name, void *data)
{
	call_named(data, http, KUBE_GET, name, answer_log);
}

static void delete (struct http_call *http, const char *name, void *data)
{
	call_named(data, http, KUBE_DELETE, name, answer_ok);
}

static void answer_metrics(struct http_call *http, const char *name, void *data)
{
	const struct master *master = data;
	struct text text CLEANUP(text_done) = {0};

	(void) name;
	operator_write_metrics(master->settings.host.controller, &text);
	http_call_answer(http, 200, METRICS_CONTENT_TYPE, text_of(&text), text.len);
}

static void answer_ready(struct http_call *http, const char *name, void *data)
{
	const struct master *master = data;

	(void) name;
	http_answer_ready(http, operator_is_leading(master->settings.host.controller));
}

static const struct http_route routes[] = {
	{.method = "GET", .path = "/create", .acts = true, .answer = answer_create_job},
	{.method = "GET", .path = "/jobs", .answer = list},
	{.method = "GET", .path = "/jobs/*", .answer = answer_get_job},
	{.method = "DELETE", .path = "/jobs/*", .answer = delete},
	{.method = "GET", .path = "/jobs/*/log", .is_endless = true, .answer = get_log},
	{.method = "GET", .path = "/metrics", .answer = answer_metrics},
	{.method = "GET", .path = "/healthz", .is_open = true, .answer = http_answer_health},
	{.method = "GET", .path = "/readyz", .is_open = true, .answer = answer_ready},
	{0},
};

static void on_master_call(struct http_call *http, void *data)
{
	const struct master *master = data;

	http_routes_call(routes, &master->settings.access, http, data);
}

/* The master. */

int master_new(const struct master_settings *settings, struct master **ret_master, struct err *err)
{
	struct master *master = mem_new(sizeof(*master));
	const struct http_server_settings server = {
		.listening = settings->listening,
		.tls = settings->tls,
		.hosts = http_hosts_of(settings->listening),
		.access = &master->settings.access,
		.header_limit = LIMIT_HTTP_HEADERS,
		.body_limit = LIMIT_HTTP_NO_BODY,
		.connection_limit = MOST_CONNECTIONS,
		.patience = 30 * MSEC_PER_SECOND,
		.on_call = on_master_call,
		.data = master,
	};

	master->settings = *settings;
	master->n_creations = MOST_CREATIONS;
	master->counted_at = loop_monotonic_now();
	int rc = http_server_new(settings->host.api->loop, &server, &master->server, err);

	if (rc < 0) {
		free(master);
		return rc;
	}
	*ret_master = master;
	return 0;
}

void master_free(struct master *master)
{
	if (!master)
		return;
	http_server_free(master->server); /* disconnects each client, which ends its log or list */
	for (struct asked *asked = LIST_FIRST(&master->asked), *next; asked; asked = next) {
		next = LIST_NEXT(asked, link);
		kube_call_cancel(asked->kube);
		asked_free(asked);
	}
	free(master);
}
