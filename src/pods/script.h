/* Runs a shell script in a container. The first line of its output is its answer; bytes follow. Its
 * stderr gives the reason of a failure, or warnings. */
#pragma once

#include "base/err.h"
#include "pods/exec.h"

#include <stdbool.h>

struct kube_script;

/* The meanings of these exit codes of a script (the numbers are those of sysexits.h); any other
 * code except 0 is an ERR_IO. */
#define KUBE_SCRIPT_NOT_FOUND 66
#define KUBE_SCRIPT_UNSUPPORTED 69
#define KUBE_SCRIPT_EXISTS 73

struct kube_script_request {
	struct kube_container container;
	const char *text; /* for `sh -c` */
	const char *const *arguments; /* $1 …; ends with NULL */
	bool has_input;

	/* The line, without its line feed, and the bytes that arrived with it. May cancel. */
	void (*on_answer)(const char *line, const char *bytes, size_t len, void *data);
	/* More bytes. May cancel; NULL: they are dropped. */
	void (*on_bytes)(const char *bytes, size_t len, void *data);
	/* There is room for input, after the answer. May cancel. NULL: no input. */
	void (*on_room)(void *data);
	/* The last call, once. After success, `err` is NULL; `warnings`: the lines on stderr, or
	 * "". */
	void (*on_end)(const char *warnings, const struct err *err, void *data);
	void *data;
};

/* The scripts of this directory (*.sh), which say what they do. */
extern const char dump_stacks_script[], pack_script[], send_growth_script[], unpack_script[];

/* The request, except its callbacks, is needed only until this returns. */
struct kube_script *kube_script_new(struct kube_api *api,
				    const struct kube_script_request *request);
/* Cancels it without a callback; not from `on_end`. NULL is fine. */
void kube_script_cancel(struct kube_script *script);
/* To send input, and to pause the output. */
struct kube_exec *kube_script_exec(const struct kube_script *script);
