/* The cluster and the namespace; cluster/supervision.h does the rest. */
#include "cli/cluster_support.h"

#include "base/mem.h"
#include "base/text.h"
#include "cli/kube_cluster.h"
#include "cli/local_jobs.h"
#include "cli/lookup.h"
#include "cli/replica_pod.h"
#include "cli/run_here.h"
#include "cluster/registration.h"
#include "cluster/supervision.h"
#include "command/command.h"
#include "command/output.h"

/* Checks the job on the cluster without creating it; returns the exit code. */
static int rehearse(const struct options *options, const struct job *job,
		    const struct job_source *source, struct err *err)
{
	struct text faults CLEANUP(text_done) = {0}, told CLEANUP(text_done) = {0};
	struct kube_api *api CLEANUP(kube_api_cleanup) = NULL;
	int rc = cluster_connect(options, &api, err);

	if (rc == 0)
		rc = server_dry_run(api, job, source->program.files, source->program.n_files,
				    &source->secret, &faults, err);
	if (rc < 0)
		return kube_cluster_fail(err);
	pod_place_add(source->pod_files, source->n_pod_files, text_of(&faults), &told);
	output_print_errors(&told);
	if (faults.len)
		return EXIT_USAGE;
	output_print_message("dry run: the cluster would accept every object of job %s", job->name);
	return EXIT_DONE;
}

/* The fields that creating a job and attaching to one share; all are borrowed. */
static struct supervision_kube_request supervision_request_of(const struct options *options,
							      const struct console_options *console,
							      const char *words, const char *place,
							      const char *state_folder)
{
	return (struct supervision_kube_request){
		.base = {.job_words = words,
			 .state_folder = state_folder,
			 .is_detached = option_flag(options, "detach"),
			 .style = console->style},
		.place = place,
		.log_in = kube_cluster_log_in,
		.data = (void *) options,
	};
}

/* A job to create, and its place. */
struct making {
	struct kube_config *config;
	struct job *job;
	char *state_folder;
	char *words; /* spec/job.h */
};

static void making_done(struct making *making)
{
	kube_config_free(making->config);
	job_free(making->job);
	free(making->state_folder);
	free(making->words);
}

static int begin_making(const struct options *options, const struct job_source *source,
			struct making *making, struct err *err)
{
	int rc = kube_cluster_read_config(options, &making->config, err);

	if (rc == 0)
		rc = kube_cluster_place_job(making->config, source->job, &making->job, err);
	if (rc < 0)
		return rc;
	making->state_folder = local_jobs_folder(options);
	kube_cluster_warn(making->config);
	making->words = lookup_words(options, making->job->name_space, making->job->name);
	return 0;
}

static int submit(const struct options *options, const struct job_source *source,
		  const struct making *making, struct err *err)
{
	struct kube_api *api CLEANUP(kube_api_cleanup) = NULL;
	struct tfjob_submission submission = {
		.job = making->job,
		.job_words = making->words,
		.files = source->program.files,
		.n_files = source->program.n_files,
		.secret = &source->secret,
		.replaces_finished = option_flag(options, "replace"),
	};
	int rc = 0;

	/* Fetches need Pods that are kept open for them, which no operator does. */
	if (making->job->n_fetches > 0)
		rc = err_set(err, ERR_INVALID,
			     "--fetch: cannot be used with --via operator; let the job write to a "
			     "volume");
	if (rc == 0)
		rc = cluster_connect(options, &api, err);
	submission.api = api;
	return rc < 0 ? rc : tfjob_submit(&submission, err);
}

int submit_to_operator(const struct options *options, const struct job_source *source)
{
	struct making making CLEANUP(making_done) = {0};
	struct err err = {0};

	if (begin_making(options, source, &making, &err) < 0 ||
	    submit(options, source, &making, &err) < 0)
		return kube_cluster_fail(&err);
	return detached_report(options, making.job->name_space, making.job);
}

