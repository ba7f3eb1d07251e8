/* Writes the options of `run` and `render` for Pods into the templates of a job's document. The
 * document contains all of them afterwards, so that options and files are one model: the printed
 * document can be run again. */
#pragma once

#include "base/json.h"
#include "base/text.h"

/* The values of a list option. */
struct pod_texts {
	const char *const *list;
	size_t count;
};

/* The options for Pods; NULL and empty: not given. */
struct pod_build {
	const char *image;
	const char *default_image; /* for a container without an image in option or template */
	const char *name_space;
	const char *cpu; /* a quantity: requested */
	bool limits_cpu; /* that is the limit, too */
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

/* True without any option (default_image is none). */
bool pod_build_is_empty(const struct pod_build *build);

/* The Pod template in a document: a Pod, the `template` of a PodTemplate, Job, Deployment or
 * similar, or metadata and spec alone. ERR_INVALID if its kind has none, or it has no container, or
 * sets TF_CONFIG in the training container: all replicas would get the same identity. Borrowed from
 * the document. */
int pod_build_template(const struct json *document, const struct json **ret_template,
		       struct err *err) MUST_USE;

/* Writes the options into a TFJob document with tfReplicaSpecs: into the template of each role, and
 * into its training container. GPUs are not for parameter servers, which compute nothing. The
 * document's own templates are laid over `template` (pod_template_laid_over): the job's own fields
 * override it, and options override both. Each invalid option is a line of `faults`; then the
 * document is partly changed. */
void job_document_add_pods(struct json *document, const struct pod_build *build,
			   struct text *faults);
