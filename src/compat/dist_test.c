/* local_test and remote_test of TensorFlow's tools/dist_test, and the flags that they share. */
#include "base/mem.h"
#include "base/text.h"
#include "command/command.h"
#include "command/options.h"
#include "command/output.h"
#include "compat/call.h"
#include "spec/limits.h"

/* Counts are passed on only if given; the default is 2 of each in both programs. */
#define DIST_TEST_ROWS                                                                             \
	OPTION("num-workers", NUMBER, "N", "2", "now check --workers", .low = 1,                   \
	       .high = LIMIT_REPLICAS),                                                            \
		OPTION("num-parameter-servers", NUMBER, "N", "2", "now check --ps", .low = 1,      \
		       .high = LIMIT_REPLICAS),                                                    \
		FLAG("sync-replicas", "now check --sync-replicas"),                                \
		WORDS("model-name", "MNIST|CENSUS_WIDENDEEP", "MNIST",                             \
		      "now check --model mnist or --model census"),                                \
		FLAG("setup-cluster-only", "now check --setup-only"),                              \
		FLAG("leave-container-running",                                                    \
		     "accepted, no effect; prints what to use instead"),                           \
		CALL_ROWS

static void dist_test_add_model(struct call *call, const struct options *old)
{
	bool is_census = text_equals(option_text(old, "model-name"), "CENSUS_WIDENDEEP");

	call_add_value(call, "--model", is_census ? "census" : "mnist");
	call_add_flag(call, "--sync-replicas", old, "sync-replicas");
}

static int check_new_servers(struct call *call, const struct options *old)
{
	call_add_value(call, "--workers", option_text(old, "num-workers"));
	call_add_value(call, "--ps", option_text(old, "num-parameter-servers"));
	if (option_flag(old, "setup-cluster-only"))
		call_add(call, "--setup-only");
	else
		dist_test_add_model(call, old);
	return call_run(call, old);
}

/* local_test.sh of TensorFlow's tools/dist_test: a test model on a cluster of this machine.
 * Processes replace its Kubernetes cluster in a container. */

static int local_test_run(const struct options *old)
{
	struct call call CLEANUP(call_done) = {0};

	if (option_flag(old, "leave-container-running"))
		output_print_message(
			"--leave-container-running: there is no container; muster keeps the "
			"logs of a failed check; to keep servers running: --setup-cluster-only");
	if (getenv("TF_DIST_SERVER_DOCKER_IMAGE"))
		output_print_message(
			"TF_DIST_SERVER_DOCKER_IMAGE: ignored (on this machine, servers are "
			"processes of muster)");
	call_add(&call, "check");
	call_add(&call, "local");
	return check_new_servers(&call, old);
}

static const struct option_row rows_of_local_test[] = {DIST_TEST_ROWS, {0}};

const struct command compat_local_test = {
	.name = "compat local_test",
	.arguments = "[OPTIONS]",
	.one_line = "run TensorFlow's distributed test on this machine; now 'muster check'",
	.examples = "  muster compat local_test --num-workers 4 --sync-replicas\n"
		    "  muster compat local_test --dry-run --model-name CENSUS_WIDENDEEP\n",
	.options = rows_of_local_test,
	.run = local_test_run,
};

/* remote_test.sh of TensorFlow's tools/dist_test: a test model on remote servers.
 *
 * Existing servers are named in TF_DIST_GRPC_SERVER_URL. Otherwise they are created on a cluster,
 * from the image in TF_DIST_SERVER_DOCKER_IMAGE. The old script also created that cluster at a
 * cloud provider; muster does not, and reads those variables only to report that. */

#define DEFAULT_PORT "2222"

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* TF_DIST_SERVER_DOCKER_IMAGE, and those of the cloud provider. */
static const char *const remote_variables[] = {
	"TF_DIST_SERVER_DOCKER_IMAGE", "TF_DIST_GCLOUD_PROJECT", "TF_DIST_GCLOUD_COMPUTE_ZONE",
	"TF_DIST_GCLOUD_KEY_FILE_DIR", "CONTAINER_CLUSTER"};