/* Followed from this process, supervised by the operator. */
static int run_via_operator(const struct options *options, const struct job_source *source,
			    const struct making *making, struct supervision_kube_request *request)
{
	struct err err = {0};
	int exit_code;

	if (submit(options, source, making, &err) < 0)
		return kube_cluster_fail(&err);
	if (request->base.is_detached)
		return detached_report(options, making->job->name_space, making->job);
	request->job = NULL;
	request->attach_to = making->job->name;
	request->namespace_name = making->job->name_space;
	request->is_tfjob = true;
	return supervision_kube_run(request, &exit_code, &err)
		       ? kube_cluster_fail(&err)
		       : run_remove_finished(options, request->namespace_name, request->attach_to,
					     exit_code);
}

int run_on_cluster(const struct options *options, const struct job_source *source,
		   const struct listening *metrics)
{
	struct making making CLEANUP(making_done) = {0};
	struct console_options console CLEANUP(console_options_done) = {0};
	char *copies CLEANUP(mem_free_text) = NULL;
	struct err err = {0};
	int exit_code;

	if (console_options_read(options, source->job, &console, &err) < 0 ||
	    begin_making(options, source, &making, &err) < 0)
		return kube_cluster_fail(&err);
	if (option_flag(options, "dry-run"))
		return rehearse(options, making.job, source, &err);
	if (console_options_prepare_copies(options, making.job, &copies, &err) < 0)
		return kube_cluster_fail(&err);
	char *place CLEANUP(mem_free_text) =
		kube_cluster_write_place(options, making.config, making.job->name_space);
	struct supervision_kube_request request =
		supervision_request_of(options, &console, making.words, place, making.state_folder);

	request.job = making.job;
	request.files = source->program.files;
	request.n_files = source->program.n_files;
	request.secret = &source->secret;
	request.pod_files = source->pod_files;
	request.n_pod_files = source->n_pod_files;
	request.fetch_places = (const char *const *) source->fetch_places.list;
	request.n_fetch_places = source->fetch_places.count;
	request.replaces_finished = option_flag(options, "replace");
	request.base.prints_json = option_text(options, "output") != NULL;
	request.base.metrics = metrics;
	request.base.notify = option_text(options, "notify");
	request.base.copy_pattern = copies;
	if (text_equals(option_text(options, "via"), "operator"))
		return run_via_operator(options, source, &making, &request);
	if (supervision_kube_run(&request, &exit_code, &err))
		return kube_cluster_fail(&err);
	return request.base.is_detached
		       ? detached_report(options, making.job->name_space, making.job)
		       : run_remove_finished(options, making.job->name_space, making.job->name,
					     exit_code);
}

int attach_on_cluster(const struct options *options, const char *namespace_name, const char *name,
		      bool is_tfjob)
{
	struct kube_config *config CLEANUP(kube_config_cleanup) = NULL;
	struct console_options console CLEANUP(console_options_done) = {0};
	char *folder CLEANUP(mem_free_text) = local_jobs_folder(options);
	struct err err = {0};
	int exit_code;

	if (console_options_read(options, NULL, &console, &err) ||
	    kube_cluster_read_config(options, &config, &err))
		return attach_fail(&err);
	char *words CLEANUP(mem_free_text) = lookup_words(options, namespace_name, name);
	char *place CLEANUP(mem_free_text) =
		kube_cluster_write_place(options, config, namespace_name);
	struct supervision_kube_request request =
		supervision_request_of(options, &console, words, place, folder);

	request.attach_to = name;
	request.is_tfjob = is_tfjob;
	request.namespace_name = namespace_name;
	request.trusts = option_flag(options, "trust");
	if (supervision_kube_run(&request, &exit_code, &err))
		return attach_fail(&err);
	if (request.base.is_detached)
		output_print_message("job '%s' is now supervised in the background", name);
	return exit_code;
}
