/* muster server: a TensorFlow server in this process. */
#include "base/mem.h"
#include "cli/commands.h"
#include "io/control_group.h"
#include "io/network_address.h"
#include "spec/cluster_spec.h"
#include "spec/gpus.h"
#include "spec/limits.h"
#include "tensorflow/library_find.h"
#include "tensorflow/network_probe.h"
#include "tensorflow/serving.h"

#include <unistd.h>

#define MOST_THREADS 64

/* The values of a command line, and what was found for them. */
struct server_call {
	const struct options *options;
	struct cluster_spec *spec;
	struct arena *arena; /* of `library` */
	struct library_place library;
};

static void server_call_done(struct server_call *call)
{
	cluster_spec_cleanup(&call->spec);
	arena_free(call->arena);
}

/* True when `text` was read; else its faults are printed, each after `source`. */
static bool read_spec_from(const char *source, const char *text,
			   int (*read)(const char *, struct faults *, struct cluster_spec **),
			   struct cluster_spec **ret_spec)
{
	struct faults faults CLEANUP(faults_done) = {0};
	struct text complaint CLEANUP(text_done) = {0};

	if (!read(text, &faults, ret_spec))
		return true;
	faults_describe(&faults, source, &complaint);
	output_print_errors(&complaint);
	return false;
}

static bool read_environment(struct cluster_spec **ret_spec)
{
	const char *config = getenv("TF_CONFIG");

	if (config && config[0])
		return read_spec_from("TF_CONFIG", config, cluster_spec_read_tf_config, ret_spec);
	output_print_message(
		"missing cluster spec: use --cluster-spec, --job-name and --task-index, or set "
		"TF_CONFIG");
	return false;
}

static bool read_flags(const struct options *options, struct cluster_spec **ret_spec)
{
	const char *text = option_text(options, "cluster-spec");
	const char *job = option_text(options, "job-name");
	struct err err;

	if (!text || !job || !job[0]) {
		output_print_message("missing %s: %s", text ? "--job-name" : "--cluster-spec",
				     text ? "which job of the cluster this server belongs to"
					  : "the tasks of the cluster");
		return false;
	}
	if (!read_spec_from("--cluster-spec", text, cluster_spec_read, ret_spec))
		return false;
	if (!cluster_spec_set_own(*ret_spec, job, (int) option_number(options, "task-index", 0),
				  &err))
		return true;
	output_print_message("%s", err.text);
	return false;
}

static bool read_settings(const struct options *options, struct server_settings *settings)
{
	const char *fraction = option_text(options, "gpu-memory-fraction");
	struct err err = {0};

	settings->protocol = option_text(options, "protocol");
	settings->gpu_memory_fraction = 0;
	if (!fraction)
		return true;
	if (!text_read_real(fraction, &settings->gpu_memory_fraction, &err) &&
	    settings->gpu_memory_fraction > 0 && settings->gpu_memory_fraction <= 1)
		return true;
	output_print_message(
		"--gpu-memory-fraction: '%s' is not a number greater than 0 and at most 1",
		fraction);
	return false;
}

/* False when there is none: then it has printed where it searched, and what to install. */
static bool find_library(struct server_call *call)
{
	const struct options *options = call->options;
	struct library_search search = library_search_here(option_text(options, "libtensorflow"));
	const struct library_place *place = &call->library;
	struct text looked_at CLEANUP(text_done) = {0};
	struct err err;

	if (!library_find(&search, call->arena, &call->library, &looked_at, &err)) {
		if (option_flag(options, "verbose"))
			output_print_message(
				"library %s%s%s%s%s (%s)", place->path, place->version ? ", " : "",
				place->version ? place->package : "", place->version ? " " : "",
				place->version ? place->version : "",
				library_origin_words[place->origin]);
		return true;
	}
	output_print_errors(&looked_at);
	output_print_message("%s", err.text);
	return false;
}

static void print_serving(const struct server_call *call, const struct serving *serving)
{
	char *task CLEANUP(mem_free_text) =
		mem_format("%s-%d", call->spec->own->job, call->spec->own->index);
	struct json *event CLEANUP(json_cleanup) =
		json_new_texts("muster", "serving", "task", task, "target", serving->target,
			       "version", serving->version, "library", call->library.path, NULL);

	json_set(event, "seconds", json_new_real(serving->seconds));
	output_add_event(event);
}

/* Users get all of it, programs only what is not an event. */
static void on_network_event(const struct json *event, const char *sentence, void *data)
{
	const struct server_call *call = data;
	bool is_for_programs = option_text(call->options, "output") != NULL;

	if (is_for_programs && event)
		output_add_event(event);
	if (!is_for_programs || !event || json_get(event, "error"))
		output_print_message("%s", sentence);
}

