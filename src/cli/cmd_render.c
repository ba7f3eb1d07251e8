/* muster render: shows what options or a file would create, with no side effect. */
#include "base/mem.h"
#include "base/names.h"
#include "cli/cluster_support.h"
#include "cli/commands.h"
#include "cli/job_source.h"
#include "cli/kube_cluster.h"
#include "cli/kubernetes_program.h"
#include "cli/pod_options.h"
#include "command/options.h"
#include "command/output.h"
#include "command/table.h"
#include "command/variables.h"
#include "kube/k8s_tensorflow.h"
#include "kube/objects.h"
#include "spec/limits.h"
#include "spec/template.h"
#include "spec/tf_cluster.h"

#include <stdlib.h>

/* Objects of Kubernetes; no cluster is contacted. */

static int render_pods(const struct options *options, const struct job_source *source)
{
	struct json *list CLEANUP(json_cleanup) = json_new_array();
	struct err err = {0};

	if (!job_source_fits_cluster(source))
		return EXIT_USAGE;
	if (objects_add_all(source->job, source->program.files, source->program.n_files,
			    &source->secret, list, &err))
		return output_fail(&err);
	output_add_objects(list, option_text(options, "output"));
	return EXIT_DONE;
}

static bool is_free_of_a_job(const struct options *options)
{
	const char *argument = options_arguments(options)[0];

	if (!argument && !option_text(options, "file"))
		return true;
	output_print_message(
		"'%s': cannot be used with --as k8s-tensorflow, which renders servers only",
		argument ? argument : "--file");
	return false;
}

/* With the longest name that is appended. */
static bool check_prefix(const char *prefix)
{
	char *name CLEANUP(mem_free_text) = mem_format("%s-worker%d", prefix, LIMIT_REPLICAS);

	if (name_is_dns1035_label(name))
		return true;
	output_print_message(
		"--name: '%s' cannot begin the name of a Service (expected lower-case letters, "
		"digits and '-', a letter first, and %s at most %d characters long)",
		prefix, name, DNS_LABEL_MAX);
	return false;
}

static int render_k8s_tensorflow(const struct options *options)
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
		return EXIT_USAGE;
	variables_read(options, &variables, &faults);
	if (faults.len) {
		output_print_messages(&faults);
		return EXIT_USAGE;
	}
	wanted.env = variables.list;
	wanted.n_env = variables.count;
	if (wanted.n_workers + wanted.n_parameter_servers == 0)
		return output_fail_with(EXIT_USAGE, "--workers 0: no server would run; add --ps");
	struct json *list CLEANUP(json_cleanup) = k8s_tensorflow_objects_new(&wanted);

	output_add_objects(list, option_text(options, "output"));
	return EXIT_DONE;
}

/* First port of the examples: a run reserves its own. */
#define FIRST_EXAMPLE_PORT 20000

/* The cluster of a job that does not run: each replica with the address that it would have. */
struct rendering {
	const struct job *job;
	enum tf_config_style style;
	struct tf_cluster_address *addresses;
	struct arena *arena;
	struct tf_cluster cluster;
};

static void rendering_done(struct rendering *rendering)
{
	arena_free(rendering->arena);
}

static const char *make_address(const struct rendering *rendering, const struct role *role,
				int index, size_t number)
{
	struct text text CLEANUP(text_done) = {0};

	switch (rendering->style) {
	case TF_CONFIG_DENSE:
		text_addf(&text, "127.0.0.1:%zu", FIRST_EXAMPLE_PORT + number);
		break;
	case TF_CONFIG_KUBEFLOW:
		tf_cluster_add_kubeflow_address(rendering->job, role, index, NULL, NULL, &text);
		break;
	}
	return arena_copy_text(rendering->arena, text_of(&text));
}

static void rendering_make(struct rendering *rendering, const struct job *job,
			   enum tf_config_style style)
{
	size_t count = 0;

	rendering->job = job;
	rendering->style = style;
	rendering->arena = arena_new();
	rendering->addresses = arena_take_array(rendering->arena, (size_t) job_replica_count(job),
						sizeof(*rendering->addresses));
	for (size_t i = 0; i < job->n_roles; i++)
		for (int index = 0; index < job->roles[i].replicas; index++) {
			rendering->addresses[count] = (struct tf_cluster_address){
				.role = job->roles[i].name,
				.index = index,
				.address = make_address(rendering, &job->roles[i], index, count),
			};
			count++;
		}
	rendering->cluster = (struct tf_cluster){
		.job = job, .addresses = rendering->addresses, .n_addresses = count};
}

