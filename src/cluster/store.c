/* Each function of the store is one call and the handling of its answer. */
#include "cluster/store.h"

#include "cluster/store_record.h"
#include "kube/wait.h"
#include "spec/pinned_job.h"

#define LARGE_STATUS ((size_t) 512 * 1024) /* half of what an object has room for */

struct kube_store {
	struct store base;
	const struct store_kube_form *form;
	struct kube_api *api;
	char *namespace_name;
	char *only_uid; /* NULL: jobs of any uid */
	struct store_record record; /* of the job last read or written; its name is NULL: none */
	LIST_HEAD(, pending_change) changes; /* in progress */

	struct pinned_job *pin; /* of the job of `only_uid`; NULL: any document is accepted */
	store_kube_changed_fn on_changed;
	void *data;
};

/* A change or a removal in progress. */
struct pending_change {
	struct kube_store *store;
	LIST_ENTRY(pending_change) link;
	char *job_name;
	int64_t version; /* the version to change */
	size_t status_size; /* bytes; 0: no new status */
	struct kube_call *call;
	struct err err; /* after a conflict, while the newer version is read */
	store_done_fn done; /* NULL: its caller no longer waits */
	void *data;
};

static const struct store_functions kube_functions;

static struct kube_store *kube_store_of(struct store *base)
{
	return (struct kube_store *) base;
}

static struct store *store_new(const struct store_kube_form *form, struct kube_api *api,
			       const char *namespace_name)
{
	struct kube_store *store = mem_new(sizeof(*store));

	store->form = form;
	store->base.functions = &kube_functions;
	store->base.is_small = true;
	store->base.is_of_tfjobs = form == &store_kube_tfjobs;
	store->namespace_name = mem_copy_text(namespace_name);
	store->api = api;
	return &store->base;
}

struct store *store_kube_new(struct kube_api *api, const char *namespace_name)
{
	return store_new(&store_kube_config_maps, api, namespace_name);
}

struct store *store_kube_of_tfjobs(struct kube_api *api, const char *namespace_name)
{
	return store_new(&store_kube_tfjobs, api, namespace_name);
}

void store_kube_keep_to(struct store *store, const char *uid)
{
	struct kube_store *own = kube_store_of(store);

	free(own->only_uid);
	own->only_uid = mem_copy_text(uid);
}

static const struct store_record *find_stored_record(const struct kube_store *store,
						     const char *name)
{
	return text_equals(store->record.name, name) ? &store->record : NULL;
}

static void drop_stored_record(struct kube_store *store, const char *name)
{
	if (find_stored_record(store, name))
		store_record_done(&store->record);
}

static void pin_record(struct kube_store *store, struct store_record *record)
{
	struct text fields CLEANUP(text_done) = {0};
	char *document = pinned_job_apply(store->pin, record->document, &fields);

	free(record->document);
	record->document = document;
	if (fields.len > 0)
		store->on_changed(text_of(&fields), store->data);
}

void store_kube_pin(struct store *store, const struct json *document,
		    store_kube_changed_fn on_changed, void *data)
{
	struct kube_store *own = kube_store_of(store);

	pinned_job_free(own->pin);
	own->pin = pinned_job_new(document);
	own->on_changed = on_changed;
	own->data = data;
	if (own->record.name)
		pin_record(own, &own->record);
}

/* An answer and a watch event may come in any order: the newer one stays. */
static void store_newer_record(struct kube_store *store, struct store_record take_record)
{
	const struct store_record *known = find_stored_record(store, take_record.name);
	bool is_other = store->only_uid && !text_equals(take_record.uid, store->only_uid);

	if (is_other)
		drop_stored_record(store, take_record.name);
	if (is_other || (known && known->version >= take_record.version)) {
		store_record_done(&take_record);
		return;
	}
	if (store->pin)
		pin_record(store, &take_record);
	store_record_done(&store->record);
	store->record = take_record;
}

