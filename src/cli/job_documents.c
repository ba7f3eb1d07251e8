#include "cli/job_documents.h"

#include "command/input.h"
#include "command/output.h"
#include "command/variables.h"
#include "io/random.h"
#include "spec/limits.h"
#include "spec/template.h"

/* Number of other documents that are named in the message; the rest is counted. */
#define N_NAMED 5

const char *job_documents_name(const struct options *options)
{
	const char *file = option_text(options, "file");

	return file && text_equals(file, "-") ? "standard input" : file;
}

void job_documents_print_errors(const struct options *options, const struct faults *faults)
{
	struct text text CLEANUP(text_done) = {0};

	faults_describe(faults, job_documents_name(options), &text);
	output_print_errors(&text);
}

void job_documents_done(struct job_documents *documents)
{
	documents_free(documents->list, documents->count);
	documents_free(documents->written, documents->n_written);
}

bool job_documents_open(struct job_documents *documents, struct text *faults)
{
	const char *file = job_documents_name(documents->options);
	struct text text CLEANUP(text_done) = {0};
	struct err err;
	size_t n_templates = 0;

	int rc = input_read(option_text(documents->options, "file"), LIMIT_DOCUMENT_SIZE, &text,
			    &err);

	if (rc == 0 && documents_read(text_of(&text), text.len, &documents->written,
				      &documents->n_written, &err))
		rc = err_prefix(&err, "%s", file);
	if (rc < 0) {
		text_addf(faults, "%s\n", err.text);
		return false;
	}
	for (size_t i = 0; i < documents->n_written; i++)
		if (template_is(document_root(documents->written[i]))) {
			documents->template = documents->written[i];
			n_templates++;
		}
	if (n_templates > 1)
		text_addf(faults, "%s: contains %zu Templates (expected one)\n", file, n_templates);
	return n_templates <= 1;
}

static void append_document(struct job_documents *documents, struct document *take_document)
{
	documents->list =
		mem_resize(documents->list, documents->count + 1, sizeof(*documents->list));
	documents->list[documents->count++] = take_document;
}

void job_documents_refuse_values(const struct options *options, const char *with,
				 struct text *faults)
{
	static const char *const names[] = {"param", "param-file"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (option_is_given(options, names[i]))
			text_addf(faults, "--%s: needs %s\n", names[i], with);
}

static bool append_template(struct job_documents *documents, struct text *faults)
{
	struct variables values CLEANUP(variables_done) = {.are_parameters = true};
	struct faults found CLEANUP(faults_done) = {0};
	struct faults notes CLEANUP(faults_done) = {0};
	struct document **objects CLEANUP(mem_free_any) = NULL;
	size_t count = 0;

	variables_read(documents->options, &values, faults);
	if (faults->len)
		return false;
	struct template_value *list CLEANUP(mem_free_any) =
		mem_new_array(values.count + 1, sizeof(*list));
	const struct template_call call = {list, values.count, random_bytes};

	for (size_t i = 0; i < values.count; i++)
		list[i] = (struct template_value){values.list[i].name, values.list[i].value};
	int rc = template_make(documents->template, &call, &found, &notes, &objects, &count);

	job_documents_print_errors(documents->options, &notes);
	job_documents_print_errors(documents->options, &found);
	for (size_t i = 0; i < count; i++)
		append_document(documents, objects[i]);
	return !rc;
}

/* "List" is kubectl's kind for several objects, "TFJobList" the API server's. */
static bool is_list(const struct json *root)
{
	return text_ends_with(json_get_string(root, "kind", ""), "List") &&
	       json_is(json_get(root, "items"), JSON_ARRAY);
}

bool job_documents_make(struct job_documents *documents, struct text *faults)
{
	const char *file = job_documents_name(documents->options);
	char *with CLEANUP(mem_free_text) = mem_format("a Template: %s is not one", file);
	bool is_good = true;

	if (!documents->template)
		job_documents_refuse_values(documents->options, with, faults);
	for (size_t i = 0; i < documents->n_written; i++) {
		const struct document *document = documents->written[i];
		struct json *root = document_root(document);
		const struct json *items = is_list(root) ? json_get(root, "items") : NULL;

		if (document == documents->template)
			is_good = append_template(documents, faults);
		else if (!items)
			append_document(documents, document_new_part(document, "", json_ref(root)));
		for (size_t k = 0; k < json_count(items); k++) {
			char *path CLEANUP(mem_free_text) = mem_format("items[%zu]", k);

			append_document(documents, document_new_part(document, path,
								     json_ref(json_at(items, k))));
		}
	}
	documents->is_lone = documents->n_written == 1 && !documents->template &&
			     !is_list(document_root(documents->written[0]));
	if (documents->n_written == 0)
		text_addf(faults, "%s: empty (expected a TFJob)\n", file);
	return is_good && !faults->len;
}

bool job_documents_is_job(const struct job_documents *documents, size_t index)
{
	const struct json *kind = json_get(document_root(documents->list[index]), "kind");

	/* Some documents have TfJob. */
	return documents->is_lone || text_equals_ignoring_case(json_as_string(kind, ""), "TFJob");
}

size_t job_documents_count_jobs(const struct job_documents *documents)
{
	size_t count = 0;

	for (size_t i = 0; i < documents->count; i++)
		count += job_documents_is_job(documents, i);
	return count;
}

/* Other objects (a Service, a volume claim) are for kubectl. */
static void print_unused_documents(const struct job_documents *documents)
{
	struct text names CLEANUP(text_done) = {0};
	size_t n_others = 0;

	for (size_t i = 0; i < documents->count; i++) {
		const struct json *root = document_root(documents->list[i]);
		const struct json *name = json_get_path(root, "metadata", "name", NULL);

		if (job_documents_is_job(documents, i) || n_others++ >= N_NAMED)
			continue;
		text_addf(&names, "%s%.100s", n_others > 1 ? ", " : "",
			  json_get_string(root, "kind", "?"));
		if (json_is(name, JSON_STRING))
			text_addf(&names, " '%.300s'", json_as_string(name, ""));
	}
	if (n_others > N_NAMED)
		text_addf(&names, " and %zu more", n_others - N_NAMED);
	if (n_others)
		output_print_message("%s: using only the TFJob, without %s",
				     job_documents_name(documents->options), text_of(&names));
}

const struct document *job_documents_choose(const struct job_documents *documents,
					    struct text *faults)
{
	size_t n_jobs = job_documents_count_jobs(documents);
	const char *file = job_documents_name(documents->options);
	size_t index = 0;

	if (n_jobs == 0)
		text_addf(faults, "%s: none of its %zu %s is a TFJob (expected one)\n", file,
			  documents->count, documents->template ? "objects" : "documents");
	else if (n_jobs > 1)
		text_addf(faults,
			  "%s: contains %zu TFJobs (expected one); put each TFJob into its own "
			  "file\n",
			  file, n_jobs);
	if (n_jobs != 1)
		return NULL;
	print_unused_documents(documents);
	while (!job_documents_is_job(documents, index))
		index++;
	return documents->list[index];
}