/* Prints "A, B: SENTENCE" with the variables that are set, from the one at `first` on. */
static void print_set_ones(size_t first, const char *sentence)
{
	struct text set CLEANUP(text_done) = {0};

	for (size_t i = first; i < ARRAY_LEN(remote_variables); i++)
		if (variable(remote_variables[i]))
			text_addf(&set, "%s%s", set.len ? ", " : "", remote_variables[i]);
	if (set.len)
		output_print_message("%s: %s", text_of(&set), sentence);
}

/* A URL without a port gets the port of the old scripts' servers. The port is the part after the
 * host's name, in "grpc://host:2222" as in "grpc://[::1]:2222". */
static char *url_of_servers(const char *url)
{
	const char *port = variable("TF_DIST_GRPC_PORT");
	const char *host = strstr(url, "://"), *bracket = strrchr(url, ']');

	host = host ? host + strlen("://") : url;
	if (strchr(bracket ? bracket : host, ':'))
		return mem_copy_text(url);
	return mem_format("%s:%s", url, port ? port : DEFAULT_PORT);
}

static const char *given(const struct options *old, const char *name)
{
	return option_is_given(old, name) ? option_text(old, name) : NULL;
}

static int check_servers(const struct options *old, const char *url)
{
	struct call call CLEANUP(call_done) = {0};
	char *servers CLEANUP(mem_free_text) = url_of_servers(url);

	print_set_ones(0, "no effect on existing servers");
	if (option_flag(old, "leave-container-running"))
		output_print_message(
			"--leave-container-running: existing servers are never stopped");
	call_add(&call, "check");
	call_add(&call, "remote");
	call_add_value(&call, "--servers", servers);
	call_add_value(&call, "--workers", given(old, "num-workers"));
	call_add_value(&call, "--ps", given(old, "num-parameter-servers"));
	dist_test_add_model(&call, old);
	return call_run(&call, old);
}

static int check_cluster(const struct options *old)
{
	struct call call CLEANUP(call_done) = {0};

	print_set_ones(1, "muster does not create a cluster at a cloud provider; it uses the "
			  "current context of the kubeconfig");
	if (variable("TF_DIST_GRPC_PORT"))
		output_print_message("TF_DIST_GRPC_PORT: new servers choose their port themselves");
	if (option_flag(old, "leave-container-running"))
		output_print_message(
			"--leave-container-running: muster keeps the logs of a failed check; to "
			"keep servers running: --setup-cluster-only");
	call_add(&call, "check");
	call_add(&call, "remote");
	call_add_value(&call, "--on", "kubernetes");
	call_add_value(&call, "--image", variable("TF_DIST_SERVER_DOCKER_IMAGE"));
	return check_new_servers(&call, old);
}

static int remote_test_run(const struct options *old)
{
	const char *url = variable("TF_DIST_GRPC_SERVER_URL");

	if (!url)
		return check_cluster(old);
	if (!option_flag(old, "setup-cluster-only"))
		return check_servers(old, url);
	output_print_message(
		"--setup-cluster-only: nothing to set up, because TF_DIST_GRPC_SERVER_URL names "
		"existing servers: %s",
		url);
	return EXIT_DONE;
}

static const struct option_row rows_of_remote_test[] = {DIST_TEST_ROWS, {0}};

const struct command compat_remote_test = {
	.name = "compat remote_test",
	.arguments = "[OPTIONS]",
	.one_line = "run TensorFlow's distributed test elsewhere; now 'muster check remote'",
	.examples =
		"  TF_DIST_GRPC_SERVER_URL=grpc://host:2222 muster compat remote_test\n"
		"\n"
		"Variables: TF_DIST_GRPC_SERVER_URL, the servers to test, now check --servers;\n"
		"TF_DIST_GRPC_PORT, their port where the URL has none; without a URL,\n"
		"TF_DIST_SERVER_DOCKER_IMAGE, the image of servers that are made, now check\n"
		"--on kubernetes --image. Read, and said to have no effect:\n"
		"TF_DIST_GCLOUD_PROJECT, TF_DIST_GCLOUD_COMPUTE_ZONE,\n"
		"TF_DIST_GCLOUD_KEY_FILE_DIR, CONTAINER_CLUSTER.\n",
	.options = rows_of_remote_test,
	.run = remote_test_run,
};
