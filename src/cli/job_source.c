/* Reads the job of a command line.
 *
 * Options and files both become a TFJob document, which job_read makes a job of. Options given with
 * a file change the document that was read, in its normalized form. */
#include "cli/job_source.h"

#include "base/mem.h"
#include "base/names.h"
#include "cli/job_documents.h"
#include "cli/job_name.h"
#include "cli/pod_options.h"
#include "cli/program.h"
#include "command/output.h"
#include "command/variables.h"
#include "spec/job.h"
#include "spec/job_build.h"

#include <stdlib.h>
#include <string.h>

const char *job_source_name(const struct options *options)
{
	const char *file = job_documents_name(options);

	return file ? file : "the command line";
}

/* Whether an earlier fault says the same about another role. */
static bool is_fault_reported(const struct faults *faults, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (text_equals(faults->list[i].sentence, faults->list[index].sentence))
			return true;
	return false;
}

/* A user of options does not know the document and its fields. */
static void complain_of_flags(const struct faults *faults)
{
	for (size_t i = 0; i < faults->count; i++)
		if (!is_fault_reported(faults, i))
			output_print_message("%s", faults->list[i].sentence);
}

void job_source_print_errors(const struct options *options, const struct faults *faults)
{
	if (option_text(options, "file"))
		job_documents_print_errors(options, faults);
	else
		complain_of_flags(faults);
}

/* Makes the job of a document; its faults are printed. */
static bool make_job_of_document(const struct options *options, const struct json *root,
				 const struct document *document, struct job **ret_job)
{
	struct faults faults CLEANUP(faults_done) = {0};

	if (!job_read(root, document, JOB_STRICT, &faults, ret_job))
		return true;
	job_source_print_errors(options, &faults);
	return false;
}

/* Adds an error, which is one sentence, to the others. */
static void add_job_source_fault(struct text *faults, const struct err *err)
{
	text_addf(faults, "%s\n", err->text);
}

static void check_job_name_option(const struct options *options, struct text *faults)
{
	const char *name = option_text(options, "name");

	if (!name || name_is_dns1035_label(name))
		return;
	char *better CLEANUP(mem_free_text) = name_to_dns1035(name, DNS_LABEL_MAX, "job");

	text_addf(faults,
		  "--name: '%s' is not a valid job name (expected lower-case letters, digits and "
		  "'-', a letter first, at most %d characters); try '%s'\n",
		  name, DNS_LABEL_MAX, better);
}

static void check_stop_signal(const struct options *options, struct text *faults)
{
	const char *word = option_text(options, "stop-signal");
	struct err err;
	int number;

	if (word && stop_signal_read(word, &number, &err) < 0)
		text_addf(faults, "--stop-signal: %s\n", err.text);
}

static void set_counts(const struct options *options, struct job_build *build)
{
	build->workers = (int) option_number(options, "workers", 1);
	build->ps = (int) option_number(options, "ps", 0);
	build->has_chief = option_flag(options, "chief");
	build->has_evaluator = option_flag(options, "evaluator");
	build->ps_are_servers = option_flag(options, "ps-server");
	build->workers_are_servers = option_flag(options, "worker-server");
}

static void check_counts(const struct job_build *build, struct text *faults)
{
	if (!build->workers && !build->has_chief)
		text_add(faults, "--workers 0: no replica would train; add --chief\n");
	if (build->workers_are_servers && !build->has_chief)
		text_add(faults, "--worker-server: no replica would run the script; add --chief\n");
	if (build->ps_are_servers && !build->ps)
		text_add(faults, "--ps-server: needs parameter servers; add --ps N\n");
}

static void check_for_place(const struct options *options, const struct job_source *source,
			    struct text *faults)
{
	if (source->is_for_kubernetes) {
		if (text_equals(option_text(options, "gpu"), JOB_GPUS_ALL_WORD))
			text_add(faults, "--gpu all: not available with --on kubernetes; give the "
					 "number of GPUs per Pod\n");
		return;
	}
	if (option_text(options, "sync"))
		text_add(faults,
			 "--sync: needs --on kubernetes (a local job already has the directory)\n");
	if (option_is_given(options, "fetch"))
		text_add(faults,
			 "--fetch: needs --on kubernetes (a local job already has the files)\n");
}

