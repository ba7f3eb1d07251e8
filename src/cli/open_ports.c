#include "cli/open_ports.h"

#include "base/mem.h"
#include "base/text.h"
#include "cli/output.h"
#include "io/listener.h"

#include <stdlib.h>
#include <string.h>

#define LOOPBACK "127.0.0.1"
#define LOOPBACK_6 "::1"

struct open_port {
	const struct open_ports *ports;
	struct listener *listener; /* NULL: this machine has no such address */
	const char *address;
	int remote;
};

struct open_ports {
	struct open_ports_request request; /* its callback */
	struct open_port *list; /* grows no more once something listens */
	size_t count;
};

static void on_connection(int take_fd, void *data)
{
	const struct open_port *port = data;
	const struct open_ports_request *request = &port->ports->request;

	request->on_connection(take_fd, port->remote, request->data);
}

static void on_trouble(const struct err *err, void *data)
{
	(void) data;
	output_say("%s", err->text);
}

static int open_one(struct open_ports *ports, const char *address, int local, int remote,
		    struct err *err)
{
	struct open_port *port = &ports->list[ports->count++];
	const struct listener_request request = {
		.address = address,
		.port = local,
		.on_connection = on_connection,
		.on_trouble = on_trouble,
		.data = port,
	};

	*port = (struct open_port){.ports = ports, .address = address, .remote = remote};
	return listener_new(ports->request.loop, &request, &port->listener, err);
}

/* The port that the kernel has chosen on the one may be taken on the other; a caller that looks for
 * `localhost` tries both. */
static int open_loopback(struct open_ports *ports, const struct port_pair *pair, struct err *err)
{
	int rc = open_one(ports, LOOPBACK, pair->local, pair->remote, err);

	if (rc < 0)
		return rc;
	int local = listener_port(ports->list[ports->count - 1].listener);

	rc = open_one(ports, LOOPBACK_6, local, pair->remote, err);
	if (rc == ERR_NOT_FOUND || (rc == ERR_EXISTS && !pair->local))
		return 0;
	return rc;
}

int open_ports_new(const struct open_ports_request *request, struct open_ports **ret_ports,
		   struct err *err)
{
	struct open_ports *ports = mem_new(sizeof(*ports));
	int rc = 0;

	ports->request = *request;
	ports->list = mem_new_array(2 * request->n_pairs, sizeof(*ports->list));
	for (size_t i = 0; i < request->n_pairs && rc == 0; i++)
		rc = request->address ? open_one(ports, request->address, request->pairs[i].local,
						 request->pairs[i].remote, err)
				      : open_loopback(ports, &request->pairs[i], err);
	if (rc < 0)
		open_ports_free(ports);
	else
		*ret_ports = ports;
	return rc;
}

void open_ports_free(struct open_ports *ports)
{
	if (!ports)
		return;
	for (size_t i = 0; i < ports->count; i++)
		listener_free(ports->list[i].listener);
	free(ports->list);
	free(ports);
}

void open_ports_enable(struct open_ports *ports, bool is_enabled)
{
	for (size_t i = 0; i < ports->count; i++)
		if (ports->list[i].listener)
			listener_enable(ports->list[i].listener, is_enabled);
}

void open_ports_print(const struct open_ports *ports)
{
	struct text text CLEANUP(text_done) = {0};

	for (size_t i = 0; i < ports->count; i++) {
		const struct open_port *port = &ports->list[i];
		bool is_6 = strchr(port->address, ':');

		if (port->listener)
			text_addf(&text, "Forwarding from %s%s%s:%d -> %d\n", is_6 ? "[" : "",
				  port->address, is_6 ? "]" : "", listener_port(port->listener),
				  port->remote);
	}
	output_add(&text);
	output_flush();
}
