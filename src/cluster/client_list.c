/* Four lists at most: the jobs; their Leases, if jobs are active; the Pods, if jobs have no
 * supervisor that would write how many run; and the TFJobs, if the cluster has them. */
#include "cluster/client.h"

#include "base/mem.h"
#include "base/text.h"
#include "cluster/store_record.h"
#include "jobs/record.h"
#include "kube/lease.h"
#include "kube/mirror_table.h"
#include "kube/objects.h"
#include "kube/pages.h"

struct listing {
	struct kube_api *api;
	const char *namespace_name;
	struct client_row *rows;
	size_t count, capacity;
	size_t n_jobs_of_run; /* the first rows; the others are TFJobs */
	struct mirror_table by_uid; /* of struct client_row, when all were read */
};

/* How one kind of objects is read. */
struct reading {
	const struct kube_resource *resource;
	const char *selector; /* NULL: all */
	kube_begin_fn begin;
	kube_item_fn take;
};

static int list_cluster_objects(struct listing *listing, const struct reading *reading,
				struct err *err)
{
	const struct kube_parameter selector[] = {{"labelSelector", reading->selector}, {0}};
	const struct kube_request request = {KUBE_LIST, reading->resource, listing->namespace_name,
					     .parameters = selector};

	return kube_pages_wait(listing->api, &request, reading->begin, reading->take, listing, err);
}

/* `uid` may be NULL. */
static struct client_row *find_listed_row_by_uid(const struct listing *listing, const char *uid)
{
	return uid ? mirror_table_get(&listing->by_uid, uid) : NULL;
}

static void clear_listed_rows(void *data)
{
	struct listing *listing = data;

	client_rows_free(listing->rows, listing->count);
	listing->rows = NULL;
	listing->count = listing->capacity = 0;
}

static struct client_row *append_listed_row(struct listing *listing, const struct json *item,
					    const struct store_record *record)
{
	const char *namespace_name =
		json_as_string(json_get_path(item, "metadata", "namespace", NULL), "");
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct summary summary;

	record_read_summary(record, arena, &summary);
	mem_grow(&listing->rows, &listing->capacity, listing->count, sizeof(*listing->rows));
	struct client_row *row = &listing->rows[listing->count++];

	*row = client_row_new(record, &summary, namespace_name);
	return row;
}

static void on_config_map_listed(const struct json *item, void *data)
{
	struct store_record record CLEANUP(store_record_done) = {0};

	if (store_kube_read(item, &record, NULL) == 0)
		append_listed_row(data, item, &record)->is_untouched = record_is_untouched(&record);
}

static int by_age(const void *a, const void *b)
{
	const struct client_row *first = a, *second = b;

	if (first->created != second->created)
		return first->created < second->created ? -1 : 1;
	int order = strcmp(first->where, second->where);
	return order ? order : strcmp(first->name, second->name);
}

static void mark_rows_unsupervised(void *data)
{
	const struct listing *listing = data;

	for (size_t i = 0; i < listing->count; i++)
		listing->rows[i].is_unsupervised = !listing->rows[i].is_finished;
}

static void apply_listed_lease(const struct json *item, void *data)
{
	const struct listing *listing = data;
	struct kube_lease lease;
	bool is_held = kube_lease_read_held(item, kube_api_server_now(listing->api), &lease);
	struct client_row *row = is_held ? find_listed_row_by_uid(listing, lease.owner_uid) : NULL;

	if (row)
		row->is_unsupervised = false;
}

/* If Leases may not be read, supervisors are not reported. */
static int read_supervisors(struct listing *listing, struct err *err)
{
	static const struct reading leases = {&kube_leases, OBJECTS_SELECTOR_JOBS,
					      mark_rows_unsupervised, apply_listed_lease};
	int rc = list_cluster_objects(listing, &leases, err);

	if (rc != ERR_REFUSED)
		return rc;
	for (size_t i = 0; i < listing->count; i++)
		listing->rows[i].is_unsupervised = false;
	return 0;
}

/* The running Pods of jobs without an active supervisor. */

static void count_from_zero(void *data)
{
	const struct listing *listing = data;

	for (size_t i = 0; i < listing->count; i++)
		if (listing->rows[i].is_unsupervised)
			listing->rows[i].running = 0;
}