/* The word for the job's name if the user gives none: of the script or program. */
static const char *word_of_command(const struct options *options)
{
	const char *first = options_arguments(options, &(size_t){0})[0];
	char separator = option_flag(options, "module") ? '.' : '/';
	const char *last = first ? strrchr(first, separator) : NULL;

	return last && last[1] ? last + 1 : first ? first : "";
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

/* Without an image, a script runs in TensorFlow's. */
static const char *default_image(const struct options *options)
{
	const char *gpu = option_text(options, "gpu");

	return gpu && !text_equals(gpu, "none") ? "tensorflow/tensorflow:latest-gpu"
						: "tensorflow/tensorflow:latest";
}

/* Adds the fields of a job for Pods: its files, an image. */
static void add_pods(const struct options *options, struct pod_options *pods,
		     const struct job_source *source, struct json *root, struct text *faults)
{
	struct err err;

	if (source->is_for_kubernetes)
		pods->build.default_image = default_image(options);
	job_document_add_pods(root, &pods->build, faults);
	if (!source->program.n_files)
		return;
	if (job_document_add_files(root, source->program.files, source->program.n_files, &err))
		add_job_source_fault(faults, &err);
	else if (source->program.is_folder)
		job_document_add_unpacking(root);
}

/* Moves them to the Secret: none is left for the document. */
static void hide_variables(struct variables *variables, const char *job_name,
			   struct job_source *source)
{
	char *name CLEANUP(mem_free_text) = job_secret_name(job_name);

	if (!source->hides_variables || variables->count == 0)
		return;
	job_secret_init(&source->secret, name, variables->list, variables->count);
	variables->count = 0;
}

/* The files for Pods, and the command in them. */
static bool find_program_pod_files(const struct options *options, struct job_source *source,
				   struct err *err)
{
	struct pod_files *pod_files = &source->program;
	const char *folder = option_text(options, "sync");
	bool is_program = options_had_separator(options);
	size_t count;
	const char *const *arguments = options_arguments(options, &count);

	pod_files->is_module = option_flag(options, "module");
	if (!folder)
		return !pod_files_find(arguments, count, is_program, pod_files, err);
	return !pod_files_find_in_folder(arguments, count, is_program, folder, source->pack_folder,
					 pod_files, err);
}

/* An option that is not given leaves the written value. */
struct network_flag {
	const char *option;
	bool is_written_when; /* it has this value; for the other value nothing is written */
	const char *annotation, *value;
};

static const struct network_flag network_flags[] = {
	{"private-network", true, JOB_ANNOTATION_PRIVATE_NETWORK, "true"},
	{"network-policy", false, JOB_ANNOTATION_NETWORK_POLICY, JOB_NETWORK_POLICY_NONE},
};

static bool is_network_set(const struct options *options)
{
	for (size_t i = 0; i < ARRAY_LEN(network_flags); i++)
		if (option_is_given(options, network_flags[i].option))
			return true;
	return false;
}

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

/* As the option says, else as the framework of the script needs it. */
static void set_visible_gpus(const struct options *options, const char *const *command,
			     struct json *root)
{
	const char *word = option_text(options, "visible-gpus");

	if (!word && program_is_for_torch(command))
		word = JOB_VISIBLE_GPUS_OF_JOB;
	if (word)
		json_set_string(json_object_at(json_object_at(root, "metadata"), "annotations"),
				JOB_ANNOTATION_VISIBLE_GPUS, word);
}

/* Makes the document of the options and reads it as any other. */
static bool read_command(const struct options *options, struct pod_options *pods,
			 const struct job_build *build, struct job_source *source,
			 struct text *faults)
{
	struct json *root CLEANUP(json_cleanup) = job_document_new(build);

	set_network(options, root);
	if (source->is_for_this_machine)
		set_visible_gpus(options, build->command, root);
	job_document_add_secret(root, &source->secret);
	add_pods(options, pods, source, root, faults);
	fetch_options_add(options, root, &source->fetch_places, faults);
	return !faults->len && make_job_of_document(options, root, NULL, &source->job);
}

/* The command of every process; none if it cannot be found, so that errors in other options are
 * reported all the same. */
struct found_program {
	const char **command; /* NULL if the source has files for Pods */
	char *interpreter;
};

static void found_program_done(struct found_program *program)
{
	free(program->command);
	free(program->interpreter);
}

static int find_program_here(const struct options *options, const char ***ret_command,
			     char **ret_interpreter, struct err *err)
{
	size_t count;
	const char *const *arguments = options_arguments(options, &count);

	if (option_flag(options, "module"))
		return program_find_module(arguments, count, ret_command, ret_interpreter, err);
	return program_find(arguments, count, options_had_separator(options), ret_command,
			    ret_interpreter, err);
}

static const char *const *find_program(const struct options *options, struct job_source *source,
				       struct found_program *program, struct text *faults)
{
	static const char *const nothing[] = {NULL};
	struct err err;

	if (source->is_for_kubernetes && find_program_pod_files(options, source, &err))
		return source->program.command;
	if (!source->is_for_kubernetes &&
	    !find_program_here(options, &program->command, &program->interpreter, &err))
		return program->command;
	add_job_source_fault(faults, &err);
	return nothing;
}

static bool read_flags(const struct options *options, struct variables *variables,
		       struct pod_options *pods, struct job_source *source, struct text *faults)
{
	struct found_program program CLEANUP(found_program_done) = {0};
	char *name CLEANUP(mem_free_text) = NULL;
	struct job_build build = {
		.max_restarts = (int) option_number(options, "max-restarts", 0),
		.restart_scope = option_text(options, "restart-scope"),
		.timeout = option_duration(options, "timeout", -1),
		.grace = option_duration(options, "grace", -1),
		.stop_signal = option_text(options, "stop-signal"),
		.command = find_program(options, source, &program, faults),
	};

	set_counts(options, &build);
	check_counts(&build, faults);
	check_characters(build.command, faults);
	name = option_text(options, "name") ? mem_copy_text(option_text(options, "name"))
					    : job_name_choose(options, word_of_command(options));
	build.name = name;
	hide_variables(variables, name, source);
	build.env = variables->list;
	build.n_env = variables->count;
	return read_command(options, pods, &build, source, faults);
}

/* Rejects options for values that a file sets itself. */
static void check_no_contradiction(const struct options *options, struct text *faults)
{
	static const char *const names[] = {"workers",   "ps",        "chief",
					    "evaluator", "ps-server", "worker-server"};
	size_t count;
	const char *const *arguments = options_arguments(options, &count);

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (option_is_given(options, names[i]))
			text_addf(faults,
				  "--%s: cannot be used with -f; set the replicas in the file\n",
				  names[i]);
	if (option_text(options, "sync"))
		text_add(faults, "--sync: cannot be used with -f; set the volumes in the file\n");
	if (count || option_flag(options, "module"))
		text_addf(faults, "'%s': cannot be used with -f; set the command in the file\n",
			  count ? arguments[0] : "--module");
}

/* Changes the job of a file by the options given with it. */
static bool override(const struct options *options, struct variables *variables,
		     const struct pod_options *pods, struct job_source *source, struct text *faults)
{
	struct job *job CLEANUP(job_cleanup) = NULL;

	if (!job_override_is_needed(options, variables) && pod_build_is_empty(&pods->build) &&
	    !option_is_given(options, "fetch") && !is_network_set(options))
		return true;
	struct json *changed CLEANUP(json_cleanup) = json_new_copy(source->job->document);

	hide_variables(variables, source->job->name, source);
	job_override(options, variables, changed);
	set_network(options, changed);
	job_document_add_secret(changed, &source->secret);
	job_document_add_pods(changed, &pods->build, faults);
	fetch_options_add(options, changed, &source->fetch_places, faults);
	if (faults->len || !make_job_of_document(options, changed, NULL, &job))
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
static bool read_job_of_file(const struct options *options, struct variables *variables,
			     const struct pod_options *pods, const struct document *document,
			     struct job_source *source, struct text *faults)
{
	struct json *root CLEANUP(json_cleanup) = json_new_copy(document_root(document));

	job_override_identity(options, root);
	if (!make_job_of_document(options, root, document, &source->job))
		return false;
	if (source->job->changes)
		output_print_message("%s: job '%s' has an older version and was converted to "
				     "kubeflow.org/v1: %s",
				     job_source_name(options), source->job->name,
				     source->job->changes);
	return override(options, variables, pods, source, faults);
}

static bool read_one(const struct options *options, struct variables *variables,
		     const struct pod_options *pods, struct job_source *source, struct text *faults)
{
	const struct document *document = job_documents_choose(options, &source->documents, faults);

	if (!document)
		return false;
	add_pod_file(source, job_source_name(options), document);
	return read_job_of_file(options, variables, pods, document, source, faults);
}

static bool can_all_be_read(const struct options *options, const struct job_documents *documents,
			    struct text *faults)
{
	size_t n_jobs = job_documents_count_jobs(documents);

	if (n_jobs > 1 && option_text(options, "name"))
		text_addf(faults, "--name: needs a single TFJob; %s has %zu\n",
			  job_source_name(options), n_jobs);
	else if (n_jobs == 0 && !documents->template)
		(void) job_documents_choose(options, documents, faults);
	return !faults->len;
}

/* Every TFJob of a file; the file's other documents stay unchanged. */
static bool read_all_file_jobs(const struct options *options, struct variables *variables,
			       const struct pod_options *pods, struct job_source *source,
			       struct text *faults)
{
	const struct job_documents *documents = &source->documents;
	bool is_good = true;

	if (!can_all_be_read(options, documents, faults))
		return false;
	source->objects = json_new_array();
	for (size_t i = 0; i < documents->count; i++) {
		const struct json *object = document_root(documents->list[i]);

		job_free(source->job);
		source->job = NULL;
		if (job_documents_is_job(documents, i) &&
		    !read_job_of_file(options, variables, pods, documents->list[i], source, faults))
			is_good = false;
		json_append(source->objects,
			    json_new_copy(source->job ? source->job->document : object));
	}
	return is_good;
}

static bool read_job_file(const struct options *options, struct variables *variables,
			  const struct pod_options *pods, struct job_source *source,
			  struct text *faults)
{
	check_no_contradiction(options, faults);
	if (!job_documents_open(options, &source->documents, faults) ||
	    !job_documents_make(options, &source->documents, faults))
		return false;
	return source->takes_all ? read_all_file_jobs(options, variables, pods, source, faults)
				 : read_one(options, variables, pods, source, faults);
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
}

/* Kubelet sends the signal, and takes it from the image. */
static void warn_of_stop_signal(const struct job_source *source)
{
	if (source->is_for_kubernetes && source->job && source->job->stop_signal)
		output_print_message(
			"stopSignal: ignored on a cluster (kubelet sends the STOPSIGNAL of the "
			"image, or SIGTERM)");
}

static bool is_network_possible(const struct job_source *source)
{
	if (!source->is_for_kubernetes || !source->job || !source->job->has_private_network)
		return true;
	output_print_message(
		"--private-network: not available with --on kubernetes; there, a NetworkPolicy "
		"admits only the job's own Pods");
	return false;
}

bool job_source_read(const struct options *options, struct job_source *source)
{
	struct variables variables CLEANUP(variables_done) = {0};
	struct pod_options *pods = &source->pods;
	struct text faults CLEANUP(text_done) = {0};

	check_for_place(options, source, &faults);
	check_job_name_option(options, &faults);
	check_stop_signal(options, &faults);
	variables_read(options, &variables, &faults);
	if (pod_options_read(options, pods, &faults) && pods->n_documents)
		add_pod_file(source, option_text(options, "pod-template"), pods->documents[0]);
	if (!option_text(options, "file"))
		template_values_refuse(options, "-f and a Template", &faults);
	bool is_read = option_text(options, "file")
			       ? read_job_file(options, &variables, pods, source, &faults)
			       : read_flags(options, &variables, pods, source, &faults);

	/* Faults of a document were printed in full, and leave no sentence in `faults`. */
	output_print_messages(&faults);
	if (!is_read || faults.len || !is_network_possible(source))
		return false;
	warn_of_stop_signal(source);
	return true;
}
