/* muster run: makes a job from a script, a program or a file, and supervises it, on this machine or
 * on a cluster. */
#include "base/mem.h"
#include "cli/cluster_support.h"
#include "cli/commands.h"
#include "cli/job_source.h"
#include "cli/kube_cluster.h"
#include "cli/kubernetes_program.h"
#include "cli/local_jobs.h"
#include "cli/lookup.h"
#include "cli/pod_options.h"
#include "cli/run_here.h"
#include "local/backend.h"
#include "local/machine_gpus.h"

static bool is_on_kubernetes(const struct options *options)
{
	return text_equals(option_text(options, "on"), "kubernetes");
}

/* Options that select a cluster are rejected for a local job. */
static bool options_select_cluster(const struct options *options)
{
	static const char *const names[] = {"namespace", "context", "kubeconfig"};
	bool is_any = false;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (option_text(options, names[i])) {
			output_print_message("--%s: needs --on kubernetes", names[i]);
			is_any = true;
		}
	return is_any;
}

/* False when jobs cannot run at the given place. */
static bool is_place_known(const struct options *options)
{
	bool is_on_cluster = is_on_kubernetes(options);

	if (!is_on_cluster && text_equals(option_text(options, "dry-run"), "server"))
		output_print_message("--dry-run=server: needs --on kubernetes");
	else if (!is_on_cluster && option_is_given(options, "via"))
		output_print_message("--via: needs --on kubernetes");
	else if (option_flag(options, "rm") && option_flag(options, "detach"))
		output_print_message("--rm: cannot be used with --detach");
	else if (is_on_cluster && option_text(options, "stdin"))
		output_print_message("--stdin: not available with --on kubernetes");
	else if (is_on_cluster && option_flag(options, "tty"))
		output_print_message("--tty: not available with --on kubernetes");
	else if (is_on_cluster && option_flag(options, "wait-for-gpu"))
		output_print_message("--wait-for-gpu: not needed with --on kubernetes: Pods wait "
				     "for GPUs by themselves");
	else if (is_on_cluster &&
		 (option_is_given(options, "after") || option_is_given(options, "after-any")))
		output_print_message("--after: not available with --on kubernetes: muster wait JOB "
				     "&& muster run ...");
	else if (is_on_cluster && option_flag(options, "separate-stderr"))
		output_print_message("--separate-stderr: not available with --on kubernetes, which "
				     "keeps both streams of a container together");
	else if (is_on_cluster && option_text(options, "visible-gpus"))
		output_print_message(
			"--visible-gpus: not available with --on kubernetes, where each "
			"Pod has its own GPUs");
	else if (text_equals(option_text(options, "via"), "operator") &&
		 option_flag(options, "detach") && option_text(options, "output-dir"))
		output_print_message(
			"--output-dir: cannot be used with --via operator and --detach");
	else
		return is_on_cluster || !options_select_cluster(options);
	return false;
}

/* A variable that the job sets itself overrides muster's; one left in a file from another
 * environment is not meant to. */
static void warn_of_own_identity(const struct job *job)
{
	struct text names CLEANUP(text_done) = {0};

	job_describe_own_identity(job, &names);
	if (names.len)
		output_print_message(
			"warning: the job sets %s itself, which overrides muster's: its "
			"replicas all get the same value, and none learns which one it is",
			text_of(&names));
	if (job_nests_torchrun(job))
		output_print_message(
			"warning: torchrun starts processes of its own, so each replica trains "
			"alone: run the script itself ('muster run -w 2 train.py'), or use "
			"'muster launch', which has torchrun's options");
}

/* "would start worker-0 to worker-3: python3 -u train.py" for each role. */
static void print_planned_starts(const struct job *job)
{
	for (size_t i = 0; i < job->n_roles; i++) {
		const struct role *role = &job->roles[i];
		struct text command CLEANUP(text_done) = {0};

		if (role->replicas == 0)
			continue;
		role_describe_command(role, SIZE_MAX, &command);
		if (role->replicas == 1)
			output_print_message("would start %s-0: %s", role->name, text_of(&command));
		else
			output_print_message("would start %s-0 to %s-%d: %s", role->name,
					     role->name, role->replicas - 1, text_of(&command));
	}
}