/* Finds the job by its labels: Pods that were applied as `render` shows them have no owner. */
static struct client_row *untouched_row_of(const struct listing *listing,
					   const struct json *metadata)
{
	const char *namespace_name = json_get_string(metadata, "namespace", NULL);
	const char *name =
		json_as_string(json_get_path(metadata, "labels", OBJECTS_LABEL_JOB, NULL), NULL);

	for (size_t i = 0; i < listing->count; i++) {
		struct client_row *row = &listing->rows[i];

		if (row->is_untouched && text_equals(row->name, name) &&
		    text_equals(row->namespace_name, namespace_name))
			return row;
	}
	return NULL;
}

static void count_listed_running_pod(const struct json *item, void *data)
{
	const struct json *metadata = json_get(item, "metadata");
	const struct json *owners = json_get(metadata, "ownerReferences");
	const char *uid = json_get_string(json_at(owners, 0), "uid", NULL);
	const char *phase = json_as_string(json_get_path(item, "status", "phase", NULL), NULL);
	struct client_row *row = json_count(owners) ? find_listed_row_by_uid(data, uid)
						    : untouched_row_of(data, metadata);

	if (row && row->is_unsupervised && text_equals(phase, "Running"))
		row->running++;
}

static int read_jobs_of_run(struct listing *listing, struct err *err)
{
	static const struct reading jobs = {&kube_config_maps, OBJECTS_SELECTOR_JOBS,
					    clear_listed_rows, on_config_map_listed};
	static const struct reading running = {&kube_pods, OBJECTS_SELECTOR_JOBS, count_from_zero,
					       count_listed_running_pod};
	bool has_unfinished = false, has_unsupervised = false;
	int rc = list_cluster_objects(listing, &jobs, err);

	for (size_t i = 0; i < listing->count; i++) {
		mirror_table_put(&listing->by_uid, listing->rows[i].uid)->kept = &listing->rows[i];
		has_unfinished |= !listing->rows[i].is_finished;
	}
	if (rc == 0 && has_unfinished)
		rc = read_supervisors(listing, err);
	for (size_t i = 0; i < listing->count; i++)
		has_unsupervised |= listing->rows[i].is_unsupervised;
	if (rc == 0 && has_unsupervised)
		rc = list_cluster_objects(listing, &running, err);
	return rc;
}

/* TFJobs. */

static void drop_listed_tfjobs(void *data)
{
	struct listing *listing = data;

	while (listing->count > listing->n_jobs_of_run)
		client_row_done(&listing->rows[--listing->count]);
}

/* Its Pods are not read: the running ones are those that the operator has counted, and how many are
 * waited for is unknown. */
static void append_listed_tfjob(const struct json *item, void *data)
{
	struct store_record record CLEANUP(store_record_done) = {0};
	struct status status;

	if (store_kube_tfjobs.read(item, &record, NULL) < 0)
		return;
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct client_row *row = append_listed_row(data, item, &record);

	row->running = 0;
	if (record_read_status(&record, arena, &status, NULL) == 0)
		for (size_t i = 0; i < status.n_roles; i++)
			row->running += status.roles[i].active;
	if (row->is_finished)
		return;
	free(row->message);
	row->message =
		mem_copy_text(record_is_untouched(&record) ? "no operator manages it yet" : "");
}

int client_kube_list(struct kube_api *api, const char *namespace_name, struct client_row **ret_rows,
		     size_t *ret_count, struct err *err)
{
	static const struct reading tfjobs = {&kube_tfjobs, NULL, drop_listed_tfjobs,
					      append_listed_tfjob};
	struct listing listing = {.api = api, .namespace_name = namespace_name};
	int rc = read_jobs_of_run(&listing, err);

	listing.n_jobs_of_run = listing.count;
	if (rc == 0) {
		rc = list_cluster_objects(&listing, &tfjobs, err);
		/* Most clusters have none, or do not permit reading them. */
		if (rc == ERR_NOT_FOUND || rc == ERR_REFUSED)
			rc = 0;
	}
	mirror_table_done(&listing.by_uid);
	if (rc < 0) {
		client_rows_free(listing.rows, listing.count);
		return rc;
	}
	if (listing.count)
		qsort(listing.rows, listing.count, sizeof(*listing.rows), by_age);
	*ret_rows = listing.rows;
	*ret_count = listing.count;
	return 0;
}
