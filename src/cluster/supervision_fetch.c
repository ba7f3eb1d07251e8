#include "cluster/supervision_state.h"

#include "base/exit_code.h"
#include "base/mem.h"
#include "base/names.h"
#include "cluster/backend.h"
#include "kube/fetch_sidecar.h"
#include "spec/job.h"

#include <string.h>

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

static void on_fetch_end(const char *what, const struct err *err, void *data)
{
	struct cluster_supervision *supervision = data;
	const struct fetch *fetch = &supervision->base.job->fetches[supervision->n_fetched++];
	char *text CLEANUP(mem_free_text) = fetch_text(fetch);

	supervision->fetching = NULL;
	if (err) {
		supervision->fetch_exit_code = EXIT_INTERNAL;
		if (err->code != ERR_CONFLICT && !supervision->unsaved)
			supervision->unsaved = fetch;
		reporter_sayf(&supervision->base.reporter, "%s was not fetched: %s", text,
			      err->text);
	} else {
		reporter_sayf(&supervision->base.reporter, "fetched %s: %s", text, what);
	}
	fetch_next(supervision);
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
	char *pod CLEANUP(mem_free_text) =
		mem_format("%s-%s-%d", job->name, fetch->role, fetch->index);
	const struct supervision_kube_request *asked = supervision->request;
	/* From the command line; NULL: a directory with the Pod's name is created. */
	const char *place = supervision->n_fetched < asked->n_fetch_places
				    ? asked->fetch_places[supervision->n_fetched]
				    : NULL;

	const struct kube_fetching_request request = {
		.namespace_name = job->name_space,
		.job_name = job->name,
		.job_uid = job->uid,
		.pod = pod,
		.there = fetch->path,
		.here = place ? place : pod,
		.makes_here = !place,
		.on_end = on_fetch_end,
		.data = supervision,
	};

	supervision->fetching = kube_fetching_new(supervision->api, &request);
}

bool supervision_kube_fetch(struct cluster_supervision *supervision)
{
	if (!supervision->has_fetched && !supervision->fetching)
		fetch_next(supervision);
	return supervision->has_fetched;
}

bool supervision_kube_give_up_fetching(struct cluster_supervision *supervision, int exit_code)
{
	size_t n_left = supervision->base.job->n_fetches - supervision->n_fetched;

	if (supervision->has_fetched || !n_left)
		return false;
	kube_fetching_cancel(TAKE(supervision->fetching));
	supervision->fetch_exit_code = exit_code;
	reporter_sayf(&supervision->base.reporter, "%zu director%s not fetched (canceled)", n_left,
		      n_left == 1 ? "y was" : "ies were");
	finish_all_fetches(supervision, true);
	return true;
}
