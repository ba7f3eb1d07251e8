/* Mirrors the Pods of a server and prints what changes, until its input ends:
 *
 *     kube_mirror SERVER [AUTHORITY CERTIFICATE KEY [NAMESPACE]]
 *
 * Each line of the output is a JSON object: {"name", "phase"} (null: it is gone), {"synced": how
 * many there are}, {"trouble": why}. With MIRROR_QUIET only the last two. */
#include "base/mem.h"
#include "base/text.h"
#include "kube/mirror.h"
#include "tool.h"

#include <stdio.h>
#include <unistd.h>

struct watcher {
	struct loop *loop;
	struct kube_mirror *mirror;
	bool is_quiet;
};

/* What is kept of a Pod. */
struct pod {
	char phase[32];
};

static void *project(const struct json *object, void *before, void *data)
{
	struct pod *pod = before ? before : mem_new(sizeof(*pod));

	(void) data;
	snprintf(pod->phase, sizeof(pod->phase), "%s",
		 json_as_string(json_get_path(object, "status", "phase", NULL), ""));
	return pod;
}

static void release(void *kept, void *data)
{
	(void) data;
	free(kept);
}

static void tell_change(const char *name, void *data)
{
	const struct watcher *watcher = data;
	const struct pod *pod = mirror_table_get(&watcher->mirror->table, name);
	struct json *line = json_new_object();

	json_set_string(line, "name", name);
	json_set(line, "phase", json_new_string(pod ? pod->phase : NULL));
	if (watcher->is_quiet)
		json_free(line);
	else
		tool_print(line);
}

static void tell_synced(void *data)
{
	const struct watcher *watcher = data;
	struct json *line = json_new_object();

	json_set_integer(line, "synced", (int64_t) watcher->mirror->table.count);
	json_set_string(line, "version", watcher->mirror->reflection.version);
	tool_print(line);
}

static void tell_trouble(const struct err *err, void *data)
{
	struct json *line = json_new_object();

	(void) data;
	json_set_string(line, "trouble", err->text);
	tool_print(line);
}

static void end(void *data)
{
	const struct watcher *watcher = data;

	loop_stop(watcher->loop);
}

int main(int argc, char **argv)
{
	static const struct kube_resource pods = {"", "v1", "pods", false};
	struct watcher watcher = {.is_quiet = getenv("MIRROR_QUIET")};
	const struct kube_mirror_settings settings = {
		.resource = &pods,
		.namespace_name = argc > 5 ? argv[5] : NULL,
		.project = project,
		.release = release,
		.on_change = tell_change,
		.on_synced = tell_synced,
		.on_trouble = tell_trouble,
		.data = &watcher,
	};
	struct kube_api *api;

	if (argc < 2 || loop_new(&watcher.loop, NULL) < 0)
		return 2;
	struct kube_login *login = tool_login_new(argv[1], argc > 4 ? argv + 2 : NULL);

	if (getenv("MIRROR_SILENCE"))
		login->timeout = atoi(getenv("MIRROR_SILENCE"));
	if (kube_api_new(watcher.loop, login, &api, NULL) < 0)
		return 2;
	struct loop_watch *input = loop_watch_readable(watcher.loop, STDIN_FILENO, end, &watcher);

	watcher.mirror = kube_mirror_new(api, &settings);
	loop_run(watcher.loop);
	kube_mirror_free(watcher.mirror);
	kube_api_free(api);
	loop_watch_free(input);
	loop_free(watcher.loop);
	return 0;
}
