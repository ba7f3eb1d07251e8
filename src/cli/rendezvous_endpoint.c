#include "cli/rendezvous_endpoint.h"

#include "base/mem.h"
#include "cli/cluster_support.h"
#include "command/input.h"
#include "rendezvous/member_wire.h"
#include "spec/cluster_address.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define HTTPS "https://"
#define PIN "sha256//"
#define SHORTEST_TOKEN_OF_KEY 32 /* characters; a token that cannot be guessed */

void rendezvous_endpoint_done(struct rendezvous_endpoint *endpoint)
{
	free(endpoint->host);
	free(endpoint->pin);
	mem_free_secret(&endpoint->token);
}

const char *rendezvous_variable(const char *name)
{
	char *variable CLEANUP(mem_free_text) = mem_format("PET_%s", name);

	for (char *at = variable; *at; at++)
		*at = *at == '-' ? '_' : (char) toupper((unsigned char) *at);
	return getenv(variable);
}

const char *rendezvous_option(const struct options *options, const char *name)
{
	const char *value = option_text(options, name);

	return value ? value : rendezvous_variable(name);
}

bool rendezvous_flag(const struct options *options, const char *name)
{
	if (option_is_given(options, name))
		return option_flag(options, name);
	const char *value = rendezvous_variable(name);

	return value && *value && !text_equals(value, "0");
}

void rendezvous_endpoint_read(const char *word, struct rendezvous_endpoint *endpoint,
			      struct text *faults)
{
	bool is_tls = text_starts_with(word, HTTPS);
	const char *host = is_tls ? word + strlen(HTTPS) : word;
	size_t offset;
	char *with_port CLEANUP(mem_free_text) = mem_format("%s:%d", host, MEMBER_PORT);
	const char *address = address_fault(host, &offset) ? with_port : host;
	const char *fault = address_fault(address, &offset);

	if (fault) {
		text_addf(faults, "--rdzv-endpoint: '%s': %s\n", word, fault);
		return;
	}
	endpoint->host = address_host(address);
	endpoint->port = address_port(address);
	endpoint->is_tls |= is_tls;
}

static int read_endpoint_token(const char *path, struct rendezvous_endpoint *endpoint,
			       struct err *err)
{
	if (!path)
		return 0;
	int rc = input_read_secret(path, &endpoint->token, err);

	if (rc == 0 && endpoint->token && text_starts_with(endpoint->token, "sha256:"))
		rc = err_set(err, ERR_INVALID,
			     "%s has the hash of a token, which only servers take: give the token "
			     "itself",
			     path);
	/* Otherwise muster-kubernetes reads it again. */
	if (rc == 0 && (cluster_support || !endpoint->is_tls))
		input_warn_if_shared(path);
	return rc;
}

/* Every process that knows the token knows its key. */
static void read_token_key(struct rendezvous_endpoint *endpoint, struct text *faults)
{
	if (endpoint->pin)
		text_add(faults, "--rdzv-tls: cannot be used with --rdzv-pin\n");
	else if (!endpoint->token)
		text_add(faults, "--rdzv-tls: needs --rdzv-token-file\n");
	else if (strlen(endpoint->token) < SHORTEST_TOKEN_OF_KEY)
		text_addf(faults,
			  "--rdzv-tls: the token must have at least %d characters, because the "
			  "key is made from it; to make one: muster orchestrator --make-token "
			  "token\n",
			  SHORTEST_TOKEN_OF_KEY);
	else if (cluster_support)
		endpoint->pin = cluster_support->pin_of_token(endpoint->token);
}

void rendezvous_endpoint_read_trust(const struct options *options,
				    struct rendezvous_endpoint *endpoint, struct text *faults)
{
	const char *pin = rendezvous_option(options, "rdzv-pin");
	struct err err;

	if (pin && !text_starts_with(pin, PIN))
		text_addf(faults, "--rdzv-pin: '%s' is not a pin (expected " PIN "...)\n", pin);
	endpoint->pin = mem_copy_text(pin);
	endpoint->has_token_key = rendezvous_flag(options, "rdzv-tls");
	endpoint->is_tls |= pin || endpoint->has_token_key;
	if (read_endpoint_token(rendezvous_option(options, "rdzv-token-file"), endpoint, &err) < 0)
		text_addf(faults, "--rdzv-token-file: %s\n", err.text);
	else if (endpoint->has_token_key)
		read_token_key(endpoint, faults);
}

const char *rendezvous_endpoint_pin_advice(const struct rendezvous_endpoint *endpoint)
{
	return endpoint->has_token_key
		       ? "with --rdzv-tls, the server must be an agent with the same token"
		       : NULL;
}
