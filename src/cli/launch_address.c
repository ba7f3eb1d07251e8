#include "cli/launch_address.h"

#include "base/mem.h"
#include "spec/cluster_spec.h"

#define MASTER_HOST "127.0.0.1" /* torchrun's defaults */
#define MASTER_PORT 29500

/* The options as given; NULL: not given, or empty. */
struct given {
	const char *backend, *endpoint, *host, *port;
	int port_number; /* of `port` */
	bool is_single; /* the job has one machine */
};

void launch_address_done(struct launch_address *address)
{
	free(address->master_host);
}

static const char *read_given(const struct options *options, const char *name)
{
	const char *value = rendezvous_option(options, name);

	return value && *value ? value : NULL;
}

static bool is_static(const struct given *given)
{
	bool is_asked = text_equals(given->backend, "static");

	if (given->backend && !is_asked)
		return false;
	return given->port || (is_asked && given->endpoint) || (given->host && !given->is_single);
}

/* "[::1]" is "::1" in a variable. */
static char *host_without_brackets(const char *host)
{
	size_t len = strlen(host);
	bool has_brackets = host[0] == '[' && len > 2 && host[len - 1] == ']';

	return has_brackets ? mem_copy_bytes(host + 1, len - 2) : mem_copy_text(host);
}

static char *join_address(const char *host, int port)
{
	return mem_format(strchr(host, ':') ? "[%s]:%d" : "%s:%d", host, port);
}

/* --master-addr and --master-port; the host is that of the endpoint if only the port was given. */
static void read_master(const struct given *given, const struct rendezvous_endpoint *endpoint,
			struct launch_address *address, struct text *faults)
{
	const char *host = endpoint->host ? endpoint->host : MASTER_HOST;
	size_t offset;

	address->master_host = host_without_brackets(given->host ? given->host : host);
	address->master_port = given->port ? given->port_number : MASTER_PORT;
	char *joined CLEANUP(mem_free_text) =
		join_address(address->master_host, address->master_port);
	const char *fault = address->master_port ? address_fault(joined, &offset) : NULL;

	if (fault)
		text_addf(faults, "--master-addr: '%s': %s\n", address->master_host, fault);
	if (fault)
		address->master_port = 0;
}

/* A static rendezvous with an endpoint alone. */
static void read_master_of_endpoint(const struct given *given, struct launch_address *address,
				    struct text *faults)
{
	size_t offset;

	if (address_fault(given->endpoint, &offset)) {
		text_addf(faults,
			  "--rdzv-endpoint: '%s' is not HOST:PORT, which a static rendezvous "
			  "needs\n",
			  given->endpoint);
		return;
	}
	address->master_host = address_host(given->endpoint);
	address->master_port = address_port(given->endpoint);
}

static void read_static(const struct given *given, struct launch_address *address,
			struct rendezvous_endpoint *endpoint, struct text *faults)
{
	bool has_master = given->host || given->port;

	if (has_master && given->endpoint && !given->is_single)
		rendezvous_endpoint_read(given->endpoint, endpoint, faults);
	if (has_master)
		read_master(given, endpoint, address, faults);
	else
		read_master_of_endpoint(given, address, faults);
	if (!address->master_port || given->is_single || endpoint->host)
		return;
	bool is_low = address->master_port < 2 * LAUNCH_SERVER_DISTANCE;
	int port =
		address->master_port + (is_low ? LAUNCH_SERVER_DISTANCE : -LAUNCH_SERVER_DISTANCE);
	char *server CLEANUP(mem_free_text) = join_address(address->master_host, port);

	rendezvous_endpoint_read(server, endpoint, faults);
}

void launch_address_read(const struct options *options, bool is_single,
			 const struct slurm_step *step, struct launch_address *address,
			 struct rendezvous_endpoint *endpoint, struct text *faults)
{
	struct given given = {
		.backend = read_given(options, "rdzv-backend"),
		.endpoint = read_given(options, "rdzv-endpoint"),
		.host = read_given(options, "master-addr"),
		.port = read_given(options, "master-port"),
		.is_single = is_single,
	};
	int64_t port = 0;
	struct err err;

	*address = (struct launch_address){0};
	if (given.backend && !text_equals(given.backend, "c10d") &&
	    !text_equals(given.backend, "static"))
		text_addf(faults,
			  "--rdzv-backend: '%s' is not supported; use c10d, which needs no other "
			  "program\n",
			  given.backend);
	if (given.port && text_read_int(given.port, 1, UINT16_MAX, &port, &err) < 0)
		text_addf(faults, "--master-port: %s\n", err.text);
	given.port_number = (int) port;
	if (rendezvous_flag(options, "standalone"))
		return;
	/* "localhost:0" is torchrun's endpoint for a single machine. */
	if (text_equals(given.endpoint, "localhost:0") ||
	    text_equals(given.endpoint, "127.0.0.1:0"))
		given.endpoint = NULL;
	address->is_shared = !is_single || is_static(&given) || text_equals(given.backend, "c10d");
	if (is_static(&given))
		read_static(&given, address, endpoint, faults);
	else if (given.endpoint)
		rendezvous_endpoint_read(given.endpoint, endpoint, faults);
	else if (!is_single && step)
		*endpoint = (struct rendezvous_endpoint){.host = mem_copy_text(step->first_host),
							 .port = step->port};
	else if (!is_single)
		text_add(faults, "missing --rdzv-endpoint, the address of the rendezvous server "
				 "(or --master-addr and --node-rank)\n");
}
