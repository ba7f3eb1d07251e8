/* Reads the job of a command line.
 *
 * Options and files both become a TFJob document, which job_read makes a job of. Options given with
 * a file change the document that was read, in its normalized form. */
#include "cli/job_source.h"

#include "base/names.h"
#include "cli/local_jobs.h"
#include "cli/program.h"
#include "command/output.h"
#include "io/git_commit.h"
#include "kube/objects.h"
#include "spec/job_build.h"
#include "spec/pod_template.h"

const char *job_source_name(const struct options *options)
{
	const char *file = job_documents_name(options);

	return file ? file : "the command line";
}

void job_source_print_errors(const struct options *options, const struct faults *faults)
{
	struct text sentences CLEANUP(text_done) = {0};

	if (option_text(options, "file")) {
		job_documents_print_errors(options, faults);
		return;
	}
	/* A user of options does not know the document and its fields. Several roles may have the
	 * same fault. */
	for (size_t i = 0; i < faults->count; i++) {
		size_t len = sentences.len;

		text_add_line_once(&sentences, "%s", faults->list[i].sentence);
		if (sentences.len > len)
			output_print_message("%s", faults->list[i].sentence);
	}
}

bool job_source_fits_cluster(const struct job_source *source)
{
	struct faults faults CLEANUP(faults_done) = {0};

	if (objects_check(source->job, &faults))
		return true;
	job_source_print_errors(source->options, &faults);
	return false;
}

/* Makes the job of a document; its faults are printed. */
static bool make_job_of_document(const struct job_source *source, const struct json *root,
				 const struct document *document, struct job **ret_job)
{
	struct faults faults CLEANUP(faults_done) = {0};

	if (!job_read(root, document, JOB_STRICT, &faults, ret_job))
		return true;
	job_source_print_errors(source->options, &faults);
	return false;
}

static void check_words(struct job_source *source)
{
	const char *name = option_text(source->options, "name");
	const char *signal = option_text(source->options, "stop-signal");
	struct err err;
	int number;

	if (name && source->is_for_this_machine) {
		if (!*name || !name_is_label_value(name))
			text_addf(&source->faults,
				  "--name: '%s' is not a valid job name (expected letters, digits, "
				  "'-', '_' and '.', a letter or digit first and last, at most %d "
				  "characters)\n",
				  name, DNS_LABEL_MAX);
	} else if (name && !name_is_dns1035_label(name)) {
		char *better CLEANUP(mem_free_text) = name_to_dns1035(name, DNS_LABEL_MAX, "job");

		text_addf(&source->faults,
			  "--name: '%s' is not a valid job name for a cluster (expected lower-case "
			  "letters, digits and '-', a letter first, at most %d characters); try "
			  "'%s'\n",
			  name, DNS_LABEL_MAX, better);
	}
	if (signal && stop_signal_read(signal, &number, &err) < 0)
		text_addf(&source->faults, "--stop-signal: %s\n", err.text);
}

static void read_counts(struct job_source *source, struct job_build *build)
{
	const struct options *options = source->options;

	build->workers = (int) option_number(options, "workers", 1);
	build->ps = (int) option_number(options, "ps", 0);
	build->has_chief = option_flag(options, "chief");
	build->has_evaluator = option_flag(options, "evaluator");
	build->ps_are_servers = option_flag(options, "ps-server");
	build->workers_are_servers = option_flag(options, "worker-server");
	if (!build->workers && !build->has_chief)
		text_add(&source->faults, "--workers 0: no replica would train; add --chief\n");
	if (option_duration(options, "timeout", -1) == 0)
		text_add(&source->faults, "--timeout 0: the job would fail at once\n");
	if (build->workers_are_servers && !build->has_chief)
		text_add(&source->faults,
			 "--worker-server: no replica would run the script; add --chief\n");
	if (build->ps_are_servers && !build->ps)
		text_add(&source->faults, "--ps-server: needs parameter servers; add --ps N\n");
}

static void check_for_place(struct job_source *source)
{
	const struct options *options = source->options;

	if (source->is_for_kubernetes &&
	    text_equals(option_text(options, "gpu"), JOB_GPUS_ALL_WORD))
		text_add(&source->faults, "--gpu all: not available with --on kubernetes; give the "
					  "number of GPUs per Pod\n");
	if (!source->is_for_kubernetes && option_text(options, "sync"))
		text_add(&source->faults,
			 "--sync: needs --on kubernetes (a local job already has the directory)\n");
	if (!source->is_for_kubernetes && option_is_given(options, "fetch"))
		text_add(&source->faults,
			 "--fetch: needs --on kubernetes (a local job already has the files)\n");
}