static int store_answered_record(struct kube_store *store, const struct json *config_map,
				 int64_t *ret_version, struct err *err)
{
	struct store_record record;
	int rc = store->form->read(config_map, &record, err);

	if (rc < 0)
		return rc;
	*ret_version = record.version;
	store_newer_record(store, record);
	return 0;
}

/* The answer to a change. */
static int accept_store_answer(struct kube_store *store, const struct json *object,
			       int64_t *ret_version, struct err *err)
{
	int rc = store_answered_record(store, object, ret_version, err);

	return rc == 0 && store->form->check_answer ? store->form->check_answer(object, err) : rc;
}

void store_kube_observe(struct store *store, const struct json *config_map)
{
	struct store_record record;

	if (kube_store_of(store)->form->read(config_map, &record, NULL) == 0)
		store_newer_record(kube_store_of(store), record);
}

void store_kube_observe_deletion(struct store *store, const char *job_name)
{
	drop_stored_record(kube_store_of(store), job_name);
}

/* Calls that are waited for. */

/* A change is of the part that the form names. */
static struct kube_request store_request_of(const struct kube_store *store, enum kube_verb verb,
					    const char *object_name, const struct json *body)
{
	const struct store_kube_form *form = store->form;

	return (struct kube_request){verb,
				     form->resource,
				     store->namespace_name,
				     verb == KUBE_CREATE ? NULL : object_name,
				     verb == form->change_verb ? form->change_subresource : NULL,
				     .body = body};
}

static int send_store_request(struct kube_store *store, enum kube_verb verb, const char *job_name,
			      const struct json *body, struct json **ret_object, struct err *err)
{
	char *object CLEANUP(mem_free_text) = store->form->object_name(job_name);
	const struct kube_request request = store_request_of(store, verb, object, body);

	return kube_wait(store->api, &request, ret_object, err);
}

/* It is unknown whether the record was created. If we created it, it is deleted. */
static void undo_job_creation(struct kube_store *store, const struct store_record *record)
{
	struct json *made CLEANUP(json_cleanup) = NULL;
	int rc = send_store_request(store, KUBE_GET, record->name, NULL, &made, NULL);
	const struct json *metadata = json_get(made, "metadata");
	const struct json *annotations = json_get(metadata, "annotations");

	if (rc < 0 ||
	    !text_equals(json_get_string(annotations, STORE_KUBE_MADE_AS, NULL), record->uid))
		return;
	rc = store->base.functions->remove(&store->base, record->name,
					   json_get_string(metadata, "uid", ""), NULL);

	(void) rc; /* there is nothing else to try */
}

static int kube_create(struct store *base, const struct store_record *record, int64_t *ret_version,
		       struct err *err)
{
	struct kube_store *store = kube_store_of(base);
	struct json *config_map CLEANUP(json_cleanup) = NULL;
	struct json *made CLEANUP(json_cleanup) = NULL;
	int rc = store_kube_config_map(record, &config_map, err);

	if (rc == 0)
		rc = send_store_request(store, KUBE_CREATE, record->name, config_map, &made, err);
	if (rc == ERR_UNREACHABLE)
		undo_job_creation(store, record);
	if (rc == ERR_EXISTS)
		return err_set(err, rc, "job '%s' already exists", record->name);
	return rc < 0 ? rc : store_answered_record(store, made, ret_version, err);
}

/* In two calls: a crash between them leaves no job of that name, and none that is half of each. */
static int kube_replace(struct store *base, const char *old_name, const char *old_uid,
			const struct store_record *record, int64_t *ret_version, struct err *err)
{
	int rc = base->functions->remove(base, old_name, old_uid, err);

	return rc < 0 ? rc : base->functions->create(base, record, ret_version, err);
}

