/* Where the job of a call comes from.
 *
 * Flags and files both become a TFJob document, which job_read makes a job of. Flags that go with a
 * file change the document that was read, in its normalised form. */
#include "cli/job_source.h"

#include "base/mem.h"
#include "base/names.h"
#include "base/yaml.h"
#include "cli/input.h"
#include "cli/job_name.h"
#include "cli/job_override.h"
#include "cli/output.h"
#include "cli/pod_options.h"
#include "cli/program.h"
#include "cli/variables.h"
#include "core/job_build.h"

#include <string.h>

/* The documents of a file. */
struct stream {
	struct document **documents;
	size_t count;
};

static void stream_done(struct stream *stream)
{
	documents_free(stream->documents, stream->count);
}

const char *job_source_name(const struct options *options)
{
	const char *file = option_text(options, "file");

	if (!file)
		return "the command line";
	return strcmp(file, "-") ? file : "standard input";
}

/* Whether a fault before this one said the same, of another role. */
static bool was_told(const struct faults *faults, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (text_equals(faults->list[i].sentence, faults->list[index].sentence))
			return true;
	return false;
}

/* Who gave flags knows of no document and its fields. */
static void complain_of_flags(const struct faults *faults)
{
	for (size_t i = 0; i < faults->count; i++)
		if (!was_told(faults, i))
			output_say("%s", faults->list[i].sentence);
}

void job_source_complain(const struct options *options, const struct faults *faults)
{
	struct text text CLEANUP(text_done) = {0};

	if (!option_text(options, "file")) {
		complain_of_flags(faults);
		return;
	}
	faults_describe(faults, job_source_name(options), &text);
	output_complain(&text);
}

/* Makes the job of a document; its faults are told. */
static bool read_document(const struct options *options, const struct json *root,
			  const struct document *document, struct job **ret_job)
{
	struct faults faults CLEANUP(faults_done) = {0};

	if (!job_read(root, document, JOB_STRICT, &faults, ret_job))
		return true;
	job_source_complain(options, &faults);
	return false;
}

