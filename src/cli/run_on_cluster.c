/* Which cluster and which namespace; then engine/supervision_kube.h. */
#include "cli/run_on_cluster.h"

#include "base/mem.h"
#include "cli/cluster.h"
#include "cli/command.h"
#include "cli/detached.h"
#include "cli/lookup.h"
#include "cli/output.h"
#include "engine/rehearsal_kube.h"
#include "engine/supervision_kube.h"

struct connection {
	struct loop *loop;
	struct kube_api *api;
};

static void disconnect(struct connection *connection)
{
	kube_api_free(connection->api);
	loop_free(connection->loop);
}

static int connect_to(const struct options *options, struct connection *connection, struct err *err)
{
	int rc = loop_new(&connection->loop, err);

	return rc < 0 ? rc
		      : kube_api_connect(connection->loop, cluster_log_in, (void *) options,
					 &connection->api, err);
}

/* Asks the cluster what it would say; gives the exit code. */
static int rehearse(const struct options *options, const struct job *job,
		    const struct job_source *source, struct err *err)
{
	struct text faults CLEANUP(text_done) = {0}, told CLEANUP(text_done) = {0};
	struct connection connection CLEANUP(disconnect) = {0};
	int rc = connect_to(options, &connection, err);

	if (rc == 0)
		rc = rehearsal_kube_run(connection.loop, connection.api, job, source->travel.files,
					source->travel.n_files, &source->secret, &faults, err);
	if (rc < 0)
		return cluster_fail(err);
	pod_place_add(source->pod_files, source->n_pod_files, text_of(&faults), &told);
	output_complain(&told);
	if (faults.len)
		return EXIT_WRONG_USE;
	output_say("the cluster would take all of job %s", job->name);
	return EXIT_DONE;
}

/* What making a job and attaching to one have in common; all is borrowed. */
static struct supervision_kube_request request_of(const struct options *options, const char *words,
						  const char *place, const char *state_folder)
{
	return (struct supervision_kube_request){
		.base = {.job_words = words,
			 .state_folder = state_folder,
			 .is_detached = option_flag(options, "detach"),
			 .is_quiet = option_flag(options, "quiet"),
			 .color = option_text(options, "color")},
		.place = place,
		.log_in = cluster_log_in,
		.data = (void *) options,
	};
}

int run_on_cluster(const struct options *options, const struct job_source *source,
		   const struct listening *metrics)
{
	struct kube_config *config CLEANUP(kube_config_cleanup) = NULL;
	struct job *job CLEANUP(job_cleanup) = NULL;
	char *folder CLEANUP(mem_free_text) = NULL;
	struct err err = {0};
	int exit_code;

	if (cluster_read_config(options, &config, &err) ||
	    cluster_place_job(config, source->job, &job, &err) ||
	    lookup_state_folder(options, &folder, &err))
		return cluster_fail(&err);
	cluster_warn(config);
	if (option_flag(options, "dry-run"))
		return rehearse(options, job, source, &err);
	char *words CLEANUP(mem_free_text) = lookup_words(options, job->name_space, job->name);
	char *place CLEANUP(mem_free_text) = cluster_write_place(options, config, job->name_space);
	struct supervision_kube_request request = request_of(options, words, place, folder);

	request.job = job;
	request.files = source->travel.files;
	request.n_files = source->travel.n_files;
	request.secret = &source->secret;
	request.pod_files = source->pod_files;
	request.n_pod_files = source->n_pod_files;
	request.fetch_places = (const char *const *) source->fetch_places.list;
	request.n_fetch_places = source->fetch_places.count;
	request.replaces_finished = option_flag(options, "replace");
	request.base.prints_json = option_text(options, "output") != NULL;
	request.base.metrics = metrics;
	if (supervision_kube_run(&request, &exit_code, &err))
		return cluster_fail(&err);
	return request.base.is_detached ? detached_tell(options, job->name_space, job->name)
					: exit_code;
}

int attach_on_cluster(const struct options *options, const char *namespace_name, const char *name)
{
	struct kube_config *config CLEANUP(kube_config_cleanup) = NULL;
	char *folder CLEANUP(mem_free_text) = NULL;
	struct err err = {0};
	int exit_code;

	if (lookup_state_folder(options, &folder, &err) ||
	    cluster_read_config(options, &config, &err))
		return attach_fail(&err);
	char *words CLEANUP(mem_free_text) = lookup_words(options, namespace_name, name);
	char *place CLEANUP(mem_free_text) = cluster_write_place(options, config, namespace_name);
	struct supervision_kube_request request = request_of(options, words, place, folder);

	request.attach_to = name;
	request.namespace_name = namespace_name;
	request.trusts = option_flag(options, "trust");
	if (supervision_kube_run(&request, &exit_code, &err))
		return attach_fail(&err);
	if (request.base.is_detached)
		output_say("job '%s' is supervised in the background now", name);
	return exit_code;
}
