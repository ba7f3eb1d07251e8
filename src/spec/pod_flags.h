/* The options for Pods that have a syntax of their own: each is added to a Pod's spec, or to the
 * training container. An error is a line of `faults` that names the option, once. spec/pod_build.h
 * calls these functions. */
#pragma once

#include "base/json.h"
#include "base/text.h"

#include <stddef.h>

/* The values of a list option. */
struct pod_texts {
	const char *const *list;
	size_t count;
};

void pod_flags_add_pull_secrets(const struct pod_texts *names, struct json *spec);
/* A quantity: the CPU request, which may be exceeded. NULL: nothing. */
void pod_flags_add_cpu(const char *cpu, struct json *container, struct text *faults);
/* A quantity: memory request and limit; a container that needs more is killed. NULL: nothing. */
void pod_flags_add_memory(const char *memory, struct json *container, struct text *faults);
/* "2" of nvidia.com/gpu, or RESOURCE=N; "none" or "all" of this machine. Written into the
 * template's container, "all" into the template's annotations. NULL: nothing. */
void pod_flags_add_gpu(const char *gpu, struct json *template, struct json *container,
		       struct text *faults);
/* KEY=VALUE. */
void pod_flags_add_node_selectors(const struct pod_texts *texts, struct json *spec,
				  struct text *faults);
/* KEY[=VALUE][:EFFECT] in the syntax of kubectl taint; "*" tolerates all. */
void pod_flags_add_tolerations(const struct pod_texts *texts, struct json *spec,
			       struct text *faults);
/* CLAIM:/PATH[:ro]. */
void pod_flags_add_volumes(const struct pod_texts *texts, struct json *spec, struct json *container,
			   struct text *faults);
