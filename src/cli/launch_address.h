/* Where the machines of `muster launch` meet, and where rank 0 listens.
 *
 * torchrun has two kinds of rendezvous. With c10d, the machines meet at --rdzv-endpoint, and rank 0
 * chooses its address and port. With a static one, the user gives both as --master-addr and
 * --master-port (or --rdzv-endpoint), and every process gets exactly these as MASTER_ADDR and
 * MASTER_PORT. The process with rank 0 opens that port itself, so our server uses another one.
 *
 * Source: torch/distributed/run.py of PyTorch 2.15 (get_rdzv_endpoint, config_from_args). */
#pragma once

#include "base/text.h"
#include "cli/rendezvous_endpoint.h"
#include "command/options.h"
#include "spec/slurm_step.h"

/* The server of a static rendezvous is at a port this much lower, or higher if the port is below
 * twice that, so that all machines find it without another option. */
#define LAUNCH_SERVER_DISTANCE 10000

struct launch_address {
	char *master_host; /* MASTER_ADDR as the user spelled it; NULL: rank 0 chooses */
	int master_port; /* MASTER_PORT likewise; 0 */
	bool is_shared; /* machines may meet: the id of a job is not random */
};

void launch_address_done(struct launch_address *address);
/* Reads --rdzv-backend, --rdzv-endpoint, --master-addr, --master-port and --standalone. `endpoint`
 * gets no host if no other machine joins; with `step`, its first node has the server unless one is
 * given. Each error is a line of `faults`. */
void launch_address_read(const struct options *options, bool is_single,
			 const struct slurm_step *step, struct launch_address *ret_address,
			 struct rendezvous_endpoint *endpoint, struct text *faults);
