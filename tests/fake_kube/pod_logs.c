/* Follows the logs of Pods of a server into files, as a job's are, until its input ends:
 *
 *     pod_logs SERVER FOLDER [SILENCE [AUTHORITY CERTIFICATE KEY [NAMESPACE]]]
 *
 * A line of its input is "run INDEX [RESTARTS]", "ask INDEX" (to end), "end INDEX" or "gone
 * INDEX", of the Pod worker-INDEX. It prints "complete" for each log that comes to its end, "quiet"
 * when that was so of all whose container has ended, and "trouble: …". SILENCE is in milliseconds.
 */
#include "cluster/pod_logs.h"
#include "io/file.h"
#include "tool.h"

#include <stdio.h>

struct follower {
	struct loop *loop;
	struct pod_logs *logs;
	struct text input;
};

static void ignore_output(void *data)
{
	(void) data;
}

static void tell_complete(void *data)
{
	const struct follower *follower = data;

	printf("complete\n");
	if (!pod_logs_is_any_ended_open(follower->logs))
		printf("quiet\n");
	fflush(stdout);
}

static void tell_trouble(const char *sentence, void *data)
{
	(void) data;
	printf("trouble: %s\n", sentence);
	fflush(stdout);
}

static void obey(const struct follower *follower, const char *line)
{
	char word[8] = "";
	int index = 0, n_restarts = 0;

	if (sscanf(line, "%7s %d %d", word, &index, &n_restarts) < 2)
		exit(2);
	char *name CLEANUP(mem_free_text) = mem_format("worker-%d", index);
	char *uid CLEANUP(mem_free_text) = mem_format("uid-%d", index);
	const struct job_pod pod = {
		.name = name,
		.uid = uid,
		.container = "tensorflow",
		.n_restarts = n_restarts,
		.seen =
			{
				.role = "worker",
				.index = index,
				.phase =
					strcmp(word, "end") ? OBSERVED_RUNNING : OBSERVED_SUCCEEDED,
				.started_at = 1,
				.stop_asked_at = strcmp(word, "ask") ? MSEC_UNSET : 1,
			},
	};

	if (!strcmp(word, "gone"))
		pod_logs_gone(follower->logs, name);
	else
		pod_logs_update(follower->logs, &pod);
}

static void take_input(void *data)
{
	struct follower *follower = data;
	char bytes[4096];
	ssize_t len = read(STDIN_FILENO, bytes, sizeof(bytes));

	if (len <= 0) {
		loop_stop(follower->loop);
		return;
	}
	for (ssize_t i = 0; i < len; i++) {
		if (bytes[i] != '\n') {
			text_add_char(&follower->input, bytes[i]);
			continue;
		}
		obey(follower, text_of(&follower->input));
		text_clear(&follower->input);
	}
}

int main(int argc, char **argv)
{
	struct follower follower = {0};
	struct kube_api *api;
	rlim_t before;

	if (argc < 3 || descriptor_limit_raise(0, &before, NULL) < 0 ||
	    loop_new(&follower.loop, NULL) < 0 ||
	    kube_api_new(follower.loop, tool_login_new(argv[1], argc > 6 ? argv + 4 : NULL), &api,
			 NULL) < 0)
		return 2;
	const struct pod_logs_settings settings = {
		.api = api,
		.namespace_name = argc > 7 ? argv[7] : "default",
		.folder = argv[2],
		.tail = -1,
		.output_idle = argc > 3 ? strtol(argv[3], NULL, 10) : 0,
		.on_output = ignore_output,
		.on_complete = tell_complete,
		.complete_data = &follower,
		.on_trouble = tell_trouble,
		.data = &follower,
	};
	struct loop_watch *input =
		loop_watch_readable(follower.loop, STDIN_FILENO, take_input, &follower);

	follower.logs = pod_logs_new(&settings);
	loop_run(follower.loop);
	pod_logs_free(follower.logs);
	kube_api_free(api);
	loop_watch_free(input);
	loop_free(follower.loop);
	text_done(&follower.input);
	return 0;
}