/* The script, whatever starts it (`python x.py`, `uv run x.py`), else the program. */
static const char *name_giver(const char *const *arguments)
{
	for (size_t i = 0; arguments[i]; i++)
		if ((text_ends_with(arguments[i], ".py") || text_ends_with(arguments[i], ".sh")) &&
		    !strchr(arguments[i], ' '))
			return arguments[i];
	return arguments[0] ? arguments[0] : "";
}

/* As the option says, else of the script or program. */
static char *choose_name(const struct options *options)
{
	const char *name = option_text(options, "name");
	bool is_module = option_flag(options, "module");
	const char *const *arguments = options_arguments(options);
	const char *giver = is_module && arguments[0] ? arguments[0] : name_giver(arguments);
	const char *last = strrchr(giver, is_module ? '.' : '/');

	return name ? mem_copy_text(name)
		    : job_name_choose(options, last && last[1] ? last + 1 : giver);
}

/* A job is a JSON document: another character set would reach the program as question marks. */
static void check_characters(const char *const *command, struct text *faults)
{
	struct text shown CLEANUP(text_done) = {0};

	while (*command && text_is_utf8(*command, strlen(*command)))
		command++;
	if (!*command)
		return;
	text_add_as_utf8(&shown, *command, strlen(*command));
	text_addf(faults, "argument '%s': not valid UTF-8 (a job can only contain UTF-8 text)\n",
		  text_of(&shown));
}

/* Adds the fields of a job for Pods: its files, an image. Without one, a script runs in
 * TensorFlow's. */
static void add_pods(struct job_source *source, struct json *root)
{
	const char *gpu = option_text(source->options, "gpu");
	bool has_gpu = gpu && !text_equals(gpu, "none");
	struct err err;

	if (source->is_for_kubernetes)
		source->pods.build.default_image = has_gpu ? "tensorflow/tensorflow:latest-gpu"
							   : "tensorflow/tensorflow:latest";
	job_document_add_pods(root, &source->pods.build, &source->faults);
	if (!source->program.n_files)
		return;
	if (job_document_add_files(root, source->program.files, source->program.n_files, &err))
		text_addf(&source->faults, "%s\n", err.text);
	else if (source->program.is_folder)
		job_document_add_unpacking(root);
}

/* Moves them to the Secret: none is left for the document. */
static void hide_variables(struct job_source *source, const char *job_name)
{
	struct variables *variables = &source->variables;
	char *name CLEANUP(mem_free_text) = job_secret_name(job_name);

	if (!source->hides_variables || variables->count == 0)
		return;
	job_secret_init(&source->secret, name, variables->list, variables->count);
	variables->count = 0;
}

/* An option that is not given leaves the written value. */
static const struct network_flag {
	const char *option;
	bool is_written_when; /* it has this value; for the other value nothing is written */
	const char *annotation, *value;
} network_flags[] = {
	{"private-network", true, JOB_ANNOTATION_PRIVATE_NETWORK, "true"},
	{"network-policy", false, JOB_ANNOTATION_NETWORK_POLICY, JOB_NETWORK_POLICY_NONE},
};

static void set_network(const struct options *options, struct json *root)
{
	struct json *metadata = json_object_at(root, "metadata");
	struct json *annotations = json_object_at(metadata, "annotations");

	for (size_t i = 0; i < ARRAY_LEN(network_flags); i++) {
		const struct network_flag *flag = &network_flags[i];

		if (!option_is_given(options, flag->option))
			continue;
		if (option_flag(options, flag->option) == flag->is_written_when)
			json_set_string(annotations, flag->annotation, flag->value);
		else
			json_remove(annotations, flag->annotation);
	}
	if (json_count(annotations) == 0)
		json_remove(metadata, "annotations");
}

/* What the job waits for on this machine, and how it runs. An option that is not given leaves the
 * written value. */
static void set_run_annotations(const struct job_source *source, struct json *root)
{
	struct json *metadata = json_object_at(root, "metadata");
	struct json *annotations = json_object_at(metadata, "annotations");
	char *nice CLEANUP(mem_free_text) =
		mem_format("%d", (int) option_number(source->options, "nice", 0));

	if (option_is_given(source->options, "nice"))
		json_set_string(annotations, JOB_ANNOTATION_NICE, nice);
	if (source->is_for_this_machine && option_flag(source->options, "wait-for-gpu"))
		json_set_string(annotations, JOB_ANNOTATION_WAIT_FOR_GPU, "true");
	if (source->after)
		json_set_string(annotations, JOB_ANNOTATION_AFTER, source->after);
	if (source->after_any)
		json_set_string(annotations, JOB_ANNOTATION_AFTER_ANY, source->after_any);
	if (json_count(annotations) == 0)
		json_remove(metadata, "annotations");
}

