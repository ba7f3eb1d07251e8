/* Each fetch finds a running container of its Pod (kube/fetch_sidecar.h), copies the directory
 * (pods/copy.h), and gives up when no data arrive. */
#include "cluster/supervision_state.h"

#include "base/exit_code.h"
#include "base/mem.h"
#include "base/names.h"
#include "cluster/backend.h"
#include "io/folder.h"
#include "kube/fetch_sidecar.h"
#include "spec/job.h"

#include <string.h>

/* A fetch gives up after this time without a byte. */
#define SILENCE (10 * 60 * MSEC_PER_SECOND)

static void fetch_next(struct cluster_supervision *supervision);

bool supervision_kube_holds(const struct job *job, const char *role, int index, void *data)
{
	const struct supervision *base = data;
	const struct cluster_supervision *supervision = base->data;

	return (!supervision->has_fetched || supervision->unsaved) &&
	       (job->stop_reason || status_is_finished(&supervision->base.reporter.status)) &&
	       fetch_sidecar_is_needed(supervision->base.job, role, index);
}

static void finish_all_fetches(struct cluster_supervision *supervision, bool is_hurried)
{
	supervision->has_fetched = true;
	backend_kube_release(supervision->base.backend, is_hurried);
	supervision_request_pass(&supervision->base);
}

/* The Pods and their files stay until a user has copied or discarded them. */
static void retain_uncopied_pods(struct cluster_supervision *supervision)
{
	const struct job *job = supervision->base.job;
	const char *words = supervision->request->base.job_words;
	char *name CLEANUP(mem_free_text) = job_words_new(job->name_space, job->name, NULL);
	const char *choice = words + strlen(name);
	char *folder CLEANUP(mem_free_text) = fetch_text(supervision->unsaved);
	char *place CLEANUP(mem_free_text) = mem_format("%s:%s", name, folder);
	struct text place_word CLEANUP(text_done) = {0};

	/* The path is from the document, which other clients can write. */
	shell_word_add(&place_word, place);
	supervision->has_fetched = true;
	reporter_sayf(&supervision->base.reporter,
		      "keeping the Pods of --fetch, because a directory was not copied: 'muster "
		      "attach %s' tries again and deletes them, 'muster cp %s DEST%s' copies by "
		      "hand, 'muster delete %s' discards them",
		      words, text_of(&place_word), choice, words);
	supervision_request_pass(&supervision->base);
}

void supervision_kube_cancel_fetch(struct cluster_supervision *supervision)
{
	struct fetching *fetching = &supervision->fetching;

	kube_call_cancel(fetching->call);
	kube_copy_cancel(fetching->copy);
	loop_watch_free(fetching->timer);
	free(fetching->pod);
	*fetching = (struct fetching){.pod = NULL};
}

/* `what` describes the copy and what was omitted. After ERR_CONFLICT a later try would fail too. */
static void end_fetch(struct cluster_supervision *supervision, const char *what,
		      const struct err *why)
{
	const struct fetch *fetch = &supervision->base.job->fetches[supervision->n_fetched++];
	char *text CLEANUP(mem_free_text) = fetch_text(fetch);

	if (why) {
		supervision->fetch_exit_code = EXIT_INTERNAL;
		if (why->code != ERR_CONFLICT && !supervision->unsaved)
			supervision->unsaved = fetch;
		reporter_sayf(&supervision->base.reporter, "%s was not fetched: %s", text,
			      why->text);
	} else {
		reporter_sayf(&supervision->base.reporter, "fetched %s: %s", text, what);
	}
	supervision_kube_cancel_fetch(supervision);
	fetch_next(supervision);
}

static void get_pod(struct cluster_supervision *supervision, kube_done_fn on_end)
{
	const struct kube_request get = {KUBE_GET, &kube_pods, supervision->base.job->name_space,
					 supervision->fetching.pod};

	kube_call_start(&supervision->fetching.call, supervision->api, &get, on_end, supervision);
}

/* Deleting a Pod stops its sidecar too: a later try would fail. */
static void on_pod_of_failure(const struct kube_result *result, void *data)
{
	struct cluster_supervision *supervision = data;
	struct fetching *fetching = &supervision->fetching;

	if ((result->err && result->err->code == ERR_NOT_FOUND) ||
	    json_get_path(result->object, "metadata", "deletionTimestamp", NULL))
		err_set(&fetching->why, ERR_CONFLICT, "Pod '%s' no longer exists", fetching->pod);
	end_fetch(supervision, NULL, &fetching->why);
}