static bool check_name(const struct options *options, struct err *err)
{
	const char *name = option_text(options, "name");

	if (!name || name_is_dns1035_label(name))
		return true;
	char *better CLEANUP(mem_free_text) = name_make_dns1035(name, DNS_LABEL_MAX, "job");

	err_set(err, ERR_INVALID,
		"--name: '%s' is no name for a job (lower-case letters, digits and '-', a letter "
		"first, at most %d characters); '%s' would be one",
		name, DNS_LABEL_MAX, better);
	return false;
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

static bool check_counts(const struct job_build *build, struct err *err)
{
	if (!build->workers && !build->has_chief)
		err_set(err, ERR_INVALID, "--workers 0 leaves nobody to train: give --chief too");
	else if (build->workers_are_servers && !build->has_chief)
		err_set(err, ERR_INVALID,
			"--worker-server leaves nobody to run the script: give --chief too");
	else if (build->ps_are_servers && !build->ps)
		err_set(err, ERR_INVALID, "--ps-server: there is none: give --ps N too");
	else
		return true;
	return false;
}

static bool check_for_place(const struct options *options, const struct job_source *source,
			    struct err *err)
{
	if (source->is_for_kubernetes) {
		if (!text_equals(option_text(options, "gpu"), JOB_GPUS_ALL_WORD))
			return true;
		err_set(err, ERR_INVALID,
			"--gpu all goes with this machine only: say how many each Pod gets");
		return false;
	}
	if (option_text(options, "sync"))
		err_set(err, ERR_INVALID,
			"--sync goes with --on kubernetes only: on this machine the folder is "
			"there");
	else if (option_is_given(options, "fetch"))
		err_set(err, ERR_INVALID,
			"--fetch goes with --on kubernetes only: on this machine the files are "
			"there");
	else
		return true;
	return false;
}

/* The word that names the job when the person does not: of the script or program. */
static const char *word_of_command(const char *const *arguments)
{
	const char *slash = strrchr(arguments[0], '/');

	return slash && slash[1] ? slash + 1 : arguments[0];
}

/* A job is a JSON document: another character set would reach the program as question marks. */
static bool check_characters(const char *const *command, struct err *err)
{
	struct text shown CLEANUP(text_done) = {0};

	while (*command && text_is_utf8(*command, strlen(*command)))
		command++;
	if (!*command)
		return true;
	text_add_as_utf8(&shown, *command, strlen(*command));
	err_set(err, ERR_INVALID, "argument '%s' is not UTF-8, which is all that a job can hold",
		text_of(&shown));
	return false;
}

/* A script of which nothing else is said runs where TensorFlow is. */
static const char *default_image(const struct options *options)
{
	const char *gpu = option_text(options, "gpu");

	return gpu && !text_equals(gpu, "none") ? "tensorflow/tensorflow:latest-gpu"
						: "tensorflow/tensorflow:latest";
}

/* Adds what makes it a job for Pods: files that travel, an image. */
static bool add_pods(const struct options *options, struct pod_options *pods,
		     const struct job_source *source, struct json *root, struct err *err)
{
	if (source->is_for_kubernetes)
		pods->build.default_image = default_image(options);
	if (job_document_add_pods(root, &pods->build, err))
		return false;
	if (!source->travel.n_files)
		return true;
	if (job_document_add_files(root, source->travel.files, source->travel.n_files, err))
		return false;
	if (source->travel.is_folder)
		job_document_add_unpacking(root);
	return true;
}

/* Takes them to the Secret: none is left for the document. */
static void hide_variables(struct variables *variables, const char *job_name,
			   struct job_source *source)
{
	char *name CLEANUP(mem_free_text) = job_secret_name(job_name);

	if (!source->hides_variables || variables->count == 0)
		return;
	job_secret_init(&source->secret, name, variables->list, variables->count);
	variables->count = 0;
}

/* What travels to Pods, and the command there. */
static bool find_travel(const struct options *options, struct job_source *source, struct err *err)
{
	struct travel *travel = &source->travel;
	const char *folder = option_text(options, "sync");
	bool is_program = options_had_separator(options);
	size_t count;
	const char *const *arguments = options_arguments(options, &count);

	if (!folder)
		return !travel_find(arguments, count, is_program, travel, err);
	return !travel_find_in_folder(arguments, count, is_program, folder, source->pack_folder,
				      travel, err);
}

/* Makes the document of the flags and reads it as any other. */
static bool read_command(const struct options *options, struct pod_options *pods,
			 const struct job_build *build, struct job_source *source, struct err *err)
{
	if (!check_characters(build->command, err))
		return false;
	struct json *root CLEANUP(json_cleanup) = job_document_new(build);

	job_document_add_secret(root, &source->secret);
	return add_pods(options, pods, source, root, err) &&
	       !fetch_options_add(options, root, &source->fetch_places, err) &&
	       read_document(options, root, NULL, &source->job);
}

static bool read_flags(const struct options *options, struct variables *variables,
		       struct pod_options *pods, struct job_source *source, struct err *err)
{
	size_t count;
	const char *const *arguments = options_arguments(options, &count);
	bool is_program = options_had_separator(options);
	const char **command CLEANUP(mem_free_any) = NULL;
	char *interpreter CLEANUP(mem_free_text) = NULL;
	char *name CLEANUP(mem_free_text) = NULL;
	struct job_build build = {
		.max_restarts = (int) option_number(options, "max-restarts", 0),
		.restart_scope = option_text(options, "restart-scope"),
		.timeout = option_duration(options, "timeout", -1),
		.grace = option_duration(options, "grace", -1),
	};

	set_counts(options, &build);
	if (!check_counts(&build, err))
		return false;
	if (source->is_for_kubernetes) {
		if (!find_travel(options, source, err))
			return false;
		build.command = source->travel.command;
	} else {
		if (program_find(arguments, count, is_program, &command, &interpreter, err))
			return false;
		build.command = command;
	}
	name = option_text(options, "name") ? mem_copy_text(option_text(options, "name"))
					    : job_name_make(word_of_command(arguments));
	build.name = name;
	hide_variables(variables, name, source);
	build.env = variables->list;
	build.n_env = variables->count;
	return read_command(options, pods, &build, source, err);
}

/* What a file says itself cannot be said beside it. */
static bool check_no_contradiction(const struct options *options, struct err *err)
{
	static const char *const names[] = {"workers",   "ps",        "chief",
					    "evaluator", "ps-server", "worker-server"};
	size_t count;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (option_is_given(options, names[i])) {
			err_set(err, ERR_INVALID,
				"--%s does not go with -f: the file says which replicas there are",
				names[i]);
			return false;
		}
	if (option_text(options, "sync")) {
		err_set(err, ERR_INVALID,
			"--sync does not go with -f: the file says what its Pods mount");
		return false;
	}
	const char *const *arguments = options_arguments(options, &count);

	if (!count)
		return true;
	err_set(err, ERR_INVALID, "'%s' does not go with -f: the file says what is run",
		arguments[0]);
	return false;
}

static bool is_tfjob(const struct document *document)
{
	const struct json *kind = json_get(document_root(document), "kind");

	return text_equals(json_as_string(kind, ""), "TFJob");
}

/* The one TFJob among the documents; a lone document is taken as it is, so that job_read tells what
 * it lacks. Others (a ConfigMap, a volume claim) have no meaning here. */
static const struct document *choose_document(const struct options *options,
					      const struct stream *stream, struct err *err)
{
	const struct document *chosen = NULL;
	const char *file = job_source_name(options);
	size_t n_jobs = 0;

	for (size_t i = 0; i < stream->count; i++)
		if (stream->count == 1 || is_tfjob(stream->documents[i])) {
			chosen = stream->documents[i];
			n_jobs++;
		}
	if (n_jobs == 1) {
		if (stream->count > 1)
			output_say("%s: its other documents have no meaning here", file);
		return chosen;
	}
	if (stream->count == 0)
		err_set(err, ERR_INVALID, "%s: holds no document", file);
	else if (n_jobs == 0)
		err_set(err, ERR_INVALID, "%s: none of its %zu documents is a TFJob", file,
			stream->count);
	else
		err_set(err, ERR_INVALID,
			"%s: holds %zu TFJobs; one at a time is run: give each a file of its own",
			file, n_jobs);
	return NULL;
}

static bool read_stream(const struct options *options, struct stream *stream, struct err *err)
{
	struct text text CLEANUP(text_done) = {0};

	if (input_read(option_text(options, "file"), LIMIT_DOCUMENT_SIZE, &text, err))
		return false;
	if (!documents_read(text_of(&text), text.len, &stream->documents, &stream->count, err))
		return true;
	err_prefix(err, "%s", job_source_name(options));
	return false;
}

/* Flags beside a file change the job that was read. */
static bool override(const struct options *options, struct variables *variables,
		     const struct pod_options *pods, struct job_source *source, struct err *err)
{
	struct job *job CLEANUP(job_cleanup) = NULL;

	if (!job_override_is_needed(options, variables) && pod_build_is_empty(&pods->build) &&
	    !option_is_given(options, "fetch"))
		return true;
	struct json *changed CLEANUP(json_cleanup) = json_new_copy(source->job->document);

	hide_variables(variables, source->job->name, source);
	job_override(options, variables, changed);
	job_document_add_secret(changed, &source->secret);
	if (job_document_add_pods(changed, &pods->build, err) ||
	    fetch_options_add(options, changed, &source->fetch_places, err) ||
	    !read_document(options, changed, NULL, &job))
		return false;
	job_free(source->job);
	source->job = TAKE(job);
	return true;
}

static bool read_file(const struct options *options, struct variables *variables,
		      const struct pod_options *pods, struct job_source *source, struct err *err)
{
	struct stream stream CLEANUP(stream_done) = {0};

	if (!check_no_contradiction(options, err) || !read_stream(options, &stream, err))
		return false;
	const struct document *document = choose_document(options, &stream, err);

	if (!document)
		return false;
	struct json *root CLEANUP(json_cleanup) = json_new_copy(document_root(document));

	job_override_identity(options, root);
	return read_document(options, root, document, &source->job) &&
	       override(options, variables, pods, source, err);
}

void job_source_done(struct job_source *source)
{
	job_free(source->job);
	travel_done(&source->travel);
	job_secret_done(&source->secret);
	fetch_places_done(&source->fetch_places);
}

bool job_source_read(const struct options *options, struct job_source *source)
{
	struct variables variables CLEANUP(variables_done) = {0};
	struct pod_options pods CLEANUP(pod_options_done) = {0};
	struct err err = {0};
	bool is_read = check_for_place(options, source, &err) && check_name(options, &err) &&
		       !variables_read(options, &variables, &err) &&
		       !pod_options_read(options, &pods, &err);

	if (is_read && option_text(options, "file"))
		is_read = read_file(options, &variables, &pods, source, &err);
	else if (is_read)
		is_read = read_flags(options, &variables, &pods, source, &err);
	/* Faults of a document were told in full, and leave no sentence here. */
	if (err.code)
		output_say("%s", err.text);
	return is_read;
}
