/* python -m tensorflow_elastic.distributed.launch of TensorFlow Elastic: an orchestrator, or an
 * agent of one. Both are now muster's. */
#include "base/mem.h"
#include "command/command.h"
#include "command/options.h"
#include "command/output.h"
#include "compat/call.h"

#include <string.h>

/* The old server listened on all addresses, whatever its endpoint: even if it was started with
 * localhost, agents of other machines connect to it. */
static int orchestrator_run(const struct options *old)
{
	struct call call CLEANUP(call_done) = {0};
	const char *endpoint = option_text(old, "rdzv-endpoint");
	const char *colon = strrchr(endpoint, ':');

	if (!colon || !colon[1])
		return output_fail_with(
			EXIT_USAGE, "compat tensorflow_elastic: --rdzv_endpoint: '%s' has no port",
			endpoint);
	char *address CLEANUP(mem_free_text) = mem_format("0.0.0.0%s", colon);

	call_add(&call, "orchestrator");
	call_add_value(&call, "--listen", address);
	call_add(&call, "--insecure");
	return call_run(&call, old);
}

/* "HOST:PORT", "HOST" or "PORT". */
static void add_local_address(struct call *call, const char *address)
{
	const char *colon = address ? strrchr(address, ':') : NULL;
	bool is_port = address && *address && !address[strspn(address, "0123456789")];

	if (!address || !*address)
		return;
	if (is_port) {
		call_add_value(call, "--local-port", address);
		return;
	}
	char *host CLEANUP(mem_free_text) =
		mem_copy_bytes(address, colon ? (size_t) (colon - address) : strlen(address));

	call_add_value(call, "--local-addr", host);
	if (colon)
		call_add_value(call, "--local-port", colon + 1);
}

static int agent_run(const struct options *old)
{
	struct call call CLEANUP(call_done) = {0};
	const char *const *arguments = options_arguments(old);
	const char *restarts = option_text(old, "max-restarts"); /* -1: no limit */

	call_add(&call, "launch");
	call_add_value(&call, "--nnodes", option_text(old, "nnodes"));
	call_add_value(&call, "--rdzv-endpoint", option_text(old, "rdzv-endpoint"));
	call_add_value(&call, "--rdzv-conf", "is_host=0");
	call_add_value(&call, "--max-restarts", restarts[0] == '-' ? "unlimited" : restarts);
	add_local_address(&call, option_text(old, "address"));
	call_add(&call, "--insecure"); /* as its orchestrator above */
	call_add_flag(&call, "--module", old, "module");
	call_add_flag(&call, "--no-python", old, "no-python");
	for (size_t i = 0; arguments[i]; i++)
		call_add(&call, arguments[i]);
	return call_run(&call, old);
}

static int elastic_run(const struct options *old)
{
	if (!options_arguments(old)[0])
		return output_fail_with(
			EXIT_USAGE,
			"compat tensorflow_elastic: missing script (with --standalone, any word)");
	return option_flag(old, "standalone") ? orchestrator_run(old) : agent_run(old);
}

static const struct option_row rows_of_elastic[] = {
	FLAG("standalone", "run the orchestrator; now 'muster orchestrator'"),
	OPTION("rdzv-endpoint", TEXT, "HOST:PORT", "localhost:29400",
	       "address of the orchestrator; now launch --rdzv-endpoint"),
	OPTION("nnodes", TEXT, "MIN:MAX", "1:1", "now launch --nnodes"),
	OPTION("address", TEXT, "HOST:PORT", NULL,
	       "address of the worker; now launch --local-addr and --local-port"),
	OPTION("max-restarts", TEXT, "N", "3", "now launch --max-restarts"),
	OPTION("monitor-interval", TEXT, "SECONDS", NULL,
	       "accepted, no effect: exits are noticed immediately"),
	OPTION("rdzv-id", TEXT, "ID", NULL, "accepted, no effect, as before"),
	OPTION("start-method", TEXT, "NAME", NULL, "accepted, no effect"),
	FLAG("module", "now launch --module", .letter = 'm'),
	FLAG("no-python", "now launch --no-python"),
	CALL_ROWS,
	{0},
};

const struct command compat_tensorflow_elastic = {
	.name = "compat tensorflow_elastic",
	.arguments = "[OPTIONS] SCRIPT.py [ARGS...]",
	.one_line = "run TensorFlow Elastic's launcher; now 'muster launch'",
	.examples = "  muster compat tensorflow_elastic --standalone "
		    "--rdzv_endpoint=localhost:5556 start\n"
		    "  muster compat tensorflow_elastic --address=localhost:5555 --nnodes=1:2 \\\n"
		    "          --rdzv_endpoint=localhost:5556 train.py\n",
	.options = rows_of_elastic,
	.takes_program = true,
	.run = elastic_run,
};
