/* Follows jobs in one cache of a server and prints what changes, until its input ends:
 *
 *     job_cache SERVER NAMESPACE/JOB ...
 *
 * The cache is of all namespaces. Each line of the output is a JSON object: {"job", "kind", "name",
 * "there"}, of Pods with "role", "index", "phase" and "pods", how many the job has by now; {"job",
 * "synced": kind}; {"job", "trouble": why}. */
#include "kube/job_cache.h"
#include "tool.h"

#include <unistd.h>

/* Those of jobs that are no TFJobs. */
static const char *const kinds[] = {"owners",   "leases",          "pods",
				    "services", "networkpolicies", "files"};

struct followed_job {
	char *name; /* NAMESPACE/JOB */
	struct job_follower *follower;
};

static struct json *line_of(const struct followed_job *job)
{
	struct json *line = json_new_object();

	json_set_string(line, "job", job->name);
	return line;
}

static void on_change(enum job_cache_kind kind, const char *name, void *data)
{
	const struct followed_job *job = data;
	struct json *line = line_of(job);
	const struct job_pod *pod = job_follower_pod(job->follower, name);

	json_set_string(line, "kind", kinds[kind]);
	json_set_string(line, "name", name);
	json_set_bool(line, "there",
		      kind == JOB_CACHE_PODS ? pod != NULL
					     : job_follower_get(job->follower, kind, name) != NULL);
	if (kind == JOB_CACHE_PODS)
		json_set_integer(line, "pods", (int64_t) job_follower_count(job->follower, kind));
	if (kind == JOB_CACHE_PODS && pod) {
		json_set_string(line, "role", pod->seen.role);
		json_set_integer(line, "index", pod->seen.index);
		json_set_string(line, "phase", observed_phase_words[pod->seen.phase]);
	}
	tool_print(line);
}

static void on_synced(enum job_cache_kind kind, void *data)
{
	struct json *line = line_of(data);

	json_set_string(line, "synced", kinds[kind]);
	tool_print(line);
}

static void on_trouble(enum job_cache_kind kind, const struct err *err, void *data)
{
	struct json *line = line_of(data);

	(void) kind;
	json_set_string(line, "trouble", err->text);
	tool_print(line);
}

static void follow(struct job_cache *cache, struct followed_job *job, char *name)
{
	char *namespace_name CLEANUP(mem_free_text) = mem_copy_text(name);
	char *slash = strchr(namespace_name, '/');
	struct job_follower_settings settings = {
		.namespace_name = namespace_name,
		.on_change = on_change,
		.on_synced = on_synced,
		.on_trouble = on_trouble,
		.data = job,
	};

	*slash = '\0';
	settings.job_name = slash + 1;
	job->name = name;
	job->follower = job_cache_follow(cache, &settings);
	for (size_t kind = 0; kind < ARRAY_LEN(kinds); kind++)
		job_cache_watch(cache, (enum job_cache_kind) kind);
}

static void end(void *data)
{
	loop_stop(data);
}

int main(int argc, char **argv)
{
	size_t count = argc > 2 ? (size_t) argc - 2 : 0;
	struct followed_job *jobs = mem_new_array(count, sizeof(*jobs));
	struct loop *loop;
	struct kube_api *api;

	if (argc < 3 || loop_new(&loop, NULL) < 0 ||
	    kube_api_new(loop, tool_login_new(argv[1], NULL), &api, NULL) < 0)
		return 2;
	const struct job_cache_settings settings = {.api = api,
						    .namespace_name = KUBE_ALL_NAMESPACES};
	struct job_cache *cache = job_cache_new(&settings);
	struct loop_watch *input = loop_watch_readable(loop, STDIN_FILENO, end, loop);

	for (size_t i = 0; i < count; i++)
		follow(cache, &jobs[i], argv[i + 2]);
	loop_run(loop);
	for (size_t i = 0; i < count; i++)
		job_follower_free(jobs[i].follower);
	job_cache_free(cache);
	kube_api_free(api);
	loop_watch_free(input);
	loop_free(loop);
	free(jobs);
	return 0;
}
