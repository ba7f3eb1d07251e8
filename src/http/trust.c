#include "http/trust.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct http_trust {
	struct http_trust_parts parts;
	/* The memory of `parts`. */
	char *authority, *client_certificate, *client_key, *server_name, *pin;
	int n_references;
};

struct http_trust *http_trust_new(const struct http_trust_parts *parts)
{
	struct http_trust *trust = mem_new(sizeof(*trust));

	trust->n_references = 1;
	trust->authority = mem_copy_text(parts->authority);
	trust->client_certificate = mem_copy_text(parts->client_certificate);
	trust->client_key = mem_copy_text(parts->client_key);
	trust->server_name = mem_copy_text(parts->server_name);
	trust->pin = mem_copy_text(parts->pin);
	trust->parts = (struct http_trust_parts){
		.authority = trust->authority,
		.client_certificate = trust->client_certificate,
		.client_key = trust->client_key,
		.server_name = trust->server_name,
		.pin = trust->pin,
		.skips_verify = parts->skips_verify,
	};
	return trust;
}

struct http_trust *http_trust_ref(struct http_trust *trust)
{
	if (trust)
		trust->n_references++;
	return trust;
}

void http_trust_free(struct http_trust *trust)
{
	if (!trust || --trust->n_references > 0)
		return;
	if (trust->client_key)
		explicit_bzero(trust->client_key, strlen(trust->client_key));
	free(trust->client_key);
	free(trust->client_certificate);
	free(trust->authority);
	free(trust->server_name);
	free(trust->pin);
	free(trust);
}

const struct http_trust_parts *http_trust_parts(const struct http_trust *trust)
{
	static const struct http_trust_parts nothing = {0};

	return trust ? &trust->parts : &nothing;
}
