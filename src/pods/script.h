/* A shell script in a container. The first line that it prints is its answer, which says how it
 * goes on; what follows are bytes. What it writes to stderr is why it failed, or what it warns of.
 */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "pods/exec.h"

#include <stdbool.h>
#include <stddef.h>

struct kube_script;

/* What these exit codes of a script mean (their numbers are those of sysexits.h); any other but 0
 * is an ERR_IO. */
#define KUBE_SCRIPT_NOT_FOUND 66
#define KUBE_SCRIPT_UNSUPPORTED 69
#define KUBE_SCRIPT_EXISTS 73

struct kube_script_request {
	struct kube_container container;
	const char *text; /* for `sh -c` */
	const char *const *arguments; /* $1 …; ends with NULL */
	bool has_input;

	/* The line, without its line feed, and what came with it of the bytes. May cancel. */
	void (*on_answer)(const char *line, const char *bytes, size_t len, void *data);
	/* May cancel; NULL: they are dropped. */
	void (*on_bytes)(const char *bytes, size_t len, void *data);
	/* There is room for input, and there was an answer. May cancel. NULL: no input. */
	void (*on_room)(void *data);
	/* The last call, once. `warnings` are the lines on stderr of a script that ended well, ""
	 * if there were none; `err` is NULL then. */
	void (*on_end)(const char *warnings, const struct err *err, void *data);
	void *data;
};

/* The request, but for its callbacks, is needed only until this returns. */
struct kube_script *kube_script_new(struct kube_api *api,
				    const struct kube_script_request *request);
/* Ends it without a callback; not from `on_end`. NULL is fine. */
void kube_script_cancel(struct kube_script *script);
/* For input, and to hold back the output. */
struct kube_exec *kube_script_exec(const struct kube_script *script);