static int supervise_run_here(const struct options *options, struct job *job,
			      const struct gpus *gpus, const struct listening *metrics)
{
	struct err err = {0};
	char *folder CLEANUP(mem_free_text) = local_jobs_folder(options);
	struct text told CLEANUP(text_done) = {0};

	/* A background job's messages about its GPUs are not visible, so this check is made
	 * first. */
	if (machine_gpus_check_free(gpus, job, folder, &told, &err))
		return output_fail_with(EXIT_INTERNAL, "%s", err.text);
	if (told.len && option_flag(options, "detach"))
		output_print_message("%s", text_of(&told));
	const struct supervisor_request request = {
		.base = {.metrics = metrics}, .job = job, .gpus = gpus};

	int exit_code = run_here(options, folder, &request);

	return run_remove_finished(options, NULL, job->name, exit_code);
}

/* The socket is opened before the job. So an address in use is reported before anything was
 * started, and on the terminal also for a job in the background. */
static int run_with_metrics(const struct options *options, struct job_source *source,
			    const struct gpus *gpus)
{
	struct listening listening CLEANUP(listening_done) = {.fd = -1};
	const char *address = option_text(options, "metrics-listen");
	struct err err = {0};

	bool has_metrics = address && !option_flag(options, "dry-run");

	if (has_metrics && listening_open(address, &listening, &err) < 0) {
		output_print_message("--metrics-listen: %s", err.text);
		return err.code == ERR_INVALID ? EXIT_USAGE : EXIT_INTERNAL;
	}
	if (has_metrics)
		output_print_message("metrics of job '%s': %s%s", source->job->name,
				     listening.path ? "" : "http://", listening.address);
	const struct listening *metrics = has_metrics ? &listening : NULL;
	int exit_code;

	if (is_on_kubernetes(options)) {
		exit_code = cluster_support->run(options, source, metrics);
	} else {
		run_limit_here(source->job, option_flag(options, "detach"));
		exit_code = supervise_run_here(options, source->job, gpus, metrics);
	}

	if (has_metrics && exit_code != EXIT_DONE)
		listening_remove(&listening);
	return exit_code;
}

/* The full name of a job of this machine, for which the beginning is enough. */
static bool add_awaited_job(struct lookup *lookup, const char *option, const char *word,
			    struct text *names)
{
	char *argument CLEANUP(mem_free_text) =
		mem_format("%s%s", strchr(word, '/') ? "" : "local/", word);
	struct found_job job = {0};
	struct err err = {0};
	bool is_found = lookup_job(lookup, argument, &job, &err) == 0 && !job.namespace_name;

	if (is_found)
		text_addf(names, "%s%s", names->len ? "," : "", job.name);
	else if (job.name)
		output_print_message("--%s: job '%s' is not on this machine", option, word);
	else
		output_print_message("--%s: %s", option, err.text);
	return is_found;
}

/* Those of --after and --after-any: *ret_names is NULL without the option. */
static bool find_awaited_jobs(const struct options *options, const char *option,
			      struct arena *arena, const char **ret_names)
{
	size_t count;
	const char *const *values = option_list(options, option, &count);
	struct lookup *lookup CLEANUP(lookup_cleanup) = count ? lookup_new(options) : NULL;
	struct text names CLEANUP(text_done) = {0};
	bool are_found = true;

	for (size_t i = 0; i < count; i++) {
		char *words CLEANUP(mem_free_text) = mem_copy_text(values[i]);
		char *rest = words;

		for (char *word; (word = strsep(&rest, ","));)
			are_found &= add_awaited_job(lookup, option, word, &names);
	}
	if (count > 0)
		*ret_names = arena_copy_text(arena, text_of(&names));
	return are_found;
}

