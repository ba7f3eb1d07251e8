/* Makes the rows of the report from facts: those of the network and of clusters, and all of them in
 * order. */
#include "doctor/findings.h"

#include "base/mem.h"
#include "base/names.h"

/* Ports, loopback, the machine's name. */

/* A few jobs of some replicas use up fewer ports than this. */
#define PORTS_ADVISED 100

static void evaluate_ports(struct evaluation *evaluation)
{
	const struct doctor_network *network = &evaluation->facts->network;
	const char *fix = "sudo sysctl -w net.ipv4.ip_local_port_range='32768 60999'";

	if (network->port_fault)
		finding_add(evaluation, "ports", DOCTOR_MISSING, fix, "%s", network->port_fault);
	else if (network->high_port - network->low_port + 1 < PORTS_ADVISED)
		finding_add(evaluation, "ports", DOCTOR_WARNING, fix,
			    "only %d to %d are available; the kernel's ephemeral port range uses "
			    "the others",
			    network->low_port, network->high_port);
	else
		finding_add(evaluation, "ports", DOCTOR_OK, NULL, "%d to %d", network->low_port,
			    network->high_port);
}

static void evaluate_loopback(struct evaluation *evaluation)
{
	const char *fault = evaluation->facts->network.loopback_fault;

	if (fault)
		finding_add(evaluation, "loopback", DOCTOR_MISSING, "sudo ip link set lo up", "%s",
			    fault);
	else
		finding_add(evaluation, "loopback", DOCTOR_OK, NULL, "127.0.0.1 answers");
}

/* Jobs on this machine use 127.0.0.1; programs that look up their own host name fail all the
 * same. */
static void evaluate_host_name(struct evaluation *evaluation)
{
	const struct doctor_network *network = &evaluation->facts->network;
	struct text fix CLEANUP(text_done) = {0};
	char *line CLEANUP(mem_free_text) = mem_format("127.0.1.1 %s", network->host_name);

	text_add(&fix, "echo ");
	shell_word_add(&fix, line);
	text_add(&fix, " | sudo tee -a /etc/hosts");
	if (network->host_fault)
		finding_add(evaluation, "host name", DOCTOR_WARNING,
			    arena_copy_text(evaluation->arena, text_of(&fix)), "%s: %s",
			    network->host_name, network->host_fault);
	else
		finding_add(evaluation, "host name", DOCTOR_OK, NULL, "%s", network->host_name);
}

/* Few users need one, so it is no fault if there is none. */
static void evaluate_private_network(struct evaluation *evaluation)
{
	const char *fault = evaluation->facts->network.private_fault;

	if (fault)
		finding_add(evaluation, "private net", DOCTOR_OK, NULL, "none: %s", fault);
	else
		finding_add(evaluation, "private net", DOCTOR_OK, NULL,
			    "available: muster run --private-network");
}

static void evaluate_network(struct evaluation *evaluation)
{
	evaluate_loopback(evaluation);
	evaluate_ports(evaluation);
	evaluate_host_name(evaluation);
	evaluate_private_network(evaluation);
}

/* The cluster, which is optional. */

#define EDIT "${EDITOR:-vi} \"${KUBECONFIG:-$HOME/.kube/config}\""
#define CHOOSE "kubectl config get-contexts"

static const char *whose(const struct evaluation *evaluation)
{
	const struct doctor_kubernetes *kubernetes = &evaluation->facts->kubernetes;

	if (!kubernetes->context)
		return "the service account of this Pod";
	return arena_format(evaluation->arena, "context '%s'%s%s%s", kubernetes->context,
			    kubernetes->user ? " as '" : "",
			    kubernetes->user ? kubernetes->user : "", kubernetes->user ? "'" : "");
}

static void evaluate_kubernetes(struct evaluation *evaluation)
{
	const struct doctor_kubernetes *kubernetes = &evaluation->facts->kubernetes;

	if (kubernetes->fault)
		finding_add(evaluation, "kubernetes", DOCTOR_WARNING,
			    kubernetes->is_malformed ? EDIT : CHOOSE, "%s", kubernetes->fault);
	else if (!kubernetes->server)
		finding_add(evaluation, "kubernetes", DOCTOR_OK, NULL,
			    "no kubeconfig; jobs can run on this machine only");
	else if (kubernetes->skips_verify)
		finding_add(evaluation, "kubernetes", DOCTOR_WARNING, EDIT,
			    "%s, %s, whose certificate is not verified (insecure-skip-tls-verify)",
			    kubernetes->server, whose(evaluation));
	else
		finding_add(evaluation, "kubernetes", DOCTOR_OK, NULL, "%s, %s, namespace '%s'",
			    kubernetes->server, whose(evaluation), kubernetes->namespace_name);
}

void doctor_evaluate(const struct doctor_facts *facts, struct arena *arena,
		     struct doctor_report *ret_report)
{
	struct evaluation evaluation = {.facts = facts, .arena = arena, .report = ret_report};

	*ret_report = (struct doctor_report){.n_rows = 0};
	evaluate_software(&evaluation);
	evaluate_network(&evaluation);
	evaluate_machine(&evaluation);
	evaluate_kubernetes(&evaluation);
}
