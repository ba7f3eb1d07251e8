#include "cli/cluster_support.h"
#include "cli/server_access.h"

#include "cli/kube_cluster.h"
#include "command/command.h"
#include "command/input.h"
#include "command/output.h"
#include "operator/operator.h"
#include "serve/master.h"

#include <assert.h>

#define LEASE_NAME "muster-serve"
#define PROGRAM_IN_IMAGE "/usr/local/libexec/muster/muster-static"

struct front {
	const struct options *options;
	struct listening listening;
	struct server_access access;
	const char *namespace_name;
	struct json *template; /* NULL: none */
	struct master *master;
};

static void front_done(struct front *front)
{
	listening_done(&front->listening);
	server_access_done(&front->access);
	json_free(front->template);
}

static int start_http_server(const struct operator_host *host, void *data, struct err *err)
{
	struct front *front = data;
	const struct master_settings settings = {
		.host = *host,
		.listening = &front->listening,
		.tls = front->access.tls,
		.namespace_name = front->namespace_name,
		.access = front->access.access,
		.program_image = option_text(front->options, "image"),
		.program_path = PROGRAM_IN_IMAGE,
		.template = front->template,
	};
	int rc = master_new(&settings, &front->master, err);

	if (rc < 0)
		return rc;
	output_print_message("jobs of namespace '%s' are created at http%s://%s/create",
			     front->namespace_name, front->access.tls ? "s" : "",
			     front->listening.address);
	if (front->access.pin)
		output_print_message(
			"if no authority signed the certificate, clients need: --pin %s",
			front->access.pin);
	return 0;
}

static void end_front(void *data)
{
	struct front *front = data;

	master_free(TAKE(front->master));
}

static int serve_jobs_on_cluster(struct front *front, struct err *err)
{
	const char *template = option_text(front->options, "pod-file");
	struct kube_config *config CLEANUP(kube_config_cleanup) = NULL;
	int rc = listening_open(option_text(front->options, "listen"), &front->listening, err);

	if (rc < 0)
		return err_prefix(err, "--listen");
	rc = server_access_open(front->options, front->listening.fd, &front->access, err);
	/* The defaults of all jobs, as TF-Spawner has it. */
	if (rc == 0 && template)
		rc = input_read_object(template, &front->template, err);
	if (rc == 0)
		rc = kube_cluster_read_config(front->options, &config, err);
	if (rc < 0)
		return rc;
	assert(config);
	front->namespace_name = config->namespace_name;
	const char *const namespaces[] = {front->namespace_name, NULL};
	const struct operator_settings settings = {
		.log_in = kube_cluster_log_in,
		.log_in_data = (void *) front->options,
		.namespaces = namespaces,
		.start_http_server = start_http_server,
		.end_front = end_front,
		.http_server_data = front,
		.lease_name = option_flag(front->options, "leader-elect") ? LEASE_NAME : NULL,
		.say = output_print_sentence,
	};

	return operator_run(&settings, err);
}

int serve_on_cluster(const struct options *options)
{
	struct front front CLEANUP(front_done) = {.options = options, .listening = {.fd = -1}};
	const char *token_file = option_text(options, "make-token");
	struct err err = {0};

	if (token_file)
		return server_files_create_token(token_file);
	if (serve_jobs_on_cluster(&front, &err) == 0)
		return EXIT_DONE;
	return err.code == ERR_REFUSED ? output_fail(&err) : kube_cluster_fail(&err);
}
