#include "cli/rendezvous_endpoint.h"

#include "base/mem.h"
#include "cli/cluster_support.h"
#include "command/input.h"
#include "command/user_token.h"
#include "io/network_address.h"
#include "rendezvous/member_wire.h"
#include "spec/cluster_spec.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define HTTPS "https://"
#define PIN "sha256//"

void rendezvous_endpoint_done(struct rendezvous_endpoint *endpoint)
{
	free(endpoint->host);
	free(endpoint->pin);
	mem_free_secret(&endpoint->token);
	free(endpoint->token_advice);
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

static int read_token_file(const char *path, struct rendezvous_endpoint *endpoint, struct err *err)
{
	int rc = user_token_read_file(path, &endpoint->token, err);

	endpoint->token_advice = mem_copy_text("give that of the server: --rdzv-token-file");
	return rc < 0 ? err_prefix(err, "--rdzv-token-file") : 0;
}

static int read_user_token(bool creates, struct rendezvous_endpoint *endpoint, struct err *err)
{
	char *path CLEANUP(mem_free_text) = user_token_path();

	endpoint->token_advice =
		mem_format("copy the token of the server's user (~/.config/muster/token there) to "
			   "'%s', or use the same --rdzv-token-file on all machines, or --insecure",
			   path ? path : "~/.config/muster/token");
	return user_token_read(creates, &endpoint->token, err);
}

static bool is_insecure(const struct options *options)
{
	return rendezvous_flag(options, "insecure") &&
	       !rendezvous_option(options, "rdzv-token-file");
}

/* Only a server with this host needs a token. One that an authority signed may be anyone's: it does
 * not get the user's own. */
static int read_endpoint_token(const struct options *options, bool creates,
			       struct rendezvous_endpoint *endpoint, struct err *err)
{
	const char *path = rendezvous_option(options, "rdzv-token-file");

	if (path)
		return read_token_file(path, endpoint, err);
	bool is_known_by_authority = endpoint->is_tls && !endpoint->pin;

	if (endpoint->host && !is_insecure(options) && !is_known_by_authority)
		return read_user_token(creates, endpoint, err);
	endpoint->token_advice = mem_copy_text(is_known_by_authority ? "give it: --rdzv-token-file"
								     : "do not use --insecure");
	return 0;
}

/* Every process that knows the token knows its key. */
static int make_token_key(struct rendezvous_endpoint *endpoint, struct err *err)
{
	if (endpoint->pin)
		return err_set(err, ERR_INVALID, "--rdzv-tls: cannot be used with --rdzv-pin");
	if (!endpoint->token)
		return err_set(err, ERR_INVALID, "TLS needs a token: %s", endpoint->token_advice);
	endpoint->is_tls = endpoint->has_token_key = true;
	if (cluster_support)
		endpoint->pin = cluster_support->pin_of_token(endpoint->token);
	return input_check_key_secret(endpoint->token, "--rdzv-token-file", err);
}

void rendezvous_endpoint_read_trust(const struct options *options, bool creates,
				    struct rendezvous_endpoint *endpoint, struct text *faults)
{
	const char *pin = rendezvous_option(options, "rdzv-pin");
	bool wants_token_key = rendezvous_flag(options, "rdzv-tls");
	struct err err;

	if (pin && !text_starts_with(pin, PIN))
		text_addf(faults, "--rdzv-pin: '%s' is not a pin (expected " PIN "...)\n", pin);
	endpoint->pin = mem_copy_text(pin);
	endpoint->is_tls |= pin != NULL;
	int rc = read_endpoint_token(options, creates, endpoint, &err);

	if (rc == 0 && endpoint->host && !endpoint->is_tls && !is_insecure(options))
		wants_token_key |= !network_address_names_loopback(endpoint->host);
	if (rc == 0 && endpoint->host && wants_token_key)
		rc = make_token_key(endpoint, &err);
	if (rc < 0)
		text_addf(faults, "%s\n", err.text);
	else if (endpoint->token &&
		 (cluster_support || !endpoint->is_tls)) /* else it is read again */
		user_token_warn_if_shared(rendezvous_option(options, "rdzv-token-file"));
}
