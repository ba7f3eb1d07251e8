#include "cli/pod_options.h"

#include "command/input.h"
#include "spec/limits.h"
#include "spec/pod_fields.h"

void pod_options_done(struct pod_options *pod_options)
{
	documents_free(pod_options->documents, pod_options->n_documents);
}

static struct pod_texts texts_of(const struct options *options, const char *name)
{
	struct pod_texts texts;

	texts.list = option_list(options, name, &texts.count);
	return texts;
}

static bool check_fields(const char *path, const struct pod_options *pod_options,
			 struct text *faults)
{
	struct faults found CLEANUP(faults_done) = {0};

	pod_fields_check_file(pod_options->documents[0], &found);
	if (found.count)
		text_add(faults, "--pod-template: ");
	faults_describe(&found, path, faults);
	return !found.count;
}

static int read_template(const char *path, struct pod_options *pod_options, struct err *err)
{
	struct text text CLEANUP(text_done) = {0};

	if (input_read(path, LIMIT_DOCUMENT_SIZE, &text, err))
		return err->code;
	if (documents_read(text_of(&text), text.len, &pod_options->documents,
			   &pod_options->n_documents, err))
		return err_prefix(err, "%s", path);
	if (pod_options->n_documents != 1)
		return err_set(err, ERR_INVALID, "%s: contains %zu documents (expected one Pod)",
			       path, pod_options->n_documents);
	if (pod_build_template(document_root(pod_options->documents[0]),
			       &pod_options->build.template, err))
		return err_prefix(err, "%s", path);
	return 0;
}

bool pod_options_read(const struct options *options, struct pod_options *pod_options,
		      struct text *faults)
{
	const char *template = option_text(options, "pod-template");
	struct err err;

	pod_options->build = (struct pod_build){
		.image = option_text(options, "image"),
		.name_space = option_text(options, "namespace"),
		.cpu = option_text(options, "cpu"),
		.memory = option_text(options, "memory"),
		.gpu = option_text(options, "gpu"),
		.service_account = option_text(options, "service-account"),
		.priority = option_text(options, "priority"),
		.image_pull_secrets = texts_of(options, "image-pull-secret"),
		.node_selectors = texts_of(options, "node-selector"),
		.tolerations = texts_of(options, "toleration"),
		.volumes = texts_of(options, "volume"),
	};
	if (template && read_template(template, pod_options, &err)) {
		text_addf(faults, "--pod-template: %s\n", err.text);
		return false;
	}
	return !template || check_fields(template, pod_options, faults);
}