static int fetch(struct kube_store *store, const char *name, struct err *err)
{
	struct json *config_map CLEANUP(json_cleanup) = NULL;
	int64_t version;
	int rc = send_store_request(store, KUBE_GET, name, NULL, &config_map, err);

	if (rc == ERR_NOT_FOUND)
		return err_set(err, rc, "job '%s' not found", name);
	return rc < 0 ? rc : store_answered_record(store, config_map, &version, err);
}

static int kube_get(struct store *base, const char *name, struct store_record *ret_record,
		    struct err *err)
{
	struct kube_store *store = kube_store_of(base);
	const struct store_record *record = find_stored_record(store, name);

	if (!record && !store->only_uid) {
		int rc = fetch(store, name, err);

		if (rc < 0)
			return rc;
		record = find_stored_record(store, name);
	}
	if (!record)
		return err_set(err, ERR_NOT_FOUND, "job '%s' not found", name);
	*ret_record = store_record_copy(record, STORE_ALL);
	return 0;
}

/* A conflict of a removal means that another job has the name by now. */
static int explain_refusal(const char *name, bool is_removal, const struct err *refusal,
			   struct err *err)
{
	if (refusal->code == ERR_NOT_FOUND || (is_removal && refusal->code == ERR_CONFLICT))
		return err_set(err, ERR_NOT_FOUND, "job '%s' not found", name);
	if (refusal->code == ERR_CONFLICT)
		return err_set(err, ERR_CONFLICT, "job '%s' changed since it was read", name);
	return err_copy(err, refusal);
}

static struct pending_change *start_store_change(struct kube_store *store, const char *job_name,
						 store_done_fn done, void *data)
{
	struct pending_change *change = mem_new(sizeof(*change));

	*change = (struct pending_change){
		.store = store,
		.job_name = mem_copy_text(job_name),
		.done = done,
		.data = data,
	};
	LIST_INSERT_HEAD(&store->changes, change, link);
	return change;
}

static void cancel_store_change(struct pending_change *change)
{
	LIST_REMOVE(change, link);
	kube_call_cancel(change->call);
	free(change->job_name);
	free(change);
}

static void finish_store_change(struct pending_change *change, int64_t version,
				const struct err *err)
{
	store_done_fn done = change->done;
	void *data = change->data;

	cancel_store_change(change);
	if (done)
		done(version, err, data);
}

static void kube_detach_callbacks(struct store *base, const void *data)
{
	struct pending_change *change;

	LIST_FOREACH (change, &kube_store_of(base)->changes, link)
		if (change->data == data)
			change->done = NULL;
}

static void begin_call(struct pending_change *change, enum kube_verb verb, const struct json *body,
		       kube_done_fn done)
{
	char *object CLEANUP(mem_free_text) = change->store->form->object_name(change->job_name);
	const struct kube_request request = store_request_of(change->store, verb, object, body);

	kube_call_start(&change->call, change->store->api, &request, done, change);
}

/* Whatever was read: the change has failed in any case. */
static void on_read_again(const struct kube_result *result, void *data)
{
	struct pending_change *change = data;
	const struct err conflict = change->err;
	struct kube_store *store = change->store;
	struct store_record record;
	bool is_read = result->object && store->form->read(result->object, &record, NULL) == 0;

	/* An object older than the version to change: the cluster was restored from a backup, and
	 * the known record no longer exists. */
	if (is_read ? record.version < change->version
		    : result->err && result->err->code == ERR_NOT_FOUND)
		drop_stored_record(store, change->job_name);
	if (is_read)
		store_newer_record(store, record);
	finish_store_change(change, 0, &conflict);
}

