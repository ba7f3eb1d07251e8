#include "pods/fetching.h"

#include "base/mem.h"
#include "io/folder.h"
#include "kube/fetch_sidecar.h"
#include "kube/job_pod.h"
#include "pods/copy.h"

struct kube_fetching {
	struct kube_api *api;
	struct arena *arena;
	struct kube_fetching_request request; /* its texts are in the arena */
	struct kube_call *call;
	struct kube_copy *copy;
	struct loop_watch *timer;
	uint64_t bytes; /* when the timer was armed */
	struct err why; /* why the copy failed */
};

static void free_fetching(struct kube_fetching *fetching)
{
	loop_watch_free(fetching->timer);
	arena_free(fetching->arena);
}

void kube_fetching_cancel(struct kube_fetching *fetching)
{
	if (!fetching)
		return;
	kube_call_cancel(fetching->call);
	kube_copy_cancel(fetching->copy);
	free_fetching(fetching);
}

static void finish_pod_fetching(struct kube_fetching *fetching, const char *what,
				const struct err *err)
{
	fetching->request.on_end(what, err, fetching->request.data);
	free_fetching(fetching);
}

static void get_pod(struct kube_fetching *fetching, kube_done_fn on_end)
{
	const struct kube_request get = {KUBE_GET, &kube_pods, fetching->request.namespace_name,
					 fetching->request.pod};

	kube_call_start(&fetching->call, fetching->api, &get, on_end, fetching);
}

/* Deleting a Pod stops its sidecar too: a later try would fail. */
static void on_pod_of_failure(const struct kube_result *result, void *data)
{
	struct kube_fetching *fetching = data;

	if ((result->err && result->err->code == ERR_NOT_FOUND) ||
	    json_get_path(result->object, "metadata", "deletionTimestamp", NULL))
		err_set(&fetching->why, ERR_CONFLICT, "Pod '%s' no longer exists",
			fetching->request.pod);
	finish_pod_fetching(fetching, NULL, &fetching->why);
}

static void on_copied(const char *warnings, const struct err *err, void *data)
{
	struct kube_fetching *fetching = data;
	char *came CLEANUP(mem_free_text) = err ? NULL : kube_copy_describe(fetching->copy);
	char *what CLEANUP(mem_free_text) =
		err ? NULL : mem_format("%s%s%s", came, *warnings ? "; " : "", warnings);

	fetching->copy = NULL;
	if (!err) {
		finish_pod_fetching(fetching, what, NULL);
		return;
	}
	fetching->why = *err;
	get_pod(fetching, on_pod_of_failure);
}

static void on_silence(void *data)
{
	struct kube_fetching *fetching = data;
	uint64_t bytes = fetching->copy ? kube_copy_bytes(fetching->copy) : 0;
	struct err err = {0};

	if (bytes > fetching->bytes) {
		fetching->bytes = bytes;
		loop_timer_arm_after(fetching->timer, KUBE_FETCHING_SILENCE);
		return;
	}
	kube_call_cancel(TAKE(fetching->call));
	kube_copy_cancel(TAKE(fetching->copy));
	err_set(&err, ERR_UNREACHABLE, "no data for %d minutes",
		(int) (KUBE_FETCHING_SILENCE / (60 * MSEC_PER_SECOND)));
	finish_pod_fetching(fetching, NULL, &err);
}

/* Starts the copy. */
static int start_fetching_copy(struct kube_fetching *fetching, const struct json *pod,
			       const char *who, struct err *err)
{
	struct kube_copy_request request = {
		.container = {.namespace_name = fetching->request.namespace_name,
			      .pod = fetching->request.pod},
		.there = fetching->request.there,
		.here = fetching->request.here,
		.must_have_files = true,
		.on_end = on_copied,
		.data = fetching,
	};
	int rc = fetch_sidecar_choose_container(pod, who, true, &request.container.name, err);

	if (rc == 0 && fetching->request.makes_here)
		rc = folder_create(fetching->request.here, err);
	return rc < 0 ? rc : kube_copy_from(fetching->api, &request, &fetching->copy, err);
}

static void on_fetched_pod_read(const struct kube_result *result, void *data)
{
	struct kube_fetching *fetching = data;
	const struct err *err = result->err;
	char *who CLEANUP(mem_free_text) = mem_format("Pod '%s'", fetching->request.pod);
	struct err why = {0};

	if (err && err->code == ERR_NOT_FOUND)
		err_set(&why, ERR_CONFLICT, "%s no longer exists", who);
	else if (err)
		why = *err;
	else if (!job_pod_is_in(result->object, fetching->request.job_name,
				fetching->request.job_uid))
		err_set(&why, ERR_CONFLICT, "%s does not belong to job '%s'", who,
			fetching->request.job_name);
	else if (start_fetching_copy(fetching, result->object, who, &why) == 0)
		return;
	finish_pod_fetching(fetching, NULL, &why);
}

struct kube_fetching *kube_fetching_new(struct kube_api *api,
					const struct kube_fetching_request *request)
{
	struct arena *arena = arena_new();
	struct kube_fetching *fetching = arena_take(arena, sizeof(*fetching));
	const char **const texts[] = {
		&fetching->request.namespace_name, &fetching->request.job_name,
		&fetching->request.job_uid,        &fetching->request.pod,
		&fetching->request.there,          &fetching->request.here};

	*fetching = (struct kube_fetching){.api = api, .arena = arena, .request = *request};
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		*texts[i] = arena_copy_text(arena, *texts[i]);
	fetching->timer = loop_new_timer(kube_api_loop(api), on_silence, fetching);
	loop_timer_arm_after(fetching->timer, KUBE_FETCHING_SILENCE);
	get_pod(fetching, on_fetched_pod_read);
	return fetching;
}
