/* Prints objects of Kubernetes; asks no cluster. */
#include "cli/render_objects.h"

#include "base/mem.h"
#include "base/names.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/variables.h"
#include "core/limits.h"
#include "kube/k8s_tensorflow.h"
#include "kube/objects.h"
#include "kube/objects_all.h"

int render_pods(const struct options *options, const struct job_source *source)
{
	struct json *list CLEANUP(json_cleanup) = json_new_array();
	struct faults faults CLEANUP(faults_done) = {0};
	struct err err = {0};

	if (!objects_check(source->job, &faults)) {
		job_source_complain(options, &faults);
		return EXIT_WRONG_USE;
	}
	if (objects_add_all(source->job, source->travel.files, source->travel.n_files,
			    &source->secret, list, &err))
		return output_fail(&err);
	output_add_objects(list, option_text(options, "output"));
	return EXIT_DONE;
}

static bool is_free_of_a_job(const struct options *options)
{
	size_t count;
	const char *const *arguments = options_arguments(options, &count);

	if (!count && !option_text(options, "file"))
		return true;
	output_say("'%s' does not go with --as k8s-tensorflow, which runs servers and no job",
		   count ? arguments[0] : "--file");
	return false;
}

/* With the longest of the names behind it. */
static bool check_prefix(const char *prefix)
{
	char *name CLEANUP(mem_free_text) = mem_format("%s-worker%d", prefix, LIMIT_REPLICAS);

	if (name_is_dns1035_label(name))
		return true;
	output_say("--name: '%s' cannot begin a name of a Service: lower-case letters, digits and "
		   "'-', a letter first, and not so long that %s has more than %d characters",
		   prefix, name, DNS_LABEL_MAX);
	return false;
}

int render_k8s_tensorflow(const struct options *options)
{
	const char *image = option_text(options, "image");
	struct variables variables CLEANUP(variables_done) = {0};
	struct text faults CLEANUP(text_done) = {0};
	struct k8s_tensorflow wanted = {
		.n_workers = (int) option_number(options, "workers", 1),
		.n_parameter_servers = (int) option_number(options, "ps", 0),
		.port = (int) option_number(options, "grpc-port", 0),
		.image = image ? image : K8S_TENSORFLOW_IMAGE,
		.prefix = option_text(options, "name"),
		.has_load_balancer = option_flag(options, "request-load-balancer"),
	};

	if (!is_free_of_a_job(options) || (wanted.prefix && !check_prefix(wanted.prefix)))
		return EXIT_WRONG_USE;
	variables_read(options, &variables, &faults);
	if (faults.len) {
		output_say_lines(&faults);
		return EXIT_WRONG_USE;
	}
	wanted.env = variables.list;
	wanted.n_env = variables.count;
	if (wanted.n_workers + wanted.n_parameter_servers == 0) {
		output_say("--workers 0 without --ps leaves no server");
		return EXIT_WRONG_USE;
	}
	struct json *list CLEANUP(json_cleanup) = k8s_tensorflow_objects_new(&wanted);

	output_add_objects(list, option_text(options, "output"));
	return EXIT_DONE;
}
