/* Judges what the processes of a job need to find each other on this machine. */
#include "core/doctor_parts.h"

#include <stdio.h>

/* Fewer ports than this are gone with a few jobs of some replicas. */
#define PORTS_ADVISED 100

static void judge_ports(struct judgement *judgement)
{
	const struct doctor_network *network = &judgement->facts->network;
	const char *mend = "sudo sysctl -w net.ipv4.ip_local_port_range='32768 60999'";

	if (network->port_fault)
		judgement_add(judgement, "ports", DOCTOR_MISSING, mend, "%s", network->port_fault);
	else if (network->high_port - network->low_port + 1 < PORTS_ADVISED)
		judgement_add(judgement, "ports", DOCTOR_WARNING, mend,
			      "%d to %d are few: the kernel's own range takes the others",
			      network->low_port, network->high_port);
	else
		judgement_add(judgement, "ports", DOCTOR_OK, NULL, "%d to %d", network->low_port,
			      network->high_port);
}

static void judge_loopback(struct judgement *judgement)
{
	const char *fault = judgement->facts->network.loopback_fault;

	if (fault)
		judgement_add(judgement, "loopback", DOCTOR_MISSING, "sudo ip link set lo up", "%s",
			      fault);
	else
		judgement_add(judgement, "loopback", DOCTOR_OK, NULL, "127.0.0.1 answers");
}

/* Jobs here use 127.0.0.1; programs that ask for their own name stumble all the same. */
static void judge_host_name(struct judgement *judgement)
{
	const struct doctor_network *network = &judgement->facts->network;

	if (network->host_fault)
		judgement_add(judgement, "host name", DOCTOR_WARNING,
			      arena_format(judgement->arena,
					   "echo '127.0.1.1 %s' | sudo tee -a /etc/hosts",
					   network->host_name),
			      "%s: %s", network->host_name, network->host_fault);
	else
		judgement_add(judgement, "host name", DOCTOR_OK, NULL, "%s", network->host_name);
}

void judge_network(struct judgement *judgement)
{
	judge_loopback(judgement);
	judge_ports(judgement);
	judge_host_name(judgement);
}
