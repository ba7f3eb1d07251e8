/* From flags to Pods: what `run` and `render` write into the templates of a job's document.
 *
 * The document says it all afterwards, so that flags and files stay one model: what is printed can
 * be run again. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/own.h"
#include "spec/pod_flags.h"

#include <stdbool.h>

/* What a command line says of Pods; NULL and empty: nothing. */
struct pod_build {
	const char *image;
	const char *default_image; /* for a container that neither flag nor template gives one */
	const char *name_space;
	const char *cpu; /* a quantity: requested */
	const char *memory; /* a quantity: requested, and the limit */
	const char *gpu; /* "2" of nvidia.com/gpu, or RESOURCE=N; "none", "all" */
	const char *service_account;
	const char *priority; /* priorityClassName */
	struct pod_texts image_pull_secrets;
	struct pod_texts node_selectors; /* KEY=VALUE */
	struct pod_texts
		tolerations; /* KEY[=VALUE][:EFFECT] as kubectl taint writes them; "*": all */
	struct pod_texts volumes; /* CLAIM:/PATH[:ro] */
	const struct json
		*template; /* a Pod or a Pod template, see pod_build_template; NULL: none */
};

/* True when any flag is there (default_image is none). */
bool pod_build_is_empty(const struct pod_build *build);

/* The part of a document that is a Pod template: a Pod, the `template` of a PodTemplate, Job,
 * Deployment or the like, or metadata and spec alone. ERR_INVALID where it is of a kind that holds
 * none, or has no container, or gives the container that trains a TF_CONFIG: that would tell all
 * replicas that they are the same one. Borrowed from the document. */
int pod_build_template(const struct json *document, const struct json **ret_template,
		       struct err *err) MUST_USE;

/* Writes it into a TFJob document with tfReplicaSpecs: into the template of each role, and there
 * into the container that trains. GPUs are not for parameter servers, which compute nothing.
 *
 * `template` is the ground on which the document's own templates are laid
 * (pod_template_laid_over), so that what the job says itself wins, and flags win over both.
 * Each flag that is wrong is a line of `faults`; the document is changed in part then. */
void job_document_add_pods(struct json *document, const struct pod_build *build,
			   struct text *faults);