static void on_changed(const struct kube_result *result, void *data)
{
	struct pending_change *change = data;
	const struct err *err = result->err;
	struct err own = {0};
	int64_t version = 0;

	if (!err) {
		int rc = accept_store_answer(change->store, result->object, &version, &own);

		finish_store_change(change, version, rc < 0 ? &own : NULL);
	} else if (err->code == ERR_CONFLICT) {
		explain_refusal(change->job_name, false, err, &change->err);
		begin_call(change, KUBE_GET, NULL, on_read_again);
	} else {
		if (err->code == ERR_NOT_FOUND)
			drop_stored_record(change->store, change->job_name);
		explain_refusal(change->job_name, false, err, &own);
		if (change->status_size > LARGE_STATUS)
			err_prefix(&own,
				   "the status takes %zu KiB, because its replicas have too many "
				   "different histories",
				   change->status_size / 1024);
		finish_store_change(change, 0, &own);
	}
}

static void kube_begin_change(struct store *base, const char *name, int64_t version,
			      const struct store_change *change, store_done_fn done, void *data)
{
	const struct store_kube_form *form = kube_store_of(base)->form;
	struct json *body CLEANUP(json_cleanup) = form->change_new(name, change, version);

	struct pending_change *pending = start_store_change(kube_store_of(base), name, done, data);

	pending->version = version;
	pending->status_size = change->status ? strlen(change->status) : 0;
	begin_call(pending, form->change_verb, body, on_changed);
}

/* The garbage collector deletes what the ConfigMap owns. */
static struct json *delete_options_new(const char *uid)
{
	struct json *options = kube_delete_options_new(uid);

	json_set_string(options, "propagationPolicy", "Background");
	return options;
}

static void on_stored_job_removed(const struct kube_result *result, void *data)
{
	struct pending_change *change = data;
	const struct err *err = result->err;
	struct err own = {0};

	drop_stored_record(change->store, change->job_name);
	if (err)
		explain_refusal(change->job_name, true, err, &own);
	finish_store_change(change, 0, err ? &own : NULL);
}

static void kube_begin_remove(struct store *base, const char *name, const char *uid,
			      store_done_fn done, void *data)
{
	struct json *options CLEANUP(json_cleanup) = delete_options_new(uid);

	begin_call(start_store_change(kube_store_of(base), name, done, data), KUBE_DELETE, options,
		   on_stored_job_removed);
}

/* The same, waited for. */

static int kube_change(struct store *base, const char *name, int64_t version,
		       const struct store_change *change, int64_t *ret_version, struct err *err)
{
	struct kube_store *store = kube_store_of(base);
	struct json *body CLEANUP(json_cleanup) = store->form->change_new(name, change, version);
	struct json *changed CLEANUP(json_cleanup) = NULL;
	struct err own;
	int rc = send_store_request(store, store->form->change_verb, name, body, &changed, &own);

	if (rc == 0)
		return accept_store_answer(store, changed, ret_version, err);
	drop_stored_record(store, name); /* the next reader asks the server */
	return explain_refusal(name, false, &own, err);
}

static int kube_remove(struct store *base, const char *name, const char *uid, struct err *err)
{
	struct kube_store *store = kube_store_of(base);
	struct json *options CLEANUP(json_cleanup) = delete_options_new(uid);
	struct err own;
	int rc = send_store_request(store, KUBE_DELETE, name, options, NULL, &own);

	drop_stored_record(store, name);
	return rc < 0 ? explain_refusal(name, true, &own, err) : 0;
}

static void free_kube_store(struct store *base)
{
	struct kube_store *store = kube_store_of(base);

	for (struct pending_change *change = LIST_FIRST(&store->changes), *next; change;
	     change = next) {
		next = LIST_NEXT(change, link);
		cancel_store_change(change);
	}
	store_record_done(&store->record);
	pinned_job_free(store->pin);
	free(store->namespace_name);
	free(store->only_uid);
	free(store);
}

static const struct store_functions kube_functions = {
	.create = kube_create,
	.replace = kube_replace,
	.get = kube_get,
	.change = kube_change,
	.remove = kube_remove,
	.begin_change = kube_begin_change,
	.begin_remove = kube_begin_remove,
	.let_go = kube_detach_callbacks,
	.free = free_kube_store,
};