static void on_server_serving(const struct serving *serving, void *data)
{
	const struct server_call *call = data;
	const struct spec_task *own = call->spec->own;
	char *host CLEANUP(mem_free_text) = address_host(own->address);
	struct err err;

	output_print_message("%s-%d is serving at %s (TensorFlow %s)", own->job, own->index,
			     serving->target, serving->version);
	if (option_text(call->options, "output"))
		print_serving(call, serving);
	if (own_host_check(host, &err)) /* only now, because a name lookup may take time */
		output_print_message("warning: the cluster spec lists %s-%d at %s, but %s",
				     own->job, own->index, own->address, err.text);
	/* TensorFlow listens on [::], whatever host it is given (seen in 2.21). In a job of muster,
	 * the first server of each role warns for all of them. */
	if (!getenv("MUSTER_INDEX") || own->index == 0)
		output_print_message(
			"warning: this server listens on all addresses without authentication: "
			"any client that can reach the port can run code as uid %d on this "
			"machine",
			(int) geteuid());
}

static void on_serving_failure(const struct err *err, void *data)
{
	(void) data;
	output_print_message("%s", err->text);
}

static int serve_tensorflow(const struct server_call *call, struct server_settings settings)
{
	struct serving_request request = {
		.spec = call->spec,
		.settings = settings,
		.library = &call->library,
		.shows_log = option_flag(call->options, "verbose"),
		.on_network = option_flag(call->options, "network") ? on_network_event : NULL,
		.network_timeout =
			option_duration(call->options, "network-timeout", NETWORK_TIMEOUT),
		.on_serving = on_server_serving,
		.on_failure = on_serving_failure,
		.data = (void *) call,
	};
	struct err err;
	int exit_code;

	if (!serving_run(&request, &exit_code, &err))
		return exit_code;
	return output_fail_with(EXIT_FAILED, "%s", err.text);
}

/* With the threads of one core, all of them may wait for other tasks, and a job of parameter
 * servers stalls. TensorFlow's guide to ParameterServerStrategy gives a server with few cores one
 * thread more than there are workers. */
static int threads_for(const struct cluster_spec *spec)
{
	size_t wanted = 1 + spec->n_tasks;

	if (wanted > MOST_THREADS)
		wanted = MOST_THREADS;
	return cores_count() < (int) wanted ? (int) wanted : 0;
}

static int server_run(const struct options *options)
{
	struct server_call call CLEANUP(server_call_done) = {.options = options,
							     .arena = arena_new()};
	struct server_settings settings;
	bool has_task_flags = option_is_given(options, "cluster-spec") ||
			      option_is_given(options, "job-name") ||
			      option_is_given(options, "task-index");
	bool is_understood =
		has_task_flags ? read_flags(options, &call.spec) : read_environment(&call.spec);

	if (!read_settings(options, &settings) || !is_understood)
		return EXIT_USAGE;
	settings.inter_op_threads = threads_for(call.spec);
	/* A parameter server computes nothing, and TensorFlow would take all memory of every GPU
	 * for it. If the user names GPUs for it, or a part of their memory, nothing is hidden. */
	if (text_equals(call.spec->own->job, "ps") && settings.gpu_memory_fraction == 0)
		setenv(GPUS_VARIABLE, "", 0);
	if (!find_library(&call))
		return EXIT_NOT_REACHED;
	return serve_tensorflow(&call, settings);
}

static const struct option_row rows_of_server[] = {
	OPTION("cluster-spec", TEXT, "SPEC", NULL,
	       "cluster spec: JOB|HOST:PORT(;HOST:PORT)*, jobs separated by ','"),
	OPTION("job-name", TEXT, "JOB", NULL, "job of the cluster that this server belongs to"),
	OPTION("task-index", NUMBER, "I", "0", "task index of this server", .low = 0,
	       .high = LIMIT_TASK_INDEX, .other_name = "task-id"),
	OPTION("protocol", TEXT, "NAME", "grpc", "protocol between servers"),
	OPTION("gpu-memory-fraction", TEXT, "F", NULL,
	       "fraction of each GPU's memory to use, above 0 and up to 1"),
	OPTION("libtensorflow", TEXT, "PATH", NULL,
	       "TensorFlow's C library, or a directory that contains it (default: search)"),
	FLAG("network",
	     "test the network to all other tasks first (start all of them with this option)"),
	OPTION("network-timeout", DURATION, "TIME", "10s",
	       "time to wait for tasks that cannot be reached"),
	FLAG("verbose", "print the library path and TensorFlow's log"),
	WORDS("output", "json", NULL, "print events on stdout, one JSON object per line",
	      .letter = 'o'),
	{0},
};

const struct command command_server = {
	.name = "server",
	.group = "TensorFlow",
	.arguments = "--cluster-spec SPEC --job-name JOB --task-index I [OPTIONS]\n"
		     "[OPTIONS]",
	.one_line = "run one TensorFlow gRPC server, without Python",
	.examples = "  muster server --cluster-spec 'worker|localhost:2222;localhost:2223,"
		    "ps|localhost:2224' \\\n"
		    "      --job-name worker --task-index 0\n"
		    "  TF_CONFIG='{\"cluster\": {\"ps\": [\"localhost:2224\"]}, \"task\": "
		    "{\"type\": \"ps\", \"index\": 0}}' \\\n"
		    "      muster server --verbose\n"
		    "  muster run --chief -w 2 --ps 1 --ps-server --worker-server train.py\n",
	.options = rows_of_server,
	.run = server_run,
};
