/* muster port-forward: forwards a port of this machine to a job's replica. */
#include "base/mem.h"
#include "cli/cluster_support.h"
#include "cli/commands.h"
#include "cli/found_job.h"
#include "cli/kube_cluster.h"
#include "cli/replica_name.h"
#include "spec/job.h"
#include "status/status.h"

static int refuse_local(const struct job_state *state, const struct role *role,
			const char *replica_name, const struct port_arguments *ports)
{
	const struct replica_status *replica =
		status_replica(&state->status, role->name, ports->replica.index);
	const char *job = state->job->name;
	struct text text CLEANUP(text_done) = {0};

	if (status_is_finished(&state->status))
		return output_fail_with(EXIT_FAILED,
					"job '%s' has ended, so it has no ports to forward", job);
	if (state->job->has_private_network)
		return output_fail_with(
			EXIT_REFUSED,
			"job '%s' runs in a private network; reach it from inside: muster exec "
			"%s %s -- COMMAND",
			job, job, replica_name);
	text_addf(&text, "job '%s' runs on this machine; use its ports directly: localhost:%d", job,
		  ports->pairs[0].remote);
	if (replica && replica->address)
		text_addf(&text, "; the port of TensorFlow in %s is %s", replica_name,
			  replica->address);
	return output_fail_with(EXIT_REFUSED, "%s", text_of(&text));
}

static int port_forward_run(const struct options *options)
{
	struct port_arguments ports CLEANUP(port_arguments_done) = {0};
	struct lookup *lookup CLEANUP(lookup_cleanup) = lookup_new(options);
	struct job_state state CLEANUP(job_state_done) = {0};
	struct found_job found = {0};
	struct err err = {0};
	const char *const *arguments = options_arguments(options); /* at least two, by the table */

	if (port_arguments_read(arguments + 1, &ports, &err) < 0 ||
	    lookup_job(lookup, arguments[0], &found, &err) < 0 ||
	    job_state_read_job(&found, &state, &err) < 0)
		return output_fail(&err);
	const struct role *role = job_choose_replica(state.job, &ports.replica, &err);

	if (!role)
		return output_fail(&err);
	char *replica CLEANUP(mem_free_text) = mem_format("%s-%d", role->name, ports.replica.index);
	char *pod CLEANUP(mem_free_text) = job_pod_name(state.job, role, ports.replica.index);
	const char *address = option_text(found.options, "address");
	const struct port_forward_call call = {
		.options = found.options,
		.namespace_name = found.namespace_name,
		.job = found.name,
		.is_tfjob = client_job_is_served(state.object),
		.replica = replica,
		.pod = pod,
		.address = text_equals(address, "localhost") ? NULL : address,
		.ports = &ports,
	};

	return call.namespace_name ? cluster_support->forward_ports(&call)
				   : refuse_local(&state, role, replica, &ports);
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