static void add_replica_tf_config(const struct rendering *rendering,
				  const struct tf_cluster_address *replica, struct text *text)
{
	tf_cluster_add_tf_config(&rendering->cluster, rendering->style, replica->role,
				 replica->index, text);
}

static const struct tf_cluster_address *find_replica(const struct rendering *rendering,
						     const char *role, int64_t index)
{
	for (size_t i = 0; i < rendering->cluster.n_addresses; i++) {
		const struct tf_cluster_address *replica = &rendering->addresses[i];

		if (text_equals(replica->role, role) && replica->index == index)
			return replica;
	}
	return NULL;
}

/* The value for one replica alone: TF_CONFIG="$(muster render …)". */
static int show_one(const struct options *options, const struct rendering *rendering)
{
	const char *role = option_text(options, "role") ? option_text(options, "role") : "worker";
	int64_t index = option_number(options, "index", 0);
	const struct tf_cluster_address *replica = find_replica(rendering, role, index);
	struct text text CLEANUP(text_done) = {0};

	if (!replica)
		return output_fail_with(EXIT_USAGE, "%s has no replica %s-%lld",
					job_source_name(options), role, (long long) index);
	add_replica_tf_config(rendering, replica, &text);
	text_add_char(&text, '\n');
	output_add(&text);
	return EXIT_DONE;
}

/* A line for each replica, which is YAML and contains the exact text of the variable; or one JSON
 * object. */
static void show_all(const struct options *options, const struct rendering *rendering)
{
	bool is_json = text_equals(option_text(options, "output"), "json");
	struct text text CLEANUP(text_done) = {0};

	for (size_t i = 0; i < rendering->cluster.n_addresses; i++) {
		const struct tf_cluster_address *replica = &rendering->addresses[i];

		if (is_json)
			text_addf(&text, "%s\"%s-%d\": ", i ? ",\n " : "{", replica->role,
				  replica->index);
		else
			text_addf(&text, "%s-%d: ", replica->role, replica->index);
		add_replica_tf_config(rendering, replica, &text);
		if (!is_json)
			text_add_char(&text, '\n');
	}
	if (is_json)
		text_add(&text, text.len ? "}\n" : "{}\n");
	output_add(&text);
}

static int show_tf_config(const struct options *options, const struct job *job)
{
	struct rendering rendering CLEANUP(rendering_done) = {0};
	bool is_local = text_equals(option_text(options, "on"), "local");

	if (!is_local && !tf_cluster_has_kubeflow_tf_config(job)) {
		output_print_message("a job of one replica gets no TF_CONFIG on Kubernetes");
		return EXIT_DONE;
	}
	rendering_make(&rendering, job, is_local ? TF_CONFIG_DENSE : TF_CONFIG_KUBEFLOW);
	if (option_is_given(options, "role") || option_is_given(options, "index"))
		return show_one(options, &rendering);
	show_all(options, &rendering);
	if (is_local)
		output_print_message("the ports are examples; each job reserves its own");
	return EXIT_DONE;
}

/* The namespace is part of each address: as in a run, that of the kubeconfig, if there is one. */
static int place(const struct options *options, struct job_source *source, struct err *err)
{
	struct kube_config *config CLEANUP(kube_config_cleanup) = NULL;
	struct job *placed = NULL;
	int rc = kube_cluster_read_config(options, &config, err);

	if (rc == ERR_UNREACHABLE && !option_text(options, "context"))
		return 0;
	if (rc || kube_cluster_place_job(config, source->job, &placed, err))
		return err->code;
	job_free(source->job);
	source->job = placed;
	return 0;
}

/* A TFJob stays unchanged: its namespace is chosen when it is created. */
static int show_addresses(const struct options *options, struct job_source *source)
{
	struct err err = {0};

	if (source->is_for_kubernetes && place(options, source, &err))
		return output_fail_with(EXIT_USAGE, "%s", err.text);
	return text_equals(option_text(options, "as"), "pods")
		       ? render_pods(options, source)
		       : show_tf_config(options, source->job);
}

static void show_objects(const struct options *options, const struct job_source *source)
{
	const char *format = option_text(options, "output");

	if (json_count(source->objects) > 1)
		output_add_objects(source->objects, format);
	else
		output_add_object(source->objects ? json_at(source->objects, 0)
						  : source->job->document,
				  format);
}