static void on_copied(const char *warnings, const struct err *err, void *data)
{
	struct cluster_supervision *supervision = data;
	const struct kube_copy *copy = TAKE(supervision->fetching.copy);

	if (err) {
		supervision->fetching.why = *err;
		get_pod(supervision, on_pod_of_failure);
		return;
	}
	char *came CLEANUP(mem_free_text) = kube_copy_describe(copy);
	char *what CLEANUP(mem_free_text) =
		mem_format("%s%s%s", came, *warnings ? "; " : "", warnings);

	end_fetch(supervision, what, NULL);
}

static void on_silence(void *data)
{
	struct cluster_supervision *supervision = data;
	struct fetching *fetching = &supervision->fetching;
	uint64_t bytes = fetching->copy ? kube_copy_bytes(fetching->copy) : 0;
	struct err err = {0};

	if (bytes > fetching->bytes) {
		fetching->bytes = bytes;
		loop_timer_arm_after(fetching->timer, SILENCE);
		return;
	}
	err_set(&err, ERR_UNREACHABLE, "no data for %d minutes",
		(int) (SILENCE / (60 * MSEC_PER_SECOND)));
	end_fetch(supervision, NULL, &err);
}

static int start_copy(struct cluster_supervision *supervision, const struct json *pod,
		      const char *who, struct err *err)
{
	const struct supervision_kube_request *asked = supervision->request;
	size_t number = supervision->n_fetched;
	/* From the command line; NULL: a directory with the Pod's name is created. */
	const char *place = number < asked->n_fetch_places ? asked->fetch_places[number] : NULL;
	struct kube_copy_request request = {
		.container = {.namespace_name = supervision->base.job->name_space,
			      .pod = supervision->fetching.pod},
		.there = supervision->base.job->fetches[number].path,
		.here = place ? place : supervision->fetching.pod,
		.must_have_files = true,
		.on_end = on_copied,
		.data = supervision,
	};
	int rc = fetch_sidecar_choose_container(pod, who, true, &request.container.name, err);

	if (rc == 0 && !place)
		rc = folder_create(request.here, err);
	return rc < 0 ? rc
		      : kube_copy_from(supervision->api, &request, &supervision->fetching.copy,
				       err);
}

static void on_fetched_pod_read(const struct kube_result *result, void *data)
{
	struct cluster_supervision *supervision = data;
	const struct job *job = supervision->base.job;
	const struct err *err = result->err;
	char *who CLEANUP(mem_free_text) = mem_format("Pod '%s'", supervision->fetching.pod);
	struct err why = {0};

	if (err && err->code == ERR_NOT_FOUND)
		err_set(&why, ERR_CONFLICT, "%s no longer exists", who);
	else if (err)
		why = *err;
	else if (!job_pod_is_in(result->object, job->name, job->uid))
		err_set(&why, ERR_CONFLICT, "%s does not belong to job '%s'", who, job->name);
	else if (start_copy(supervision, result->object, who, &why) == 0)
		return;
	end_fetch(supervision, NULL, &why);
}

static void fetch_next(struct cluster_supervision *supervision)
{
	const struct job *job = supervision->base.job;

	if (supervision->n_fetched == job->n_fetches) {
		if (supervision->unsaved)
			retain_uncopied_pods(supervision);
		else
			finish_all_fetches(supervision, false);
		return;
	}
	const struct fetch *fetch = &job->fetches[supervision->n_fetched];

	supervision->fetching = (struct fetching){
		.pod = mem_format("%s-%s-%d", job->name, fetch->role, fetch->index),
		.timer = loop_new_timer(supervision->base.loop, on_silence, supervision),
	};
	loop_timer_arm_after(supervision->fetching.timer, SILENCE);
	get_pod(supervision, on_fetched_pod_read);
}

bool supervision_kube_fetch(struct cluster_supervision *supervision)
{
	if (!supervision->has_fetched && !supervision->fetching.pod)
		fetch_next(supervision);
	return supervision->has_fetched;
}

bool supervision_kube_give_up_fetching(struct cluster_supervision *supervision, int exit_code)
{
	size_t n_left = supervision->base.job->n_fetches - supervision->n_fetched;

	if (supervision->has_fetched || !n_left)
		return false;
	supervision_kube_cancel_fetch(supervision);
	supervision->fetch_exit_code = exit_code;
	reporter_sayf(&supervision->base.reporter, "%zu director%s not fetched (canceled)", n_left,
		      n_left == 1 ? "y was" : "ies were");
	finish_all_fetches(supervision, true);
	return true;
}
