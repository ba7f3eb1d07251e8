/* The flags of Pods that take some reading: each is added to a Pod's spec, or to the container that
 * trains. What is wrong is a line of `faults` that names the flag, once. spec/pod_build.h puts them
 * together. */
#pragma once

#include "base/json.h"
#include "base/text.h"

#include <stddef.h>

/* A list of texts as an option gives it. */
struct pod_texts {
	const char *const *list;
	size_t count;
};

void pod_flags_add_pull_secrets(const struct pod_texts *names, struct json *spec);
/* A quantity, which is requested and may be exceeded. NULL: nothing. */
void pod_flags_add_cpu(const char *cpu, struct json *container, struct text *faults);
/* A quantity, which is requested and is the limit: a container that needs more is ended. NULL:
 * nothing. */
void pod_flags_add_memory(const char *memory, struct json *container, struct text *faults);
/* "2" of nvidia.com/gpu, or RESOURCE=N; "none" or "all" of this machine. Goes into the template's
 * container, and "all" into its annotations. NULL: nothing. */
void pod_flags_add_gpu(const char *gpu, struct json *template, struct json *container,
		       struct text *faults);
/* KEY=VALUE. */
void pod_flags_add_node_selectors(const struct pod_texts *texts, struct json *spec,
				  struct text *faults);
/* KEY[=VALUE][:EFFECT] as kubectl taint writes them; "*" tolerates all. */
void pod_flags_add_tolerations(const struct pod_texts *texts, struct json *spec,
			       struct text *faults);
/* CLAIM:/PATH[:ro]. */
void pod_flags_add_volumes(const struct pod_texts *texts, struct json *spec, struct json *container,
			   struct text *faults);