/* As a script of PyTorch expects it from torchrun: its processes choose a GPU by LOCAL_RANK, and
 * those that survive a failure may save. */
static void adapt_to_framework(const struct job_source *source, const char *const *command,
			       struct json *root)
{
	bool is_for_torch = program_is_for_torch(command);
	const char *gpus =
		source->is_for_this_machine ? option_text(source->options, "visible-gpus") : NULL;
	struct json *annotations = json_object_at(json_object_at(root, "metadata"), "annotations");

	if (gpus || is_for_torch)
		json_set_string(annotations, JOB_ANNOTATION_VISIBLE_GPUS,
				gpus ? gpus : JOB_VISIBLE_GPUS_OF_JOB);
	if (is_for_torch)
		json_set_string(annotations, JOB_ANNOTATION_GRACE_AFTER_FAILURE,
				JOB_GRACE_AFTER_FAILURE_WHOLE);
}

/* On this machine, --name may be one that no object of a cluster could have. */
static void set_name(const struct job_source *source, struct json *metadata, const char *name)
{
	json_set_string(metadata, "name", name);
	if (source->is_for_this_machine && !name_is_dns1035_label(name))
		json_set_string(json_object_at(metadata, "annotations"), JOB_ANNOTATION_LOCAL_NAME,
				"true");
}

static void set_commit(const struct job_source *source, struct json *metadata)
{
	char *commit CLEANUP(mem_free_text) =
		source->is_for_this_machine ? git_commit_here() : NULL;

	if (commit)
		json_set_string(json_object_at(metadata, "annotations"), JOB_ANNOTATION_COMMIT,
				commit);
	else
		json_remove(json_get(metadata, "annotations"), JOB_ANNOTATION_COMMIT);
}

/* Makes the document of the options and reads it as any other. */
static bool read_command(struct job_source *source, const struct job_build *build)
{
	struct json *root CLEANUP(json_cleanup) = job_document_new(build);

	set_network(source->options, root);
	set_name(source, json_get(root, "metadata"), build->name);
	set_commit(source, json_get(root, "metadata"));
	if (!source->is_for_kubernetes)
		adapt_to_framework(source, build->command, root);
	set_run_annotations(source, root);
	job_document_add_secret(root, &source->secret);
	add_pods(source, root);
	fetch_options_add(source->options, root, &source->fetch_places, &source->faults);
	return !source->faults.len && make_job_of_document(source, root, NULL, &source->job);
}

/* Into the source for Pods, else into `program`. */
static int find_program(struct job_source *source, struct found_program *program, struct err *err)
{
	const struct options *options = source->options;
	bool is_module = option_flag(options, "module");
	bool is_program = options_had_separator(options);

	source->program.is_module = is_module;
	return source->is_for_kubernetes
		       ? pod_files_find(options_arguments(options), is_program,
					option_text(options, "sync"), source->pack_folder,
					&source->program, err)
		       : program_find(options_arguments(options), is_module, is_program, program,
				      err);
}

static bool read_flags(struct job_source *source)
{
	/* None if it cannot be found, so that errors in other options are reported all the same. */
	static const char *const nothing[] = {NULL};
	const struct options *options = source->options;
	struct found_program program CLEANUP(found_program_done) = {0};
	char *name CLEANUP(mem_free_text) = choose_name(options);
	struct job_build build = {
		.name = name,
		.max_restarts = (int) option_number(options, "max-restarts", 0),
		.restart_scope = option_text(options, "restart-scope"),
		.timeout = option_duration(options, "timeout", -1),
		.grace = option_duration(options, "grace", -1),
		.stop_signal = option_text(options, "stop-signal"),
		.command = nothing,
	};
	struct err err;

	job_documents_refuse_values(options, "-f with a Template, whose parameter it sets",
				    &source->faults);
	if (find_program(source, &program, &err) < 0)
		text_addf(&source->faults, "%s\n", err.text);
	else
		build.command =
			source->is_for_kubernetes ? source->program.command : program.command;
	read_counts(source, &build);
	check_characters(build.command, &source->faults);
	hide_variables(source, name);
	build.env = source->variables.list;
	build.n_env = source->variables.count;
	return read_command(source, &build);
}