/* As `oc process --parameters` prints them. */
static void add_parameters(const struct template_parameter *parameters, size_t count)
{
	static const char *const headings[] = {"NAME", "DESCRIPTION", "GENERATOR", "VALUE"};
	struct table table CLEANUP(table_done) = {.n_columns = ARRAY_LEN(headings)};
	struct text text CLEANUP(text_done) = {0};

	table_add_row(&table, headings);
	for (size_t i = 0; i < count; i++) {
		const struct template_parameter *parameter = &parameters[i];

		table_add(&table, parameter->name);
		table_add(&table, parameter->description);
		table_add(&table, parameter->generator);
		table_add(&table, parameter->generator ? parameter->from : parameter->value);
	}
	table_write(&table, &text);
	output_add(&text);
}

static int list_parameters(const struct options *options)
{
	struct job_documents documents CLEANUP(job_documents_done) = {.options = options};
	struct template_parameter *parameters CLEANUP(mem_free_any) = NULL;
	struct faults faults CLEANUP(faults_done) = {0};
	struct text said CLEANUP(text_done) = {0};
	size_t count = 0;

	if (!option_text(options, "file"))
		text_add(&said, "--parameters: needs -f with a Template\n");
	else if (job_documents_open(&documents, &said) && !documents.template)
		text_addf(&said, "%s: not a Template\n", job_source_name(options));
	output_print_messages(&said);
	if (said.len)
		return EXIT_USAGE;
	if (template_parameters(documents.template, &faults, &parameters, &count)) {
		job_source_print_errors(options, &faults);
		return EXIT_USAGE;
	}
	add_parameters(parameters, count);
	return EXIT_DONE;
}

static int render_run(const struct options *options)
{
	const char *what = option_text(options, "as");
	bool is_for_kubernetes = text_equals(option_text(options, "on"), "kubernetes");
	struct job_source source CLEANUP(job_source_done) = {
		.options = options,
		.is_for_kubernetes = is_for_kubernetes || text_equals(what, "pods"),
		.hides_variables = text_equals(what, "pods"),
		.pack_folder = cluster_support ? cluster_support->pack_folder : NULL,
	};

	if (text_equals(what, "k8s-tensorflow"))
		return render_k8s_tensorflow(options);
	if (option_text(options, "sync") && !cluster_support)
		return exec_kubernetes_program(options);
	if (option_flag(options, "parameters"))
		return list_parameters(options);
	source.takes_all = text_equals(what, "tfjob");
	if (!job_source_read(&source))
		return EXIT_USAGE;
	if (!source.takes_all)
		return show_addresses(options, &source);
	show_objects(options, &source);
	return EXIT_DONE;
}

static const struct option_row rows_of_render[] = {
	WORDS("as", "tfjob|pods|k8s-tensorflow|tf-config", "tfjob", "what to print"),
	WORDS("output", "yaml|json", "yaml", "output format", .letter = 'o'),
	WORDS("on", "local|kubernetes", "local",
	      "where the job would run; decides TF_CONFIG and whether Pods mount the script",
	      .has_variable = true),
	FLAG("parameters", "list the parameters of the Template in -f"),
	OPTION("role", TEXT, "ROLE", NULL,
	       "role of the replica whose TF_CONFIG to print (default worker)"),
	OPTION("index", NUMBER, "I", NULL, "index of that replica (default 0)",
	       .high = LIMIT_REPLICAS),
	OPTION("grpc-port", NUMBER, "PORT", "2222", "k8s-tensorflow: port of the servers", .low = 1,
	       .high = 65535),
	FLAG("request-load-balancer",
	     "k8s-tensorflow: make workers reachable from outside the cluster"),
	JOB_SOURCE_ROWS,
	POD_ROWS,
	CLUSTER_CHOICE_ROWS,
	{0},
};

const struct command command_render = {
	.name = "render",
	.group = "Help and setup",
	.arguments = "[OPTIONS] SCRIPT.py [ARGS...], or -m MODULE [ARGS...]\n"
		     "[OPTIONS] -- PROGRAM [ARGS...]\n"
		     "[OPTIONS] -f job.yaml [-p NAME=VALUE ...]",
	.one_line = "print the TFJob, Pods or TF_CONFIG of a job without starting it",
	.examples =
		"  muster render -w 2 train.py > job.yaml\n"
		"  muster render --as pods -w 2 train.py | kubectl apply -f -\n"
		"  muster render --as k8s-tensorflow -w 2 --ps 1 --image me/server > servers.yaml\n"
		"  muster render --as tf-config -w 2 --ps 1 train.py\n"
		"  muster render --as tf-config --role worker --index 1 -f job.yaml\n"
		"  muster render -f template.yaml -p JOB_NAME=a -p WORKERS=2 | kubectl apply -f "
		"-\n",
	.options = rows_of_render,
	.takes_program = true,
	.run = render_run,
};
