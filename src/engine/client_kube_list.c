#include "engine/client_kube_list.h"

#include "base/mem.h"
#include "base/text.h"
#include "engine/record.h"
#include "engine/store_kube_record.h"
#include "kube/objects.h"
#include "kube/pages.h"

#include <stdlib.h>
#include <string.h>

struct listing {
	struct loop *loop;
	struct client_row *rows;
	size_t count, capacity;
	bool is_over;
	struct err err;
};

static void begin_anew(struct listing *listing)
{
	client_rows_free(listing->rows, listing->count);
	*listing = (struct listing){.loop = listing->loop};
}

static struct client_row row_of(const struct store_record *record, const char *namespace_name,
				const struct summary *summary)
{
	return (struct client_row){
		.name = mem_copy_text(record->name),
		.uid = mem_copy_text(record->uid),
		.state = mem_copy_text(summary->state),
		.roles = mem_copy_text(summary->roles),
		.where = mem_format("kubernetes/%s", namespace_name),
		.namespace_name = mem_copy_text(namespace_name),
		.message = mem_copy_text(summary->message),
		.version = record->version,
		.running = summary->running,
		.wanted = summary->wanted,
		.restarts = summary->restarts,
		.exit_code = summary->exit_code,
		.is_finished = summary->is_finished,
		.created = record->created,
		.start_time = summary->start_time,
		.completion_time = summary->completion_time,
	};
}

/* ConfigMaps of files that travel carry the same labels, and are passed over. */
static void take_item(const struct json *item, void *data)
{
	struct listing *listing = data;
	const char *namespace_name =
		json_as_string(json_get_path(item, "metadata", "namespace", NULL), "");
	struct store_record record CLEANUP(store_record_done) = {0};
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct summary summary;

	if (store_kube_read(item, &record, NULL) < 0)
		return;
	record_read_summary(&record, arena, &summary);
	mem_grow(&listing->rows, &listing->capacity, listing->count, sizeof(*listing->rows));
	listing->rows[listing->count++] = row_of(&record, namespace_name, &summary);
}

static void end(const char *version, const struct kube_status *status, const struct err *err,
		void *data)
{
	struct listing *listing = data;

	(void) version, (void) status;
	if (err)
		listing->err = *err;
	listing->is_over = true;
	loop_stop(listing->loop);
}

static int by_age(const void *a, const void *b)
{
	const struct client_row *first = a, *second = b;

	if (first->created != second->created)
		return first->created < second->created ? -1 : 1;
	int order = strcmp(first->where, second->where);
	return order ? order : strcmp(first->name, second->name);
}

static void list_once(struct listing *listing, struct kube_api *api, const char *namespace_name)
{
	static const struct kube_resource config_maps = {"", "v1", "configmaps", false};
	static const struct kube_parameter ours[] = {
		{"labelSelector", OBJECTS_LABEL_MANAGED_BY "=" OBJECTS_MANAGED_BY}, {0}};
	const struct kube_request request = {
		.verb = KUBE_LIST,
		.resource = &config_maps,
		.namespace_name = namespace_name,
		.parameters = ours,
	};
	struct kube_pages *pages = kube_pages_new(api, &request, take_item, end, listing);

	(void) pages; /* they end by themselves */
	while (!listing->is_over)
		loop_run(listing->loop);
}

int client_kube_list(struct loop *loop, struct kube_api *api, const char *namespace_name,
		     struct client_row **ret_rows, size_t *ret_count, struct err *err)
{
	struct listing listing = {.loop = loop};

	list_once(&listing, api, namespace_name);
	/* The server forgot the list while it was read. */
	while (listing.err.code == ERR_CONFLICT) {
		begin_anew(&listing);
		list_once(&listing, api, namespace_name);
	}
	if (listing.err.code) {
		client_rows_free(listing.rows, listing.count);
		return err_set(err, (enum err_code) listing.err.code, "%s", listing.err.text);
	}
	if (listing.count)
		qsort(listing.rows, listing.count, sizeof(*listing.rows), by_age);
	*ret_rows = listing.rows;
	*ret_count = listing.count;
	return 0;
}