static int run_run(const struct options *options)
{
	bool is_on_cluster = is_on_kubernetes(options);
	const char *format = option_text(options, "output");
	bool is_printed = option_flag(options, "dry-run") &&
			  !text_equals(option_text(options, "dry-run"), "server");
	struct job_source source CLEANUP(job_source_done) = {
		.options = options,
		.is_for_kubernetes = is_on_cluster,
		.is_for_this_machine = !is_on_cluster,
		.hides_variables = is_on_cluster && !is_printed,
		.pack_folder = cluster_support ? cluster_support->pack_folder : NULL,
	};
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct faults faults CLEANUP(faults_done) = {0};
	struct text ignored CLEANUP(text_done) = {0};
	struct gpus gpus = {0};

	if (!is_place_known(options))
		return EXIT_USAGE;
	if (is_on_cluster && !cluster_support) {
		(void) exec_kubernetes_program(options);
		return EXIT_INTERNAL; /* there is no other program */
	}
	if (!find_awaited_jobs(options, "after", arena, &source.after) ||
	    !find_awaited_jobs(options, "after-any", arena, &source.after_any) ||
	    !job_source_read(&source))
		return EXIT_USAGE;
	if (!is_on_cluster)
		machine_gpus_find(getenv(GPUS_VARIABLE), arena, &gpus);
	if (is_on_cluster ? !job_source_fits_cluster(&source)
			  : backend_local_check(source.job, &gpus, &faults) != 0) {
		job_source_print_errors(options, &faults);
		return EXIT_USAGE;
	}
	if (gpus.fault)
		output_print_message("%s", gpus.fault);
	if ((source.after || source.after_any) && gpus.count > 0 &&
	    gpu_assignment_count(source.job, &gpus) == 0 && !option_is_given(options, "gpu"))
		output_print_message("the job gets the GPUs that are free when it starts, perhaps "
				     "none; to wait for GPUs, too: --wait-for-gpu");
	if (!is_on_cluster)
		job_describe_ignored_here(source.job, &ignored);
	if (ignored.len)
		output_print_message("ignored on this machine: %s", text_of(&ignored));
	warn_of_own_identity(source.job);
	if (is_printed) {
		output_add_object(source.job->document, format ? format : "yaml");
		output_flush();
		print_planned_starts(source.job);
		return EXIT_DONE;
	}
	return run_with_metrics(options, &source, &gpus);
}

static const struct option_row rows_of_run[] = {
	JOB_SOURCE_ROWS,
	WORDS("on", "local|kubernetes", "local", "where to run the job", .group = OPTIONS_OF_JOB,
	      .has_variable = true),
	WORDS("via", "muster|operator", "muster",
	      "what supervises the job: this command, or the cluster's TFJob operator",
	      .group = OPTIONS_OF_KUBERNETES, .has_variable = true),
	FLAG("detach", "print the job's name and run the job in the background", .letter = 'd',
	     .group = OPTIONS_OF_JOB),
	FLAG("replace", "replace a finished job of the same name", .group = OPTIONS_OF_JOB),
	FLAG("rm", "delete the record and logs of the job if it succeeds", .group = OPTIONS_OF_JOB),
	FLAG("dry-run",
	     "print the TFJob and what would start, but start nothing; server: let the cluster "
	     "validate every object",
	     .words = "client|server", .group = OPTIONS_OF_JOB),
	WORDS("visible-gpus", "replica|job", NULL,
	      "each process sees its own GPUs, or all of the job's (default: job if the script "
	      "imports torch)",
	      .group = OPTIONS_OF_PROCESSES),
	FLAG("wait-for-gpu", "wait until the job's GPUs are free (default: one for each replica)",
	     .group = OPTIONS_OF_JOB),
	OPTION("after", LIST, "JOB", NULL, "wait until this job of this machine has succeeded",
	       .group = OPTIONS_OF_JOB),
	OPTION("after-any", LIST, "JOB", NULL, "wait until this job has ended, however",
	       .group = OPTIONS_OF_JOB),
	OPTION("metrics-listen", TEXT, "ADDRESS", NULL,
	       "serve /metrics and /healthz at HOST:PORT, :PORT or unix:PATH",
	       .group = OPTIONS_OF_JOB),
	RUN_OUTPUT_ROWS,
	POD_ROWS,
	CLUSTER_ROWS,
	{0},
};

const struct command command_run = {
	.name = "run",
	.group = "Run",
	.arguments = "[OPTIONS] SCRIPT.py [ARGS...], or -m MODULE [ARGS...]\n"
		     "[OPTIONS] -- PROGRAM [ARGS...]\n"
		     "[OPTIONS] -f job.yaml [-p NAME=VALUE ...]",
	.one_line = "run a training job on this machine or on Kubernetes until it ends",
	.examples = "  muster run -w 2 train.py --epochs 3\n"
		    "  muster run -w 2 --ps 1 --chief --max-restarts 3 train.py\n"
		    "  muster run -w 4 -- sh -c 'echo I am worker $WORKER_NUMBER of $TOT_WORKERS'\n"
		    "  muster run -d -f job.yaml\n"
		    "  muster run -d --wait-for-gpu --gpu 2 train.py\n"
		    "  muster run -f template.yaml -p JOB_NAME=mine -p WORKERS=2\n"
		    "  muster run --on kubernetes -w 2 --image tensorflow/tensorflow train.py\n"
		    "  muster run --on kubernetes -w 2 --sync . models/train.py\n"
		    "  muster run --on kubernetes --fetch worker-0:/models:results train.py\n",
	.options = rows_of_run,
	.takes_program = true,
	.run = run_run,
};
