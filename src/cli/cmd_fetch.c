/* muster fetch: copies the directories that a job's --fetch names, now. */
#include "base/mem.h"
#include "cli/cluster_support.h"
#include "cli/commands.h"
#include "cli/kube_cluster.h"
#include "cli/lookup.h"
#include "io/folder.h"
#include "spec/fetch.h"
#include "spec/job.h"

/* Into a directory with the Pod's name, so that those of several Pods do not mix. */
static int fetch_one(const struct options *options, const struct found_job *found,
		     const char *destination, const struct fetch *fetch)
{
	char *here CLEANUP(mem_free_text) =
		mem_format("%s/%s-%s-%d", destination, found->name, fetch->role, fetch->index);
	const struct copy_place place = {found->namespace_name, found->name, fetch->role,
					 fetch->index, fetch->path};
	const struct copy_call call = {
		.options = options, .place = &place, .here = here, .is_fetch = true};
	struct err err = {0};

	if (folder_create(here, &err) < 0)
		return output_fail(&err);
	return cluster_support->copy(&call);
}

static int fetch_all(const struct options *options, const struct found_job *found,
		     const char *destination, const struct json *document)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	const struct json *annotations = json_get_path(document, "metadata", "annotations", NULL);
	const struct fetch *list = NULL;
	size_t count = 0;
	int exit_code = EXIT_DONE;
	struct err err = {0};

	if (fetch_read_all(json_get_string(annotations, JOB_ANNOTATION_FETCH, NULL), arena, &list,
			   &count, &err) < 0)
		return output_fail(&err);
	if (count == 0)
		return output_fail_with(
			EXIT_FAILED,
			"job '%s' was run without --fetch; to copy any path, use muster cp",
			found->name);
	for (size_t i = 0; i < count; i++) {
		int code = fetch_one(options, found, destination, &list[i]);

		exit_code = exit_code ? exit_code : code;
	}
	return exit_code;
}

static int fetch_run(const struct options *options)
{
	struct lookup *lookup CLEANUP(lookup_cleanup) = lookup_new(options);
	struct json *document CLEANUP(json_cleanup) = NULL;
	struct found_job found = {0};
	struct err err = {0};
	const char *const *arguments = options_arguments(options);

	if (lookup_job(lookup, arguments[0], &found, &err))
		return output_fail(&err);
	if (!found.namespace_name)
		return output_fail_with(
			EXIT_REFUSED, "job '%s' has no Pods: it runs on this machine, or has ended",
			found.name);
	if (found.client->functions->get(found.client, found.name, &document, &err))
		return output_fail(&err);
	return fetch_all(found.options, &found, arguments[1] ? arguments[1] : ".", document);
}

const struct command command_fetch = {
	.name = "fetch",
	.group = "Inspect",
	.arguments = "[OPTIONS] JOB [DEST]",
	.one_line = "copy the directories named by 'run --fetch' to this machine now",
	.examples = "  muster fetch digits-x7k2p\n"
		    "  muster fetch digits-x7k2p results\n",
	.options = cluster_job_rows,
	.least_arguments = 1,
	.most_arguments = 2,
	.run = fetch_run,
};
