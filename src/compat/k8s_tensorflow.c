/* k8s_tensorflow.py of TensorFlow's tools/dist_test: the objects of a cluster of servers. */
#include "kube/k8s_tensorflow.h"
#include "base/text.h"
#include "command/command.h"
#include "command/options.h"
#include "command/output.h"
#include "compat/call.h"
#include "spec/limits.h"

/* Returns false if there are too few, after printing the old message. */
static bool is_enough(const struct options *old, const char *option, const char *old_name)
{
	int64_t number = option_number(old, option, 0);
	struct text text CLEANUP(text_done) = {0};

	if (number > 0)
		return true;
	text_addf(&text, "--%s must be greater than 0; received %lld\n", old_name,
		  (long long) number);
	output_print_errors(&text);
	return false;
}

static int k8s_tensorflow_run(const struct options *old)
{
	struct call call CLEANUP(call_done) = {0};

	if (!is_enough(old, "num-workers", "num_workers") ||
	    !is_enough(old, "num-parameter-servers", "num_parameter_servers"))
		return EXIT_FAILED;
	call_add(&call, "render");
	call_add_value(&call, "--as", "k8s-tensorflow");
	call_add_value(&call, "--workers", option_text(old, "num-workers"));
	call_add_value(&call, "--ps", option_text(old, "num-parameter-servers"));
	call_add_value(&call, "--grpc-port", option_text(old, "grpc-port"));
	call_add_value(&call, "--image", option_text(old, "docker-image"));
	if (text_equals_ignoring_case(option_text(old, "request-load-balancer"), "true"))
		call_add(&call, "--request-load-balancer");
	return call_run(&call, old);
}

static const struct option_row rows_of_k8s_tensorflow[] = {
	OPTION("num-workers", NUMBER, "N", "2", "now render --workers", .low = INT32_MIN,
	       .high = LIMIT_REPLICAS),
	OPTION("num-parameter-servers", NUMBER, "N", "1", "now render --ps", .low = INT32_MIN,
	       .high = LIMIT_REPLICAS),
	OPTION("grpc-port", NUMBER, "PORT", "2222", "now render --grpc-port", .low = 1,
	       .high = 65535),
	WORDS("request-load-balancer", "true|false|True|False", "false",
	      "now render --request-load-balancer"),
	OPTION("docker-image", TEXT, "IMAGE", K8S_TENSORFLOW_IMAGE, "now render --image"),
	CALL_ROWS,
	{0},
};

const struct command compat_k8s_tensorflow = {
	.name = "compat k8s_tensorflow",
	.arguments = "[OPTIONS]",
	.one_line = "print a cluster of TensorFlow servers as YAML; now 'muster render'",
	.examples = "  muster compat k8s_tensorflow --num_workers 2 > servers.yaml\n"
		    "  muster compat k8s_tensorflow --request_load_balancer true --docker_image "
		    "me/server \\\n"
		    "          | kubectl create -f -\n",
	.options = rows_of_k8s_tensorflow,
	.run = k8s_tensorflow_run,
};
