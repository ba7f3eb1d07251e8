#include "kube/pages.h"

#include "spec/limits.h"

/* Objects per page; a Pod is some 6 kB of text, and fifteen times that as JSON values. If a page
 * exceeds the limit of an answer, objects are listed one at a time. */
#define PAGE "100"
#define SMALLEST_PAGE "1"

struct kube_pages {
	struct kube_api *api;
	struct arena *arena; /* of this struct, and of what is copied from the request */
	struct kube_request request;
	/* The caller's, then "limit" and "continue", then the NULL name at the end. */
	struct kube_parameter *parameters;
	size_t n_parameters; /* of the caller */
	char *next; /* the token of the next page; NULL: the first */
	bool is_one_by_one;
	size_t n_pages, n_objects; /* received */
	struct kube_call *call;
	kube_item_fn on_item;
	kube_done_fn on_listed;
	void *data, *listed_data; /* of the two functions */
};

static void begin_page(struct kube_pages *pages);

static void copy_parameters(struct kube_pages *pages, const struct kube_parameter *parameters)
{
	size_t count = 0;

	while (parameters && parameters[count].name)
		count++;
	pages->n_parameters = count;
	pages->parameters = arena_take_array(pages->arena, count + 3, sizeof(*pages->parameters));
	for (size_t i = 0; i < count; i++)
		pages->parameters[i] =
			(struct kube_parameter){arena_copy_text(pages->arena, parameters[i].name),
						arena_copy_text(pages->arena, parameters[i].value)};
	pages->parameters[count].name = "limit";
	pages->parameters[count + 1].name = "continue";
}

struct kube_pages *kube_pages_new(struct kube_api *api, const struct kube_request *request,
				  kube_item_fn on_item, kube_done_fn on_listed, void *data)
{
	struct arena *arena = arena_new();
	struct kube_pages *pages = arena_take(arena, sizeof(*pages));

	pages->api = api;
	pages->arena = arena;
	pages->on_item = on_item;
	pages->on_listed = on_listed;
	pages->data = pages->listed_data = data;
	copy_parameters(pages, request->parameters);
	pages->request = (struct kube_request){KUBE_LIST, request->resource,
					       arena_copy_text(arena, request->namespace_name),
					       .parameters = pages->parameters};
	begin_page(pages);
	return pages;
}

void kube_pages_cancel(struct kube_pages *pages)
{
	if (!pages)
		return;
	kube_call_cancel(pages->call);
	free(pages->next);
	arena_free(pages->arena);
}

/* A broken or hostile server may send pages forever. */
static int check_limits(struct kube_pages *pages, size_t n_items, bool is_last, struct err *err)
{
	size_t most_pages = pages->is_one_by_one ? LIMIT_LIST_OBJECTS : LIMIT_LIST_PAGES;

	pages->n_objects += n_items;
	pages->n_pages++;
	if (pages->n_objects <= LIMIT_LIST_OBJECTS && (is_last || pages->n_pages < most_pages))
		return 0;
	return err_set(err, ERR_LIMIT,
		       "the API server's list of %s does not end: received %zu pages with %zu "
		       "objects (limits: %zu and %d)",
		       pages->request.resource->plural, pages->n_pages, pages->n_objects,
		       most_pages, LIMIT_LIST_OBJECTS);
}

static void finish_listing(struct kube_pages *pages, const struct kube_result *result)
{
	pages->on_listed(result, pages->listed_data);
	kube_pages_cancel(pages);
}

static void apply_listed_page(struct kube_pages *pages, const struct kube_result *result)
{
	const struct json *items = json_get(result->object, "items");
	const char *next =
		json_as_string(json_get_path(result->object, "metadata", "continue", NULL), "");
	struct err err = {0};

	if (check_limits(pages, json_count(items), !*next, &err) < 0) {
		finish_listing(pages, &(struct kube_result){NULL, result->status, &err});
		return;
	}
	for (size_t i = 0; i < json_count(items); i++)
		pages->on_item(json_at(items, i), pages->data);
	free(TAKE(pages->next));
	if (*next) {
		pages->next = mem_copy_text(next);
		begin_page(pages);
		return;
	}
	finish_listing(pages, result);
}

static void end_page(const struct kube_result *result, void *data)
{
	struct kube_pages *pages = data;

	if (result->err && result->err->code == ERR_LIMIT && !pages->is_one_by_one) {
		pages->is_one_by_one = true;
		begin_page(pages);
	} else if (result->err) {
		finish_listing(pages, result);
	} else {
		apply_listed_page(pages, result);
	}
}

static void begin_page(struct kube_pages *pages)
{
	struct kube_parameter *own = pages->parameters + pages->n_parameters;

	own[0].value = pages->is_one_by_one ? SMALLEST_PAGE : PAGE;
	own[1].value = pages->next;
	kube_call_start(&pages->call, pages->api, &pages->request, end_page, pages);
}

struct wait {
	struct loop *loop;
	bool is_over;
	struct err err;
};

static void end_wait(const struct kube_result *result, void *data)
{
	struct wait *wait = data;

	if (result->err)
		wait->err = *result->err;
	wait->is_over = true;
	loop_stop(wait->loop);
}

int kube_pages_wait(struct kube_api *api, const struct kube_request *request,
		    kube_begin_fn on_begin, kube_item_fn on_item, void *data, struct err *err)
{
	struct wait wait = {.err = {.code = ERR_CONFLICT}};
	struct kube_pages *pages;

	for (int i = 0; i < LIMIT_LIST_TRIES && wait.err.code == ERR_CONFLICT; i++) {
		wait = (struct wait){.loop = api->loop};
		on_begin(data);
		pages = kube_pages_new(api, request, on_item, end_wait, data);
		pages->listed_data = &wait;
		loop_run(api->loop);
		if (!wait.is_over) { /* else the pages are freed */
			kube_pages_cancel(pages);
			return err_set(err, ERR_UNREACHABLE,
				       "canceled a list request to the cluster");
		}
	}
	if (wait.err.code == ERR_CONFLICT)
		return err_set(err, ERR_UNREACHABLE,
			       "the API server forgot the list of %s each time it was read: %s",
			       request->resource->plural, wait.err.text);
	return err_copy(err, &wait.err);
}