/* Rejects options for values that a file sets itself. */
static void check_no_contradiction(struct job_source *source)
{
	static const char *const names[] = {"workers",   "ps",        "chief",
					    "evaluator", "ps-server", "worker-server"};
	const struct options *options = source->options;
	const char *argument = options_arguments(options)[0];

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (option_is_given(options, names[i]))
			text_addf(&source->faults,
				  "--%s: cannot be used with -f; set the replicas in the file\n",
				  names[i]);
	if (option_text(options, "sync"))
		text_add(&source->faults,
			 "--sync: cannot be used with -f; set the volumes in the file\n");
	if (argument || option_flag(options, "module"))
		text_addf(&source->faults,
			  "'%s': cannot be used with -f; set the command in the file\n",
			  argument ? argument : "--module");
}

/* Makes a written document a new job: sets --name, or a name from metadata.generateName, and
 * removes what belongs to an earlier run (status, uid, a stop request). So the output of `status -o
 * json` can be run again. */
static void override_identity(const struct job_source *source, struct json *root)
{
	struct json *metadata = json_get(root, "metadata");
	const char *name = option_text(source->options, "name");

	if (json_is(root, JSON_OBJECT) && name && !metadata)
		metadata = json_object_at(root, "metadata");
	if (!json_is(metadata, JSON_OBJECT))
		return;
	json_remove(root, "status");
	json_remove(metadata, "uid");
	json_remove(metadata, "resourceVersion");
	json_remove(metadata, "creationTimestamp");
	json_remove(json_get(metadata, "annotations"), JOB_ANNOTATION_STOP);
	json_remove(json_get(metadata, "annotations"), JOB_ANNOTATION_STOP_GRACE);
	set_commit(source, metadata);

	const char *beginning = json_get_string(metadata, "generateName", NULL);

	if (name) {
		set_name(source, metadata, name);
	} else if (beginning && !json_get(metadata, "name")) {
		char *generated CLEANUP(mem_free_text) = job_name_generate(beginning);

		json_set_string(metadata, "name", generated);
	}
}

