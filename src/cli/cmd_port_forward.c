/* muster port-forward: forwards a port of this machine to a job's replica. */
#include "base/mem.h"
#include "base/text.h"
#include "cli/cluster_support.h"
#include "cli/commands.h"
#include "cli/kube_cluster.h"
#include "cli/lookup.h"
#include "cli/replica_name.h"
#include "command/options.h"
#include "command/output.h"
#include "spec/job.h"
#include "status/status.h"

#include <stdlib.h>

/* The selected replica, in whichever Pod it is. */
struct target {
	const struct options *options; /* these select its cluster */
	char *namespace_name; /* NULL: a local job */
	char *job;
	char *replica; /* "worker-0" */
	char *pod;
	char *address; /* of a running replica on this machine, if known; else NULL */
	bool is_tfjob; /* an operator manages it */
	bool is_over;
	bool has_private_network;
};

static void target_done(struct target *target)
{
	free(target->namespace_name);
	free(target->job);
	free(target->replica);
	free(target->pod);
	free(target->address);
}

static int choose_replica(const struct job *job, const struct port_arguments *arguments,
			  struct target *target, struct err *err)
{
	const char *name = arguments->role ? arguments->role : job_default_role(job)->name;
	const struct role *role = job_role(job, name);

	if (!role || arguments->index >= role->replicas)
		return err_set(err, ERR_NOT_FOUND, "job '%s' has no %s-%d", job->name, name,
			       arguments->index);
	target->replica = mem_format("%s-%d", name, arguments->index);
	target->pod = job_pod_name(job, role, arguments->index);
	return 0;
}

static int read_target_status(const struct json *tfjob, struct target *target, struct err *err)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct status status;
	int rc = status_read(json_get(tfjob, "status"), arena, &status, err);

	if (rc < 0)
		return rc;
	target->is_over = status_is_finished(&status);
	for (size_t i = 0; i < status.n_replicas; i++) {
		const struct replica_status *replica = &status.replicas[i];
		char *name CLEANUP(mem_free_text) =
			mem_format("%s-%d", replica->role, replica->index);

		if (text_equals(name, target->replica))
			target->address = mem_copy_text(replica->address);
	}
	return 0;
}

static int find_target(struct lookup *lookup, const char *job_argument,
		       const struct port_arguments *arguments, struct target *target,
		       struct err *err)
{
	struct json *tfjob CLEANUP(json_cleanup) = NULL;
	struct found_job found = {0};
	struct job *job = NULL;
	int rc = lookup_job(lookup, job_argument, &found, err);

	if (rc == 0)
		rc = found.client->functions->get(found.client, found.name, &tfjob, err);
	if (rc == 0)
		rc = client_read_job(tfjob, &job, err);
	if (rc != 0)
		return rc;
	target->options = found.options;
	target->namespace_name = mem_copy_text(lookup_namespace(&found));
	target->job = mem_copy_text(found.name);
	target->is_tfjob = client_job_is_served(tfjob);
	target->has_private_network = job->has_private_network;
	rc = choose_replica(job, arguments, target, err);
	job_free(job);
	return rc < 0 ? rc : read_target_status(tfjob, target, err);
}

static int refuse_local(const struct target *target, const struct port_arguments *arguments)
{
	struct text text CLEANUP(text_done) = {0};

	if (target->is_over) {
		output_print_message("job '%s' has ended, so it has no ports to forward",
				     target->job);
		return EXIT_FAILED;
	}
	if (target->has_private_network) {
		output_print_message(
			"job '%s' runs in a private network; reach it from inside: muster exec "
			"%s %s -- COMMAND",
			target->job, target->job, target->replica);
		return EXIT_REFUSED;
	}
	text_addf(&text, "job '%s' runs on this machine; use its ports directly: localhost:%d",
		  target->job, arguments->pairs[0].remote);
	if (target->address)
		text_addf(&text, "; the port of TensorFlow in %s is %s", target->replica,
			  target->address);
	output_print_message("%s", text_of(&text));
	return EXIT_REFUSED;
}

static int forward(const struct target *target, const struct port_arguments *arguments)
{
	const char *address = option_text(target->options, "address");
	const struct port_forward_call call = {
		.options = target->options,
		.namespace_name = target->namespace_name,
		.job = target->job,
		.is_tfjob = target->is_tfjob,
		.replica = target->replica,
		.pod = target->pod,
		.address = text_equals(address, "localhost") ? NULL : address,
		.ports = arguments,
	};

	return cluster_support->forward_ports(&call);
}

static int port_forward_run(const struct options *options)
{
	struct port_arguments ports CLEANUP(port_arguments_done) = {0};
	struct lookup *lookup CLEANUP(lookup_cleanup) = lookup_new(options);
	struct target target CLEANUP(target_done) = {0};
	struct err err = {0};
	size_t count; /* at least two, by the table */
	const char *const *arguments = options_arguments(options, &count);

	if (port_arguments_read(arguments + 1, count - 1, &ports, &err) < 0 ||
	    find_target(lookup, arguments[0], &ports, &target, &err) < 0)
		return output_fail(&err);
	return target.namespace_name ? forward(&target, &ports) : refuse_local(&target, &ports);
}

static const struct option_row rows_of_port_forward[] = {
	OPTION("address", TEXT, "ADDRESS", "localhost",
	       "local address to listen on (localhost: 127.0.0.1 and ::1)"),
	CLUSTER_JOB_ROWS,
	{0},
};

const struct command command_port_forward = {
	.name = "port-forward",
	.group = "Inspect",
	.arguments = "[OPTIONS] JOB [ROLE-INDEX] [LOCAL:]REMOTE...",
	.one_line = "forward local ports to a job's Pod",
	.examples = "  muster port-forward digits-x7k2p 6006\n"
		    "  muster port-forward digits-x7k2p worker-1 6009 8080:80\n"
		    "  muster port-forward kubernetes/research/digits-x7k2p :8888\n",
	.options = rows_of_port_forward,
	.least_arguments = 2,
	.most_arguments = COMMAND_ANY_NUMBER,
	.run = port_forward_run,
};
