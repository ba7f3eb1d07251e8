/* muster render: shows what options or a file would create, with no side effect. */
#include "base/mem.h"
#include "base/names.h"
#include "cli/cluster_support.h"
#include "cli/commands.h"
#include "cli/job_source.h"
#include "cli/kube_cluster.h"
#include "cli/kubernetes_program.h"
#include "cli/pod_options.h"
#include "command/table.h"
#include "command/variables.h"
#include "kube/k8s_tensorflow.h"
#include "kube/objects.h"
#include "spec/limits.h"
#include "spec/template.h"
#include "spec/tf_cluster.h"

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

	const char *argument = options_arguments(options)[0];
	/* With the longest name that is appended. */
	char *longest CLEANUP(mem_free_text) =
		wanted.prefix ? mem_format("%s-worker%d", wanted.prefix, LIMIT_REPLICAS) : NULL;

	if (argument || option_text(options, "file"))
		return output_fail_with(
			EXIT_USAGE,
			"'%s': cannot be used with --as k8s-tensorflow, which renders servers only",
			argument ? argument : "--file");
	if (longest && !name_is_dns1035_label(longest))
		return output_fail_with(
			EXIT_USAGE,
			"--name: '%s' cannot begin the name of a Service (expected lower-case "
			"letters, digits and '-', a letter first, and %s at most %d characters "
			"long)",
			wanted.prefix, longest, DNS_LABEL_MAX);
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

/* The cluster of a job that does not run, as if it ran on this machine. */
static struct tf_cluster make_local_cluster(const struct job *job, struct arena *arena)
{
	struct tf_cluster cluster = tf_cluster_of_kubeflow(job, NULL, NULL, arena);
	struct tf_cluster_address *addresses =
		arena_take_array(arena, cluster.n_addresses, sizeof(*addresses));

	for (size_t i = 0; i < cluster.n_addresses; i++) {
		addresses[i] = cluster.addresses[i];
		addresses[i].address = arena_format(arena, "127.0.0.1:%zu", FIRST_EXAMPLE_PORT + i);
	}
	cluster.addresses = addresses;
	return cluster;
}

/* The value for one replica alone: TF_CONFIG="$(muster render …)". */
static int show_one(const struct options *options, const struct tf_cluster *cluster,
		    enum tf_config_style style)
{
	const char *role = option_text(options, "role") ? option_text(options, "role") : "worker";
	int64_t index = option_number(options, "index", 0);
	struct text text CLEANUP(text_done) = {0};

	for (size_t i = 0; i < cluster->n_addresses; i++) {
		const struct tf_cluster_address *replica = &cluster->addresses[i];

		if (!text_equals(replica->role, role) || replica->index != index)
			continue;
		tf_cluster_add_tf_config(cluster, style, role, replica->index, &text);
		text_add_char(&text, '\n');
		output_add(&text);
		return EXIT_DONE;
	}
	return output_fail_with(EXIT_USAGE, "%s has no replica %s-%lld", job_source_name(options),
				role, (long long) index);
}

/* A line for each replica, which is YAML and contains the exact text of the variable; or one JSON
 * object. */
static void show_all(const struct options *options, const struct tf_cluster *cluster,
		     enum tf_config_style style)
{
	bool is_json = text_equals(option_text(options, "output"), "json");
	struct text text CLEANUP(text_done) = {0};

	for (size_t i = 0; i < cluster->n_addresses; i++) {
		const struct tf_cluster_address *replica = &cluster->addresses[i];

		if (is_json)
			text_addf(&text, "%s\"%s-%d\": ", i ? ",\n " : "{", replica->role,
				  replica->index);
		else
			text_addf(&text, "%s-%d: ", replica->role, replica->index);
		tf_cluster_add_tf_config(cluster, style, replica->role, replica->index, &text);
		if (!is_json)
			text_add_char(&text, '\n');
	}
	if (is_json)
		text_add(&text, text.len ? "}\n" : "{}\n");
	output_add(&text);
}

static int show_tf_config(const struct options *options, const struct job *job)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	bool is_local = text_equals(option_text(options, "on"), "local");
	enum tf_config_style style = is_local ? TF_CONFIG_DENSE : TF_CONFIG_KUBEFLOW;
	const struct tf_cluster cluster = is_local ? make_local_cluster(job, arena)
						   : tf_cluster_of_kubeflow(job, NULL, NULL, arena);

	if (!is_local && !tf_cluster_has_kubeflow_tf_config(job)) {
		output_print_message("a job of one replica gets no TF_CONFIG on Kubernetes");
		return EXIT_DONE;
	}
	if (option_is_given(options, "role") || option_is_given(options, "index"))
		return show_one(options, &cluster, style);
	show_all(options, &cluster, style);
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
	const char *what = option_text(options, "as"), *format = option_text(options, "output");
	bool is_for_kubernetes = text_equals(option_text(options, "on"), "kubernetes");
	struct job_source source CLEANUP(job_source_done) = {
		.options = options,
		.is_for_kubernetes = is_for_kubernetes || text_equals(what, "pods"),
		.hides_variables = text_equals(what, "pods"),
		.pack_folder = cluster_support ? cluster_support->pack_folder : NULL,
	};

	struct err err = {0};

	if (text_equals(what, "k8s-tensorflow"))
		return render_k8s_tensorflow(options);
	if (option_text(options, "sync") && !cluster_support)
		return exec_kubernetes_program(options);
	if (option_flag(options, "parameters"))
		return list_parameters(options);
	source.takes_all = text_equals(what, "tfjob");
	if (!job_source_read(&source))
		return EXIT_USAGE;
	if (!source.takes_all) {
		/* A TFJob stays unchanged: its namespace is chosen when it is created. */
		if (source.is_for_kubernetes && place(options, &source, &err))
			return output_fail_with(EXIT_USAGE, "%s", err.text);
		return text_equals(what, "pods") ? render_pods(options, &source)
						 : show_tf_config(options, source.job);
	}
	if (json_count(source.objects) > 1)
		output_add_objects(source.objects, format);
	else
		output_add_object(
			source.objects ? json_at(source.objects, 0) : source.job->document, format);
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