/* Whether an option changes more than the name. */
static bool is_override_needed(const struct job_source *source)
{
	static const char *const names[] = {"max-restarts",    "restart-scope",  "timeout",
					    "grace",           "stop-signal",    "fetch",
					    "private-network", "network-policy", "nice"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (option_is_given(source->options, names[i]))
			return true;
	if (source->is_for_this_machine && option_flag(source->options, "wait-for-gpu"))
		return true;
	if (source->after || source->after_any)
		return true;
	return source->variables.count > 0 || !pod_build_is_empty(&source->pods.build);
}

static void override_policy(const struct options *options, struct json *policy)
{
	int64_t max_restarts = option_number(options, "max-restarts", 0);

	if (option_is_given(options, "max-restarts") && max_restarts >= 0)
		json_set_integer(policy, "backoffLimit", max_restarts);
	else if (option_is_given(options, "max-restarts"))
		json_remove(policy, "backoffLimit");
	json_set_string(policy, "restartScope", option_text(options, "restart-scope"));
	if (option_is_given(options, "timeout"))
		json_set_integer(policy, "activeDeadlineSeconds",
				 msec_to_whole_seconds(option_duration(options, "timeout", 0)));
	if (option_is_given(options, "grace"))
		json_set_integer(policy, "gracePeriodSeconds",
				 msec_to_whole_seconds(option_duration(options, "grace", 0)));
	json_set_string(policy, "stopSignal", option_text(options, "stop-signal"));
}

/* --env and --env-file are added to the training container, after its own variables. With
 * --max-restarts, roles whose policy is never to restart are restarted on failure. */
static void override_roles(const struct options *options, const struct variables *variables,
			   struct json *spec)
{
	const struct json *roles = json_get(spec, "tfReplicaSpecs");
	const char *title = NULL;
	struct json *role;

	while (json_next(roles, &title, &role)) {
		const char *never = restart_policy_words[RESTART_NEVER];

		if (option_number(options, "max-restarts", 0) != 0 &&
		    text_equals(json_get_string(role, "restartPolicy", never), never))
			json_set_string(role, "restartPolicy",
					restart_policy_words[RESTART_ON_FAILURE]);
		job_document_add_env(pod_template_container(json_get(role, "template")),
				     variables->list, variables->count);
	}
}

/* Changes the job of a file by the options given with it. */
static bool override(struct job_source *source)
{
	const struct options *options = source->options;
	struct job *job CLEANUP(job_cleanup) = NULL;

	if (!is_override_needed(source))
		return true;
	struct json *changed CLEANUP(json_cleanup) = json_new_copy(source->job->document);
	struct json *spec = json_object_at(changed, "spec");

	hide_variables(source, source->job->name);
	override_policy(options, json_object_at(spec, "runPolicy"));
	override_roles(options, &source->variables, spec);
	set_network(options, changed);
	set_run_annotations(source, changed);
	job_document_add_secret(changed, &source->secret);
	job_document_add_pods(changed, &source->pods.build, &source->faults);
	fetch_options_add(options, changed, &source->fetch_places, &source->faults);
	if (source->faults.len || !make_job_of_document(source, changed, NULL, &job))
		return false;
	job_free(source->job);
	source->job = TAKE(job);
	return true;
}

static void add_pod_file(struct job_source *source, const char *name,
			 const struct document *document)
{
	source->pod_files[source->n_pod_files++] = (struct pod_file){name, document};
}

/* One TFJob of a file, as the options change it. */
static bool read_job_of_file(struct job_source *source, const struct document *document)
{
	struct json *root CLEANUP(json_cleanup) = json_new_copy(document_root(document));

	override_identity(source, root);
	if (!make_job_of_document(source, root, document, &source->job))
		return false;
	if (source->job->changes)
		output_print_message("%s: job '%s' has an older version and was converted to "
				     "kubeflow.org/v1: %s",
				     job_source_name(source->options), source->job->name,
				     source->job->changes);
	return override(source);
}

/* Every TFJob of a file; the file's other documents stay unchanged. */
static bool read_all_file_jobs(struct job_source *source)
{
	const struct job_documents *documents = &source->documents;
	size_t n_jobs = job_documents_count_jobs(documents);
	bool is_good = true;

	if (n_jobs > 1 && option_text(source->options, "name"))
		text_addf(&source->faults, "--name: needs a single TFJob; %s has %zu\n",
			  job_source_name(source->options), n_jobs);
	else if (n_jobs == 0 && !documents->template)
		(void) job_documents_choose(documents, &source->faults);
	if (source->faults.len)
		return false;
	source->objects = json_new_array();
	for (size_t i = 0; i < documents->count; i++) {
		const struct json *object = document_root(documents->list[i]);

		job_free(source->job);
		source->job = NULL;
		if (job_documents_is_job(documents, i) &&
		    !read_job_of_file(source, documents->list[i]))
			is_good = false;
		json_append(source->objects,
			    json_new_copy(source->job ? source->job->document : object));
	}
	return is_good;
}

static bool read_job_file(struct job_source *source)
{
	check_no_contradiction(source);
	source->documents.options = source->options;
	if (!job_documents_open(&source->documents, &source->faults) ||
	    !job_documents_make(&source->documents, &source->faults))
		return false;
	if (source->takes_all)
		return read_all_file_jobs(source);
	const struct document *document = job_documents_choose(&source->documents, &source->faults);

	if (!document)
		return false;
	add_pod_file(source, job_source_name(source->options), document);
	return read_job_of_file(source, document);
}

void job_source_done(struct job_source *source)
{
	job_free(source->job);
	pod_files_done(&source->program);
	job_secret_done(&source->secret);
	fetch_places_done(&source->fetch_places);
	job_documents_done(&source->documents);
	json_free(source->objects);
	pod_options_done(&source->pods);
	variables_done(&source->variables);
	text_done(&source->faults);
}

bool job_source_read(struct job_source *source)
{
	const struct options *options = source->options;

	check_for_place(source);
	check_words(source);
	variables_read(options, &source->variables, &source->faults);
	bool has_pods = pod_options_read(options, &source->pods, &source->faults);

	source->pods.build.limits_cpu = source->is_for_this_machine;
	if (has_pods && source->pods.n_documents)
		add_pod_file(source, option_text(options, "pod-template"),
			     source->pods.documents[0]);
	bool is_read = option_text(options, "file") ? read_job_file(source) : read_flags(source);

	/* Faults of a document were printed in full, and leave no sentence in `faults`. */
	output_print_messages(&source->faults);
	if (!is_read || source->faults.len)
		return false;
	if (!source->is_for_kubernetes || !source->job)
		return true;
	if (source->job->has_private_network) {
		output_print_message("--private-network: not available with --on kubernetes; "
				     "there, a NetworkPolicy admits only the job's own Pods");
		return false;
	}
	/* Kubelet sends the signal, and takes it from the image. */
	if (source->job->stop_signal)
		output_print_message("stopSignal: ignored on a cluster (kubelet sends the "
				     "STOPSIGNAL of the image, or SIGTERM)");
	return true;
}
