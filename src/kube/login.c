/* Secrets are overwritten before their memory is freed. */
#include "kube/login.h"

#include "base/base64.h"
#include "base/mem.h"
#include "base/text.h"

#include <ctype.h>

#define DEFAULT_NAMESPACE "default" /* as kubectl's, if a context names none */

struct kube_login *kube_login_new(const char *server)
{
	struct kube_login *login = mem_new(sizeof(*login));
	size_t len = strlen(server);

	while (len && server[len - 1] == '/')
		len--;
	login->server = mem_copy_bytes(server, len);
	login->namespace_name = mem_copy_text(DEFAULT_NAMESPACE);
	login->expires_at = MSEC_NEVER;
	login->refresh_at = INSTANT_NEVER;
	return login;
}

void kube_credential_done(struct kube_credential *credential)
{
	mem_free_secret(&credential->token);
	mem_free_secret(&credential->user_name);
	mem_free_secret(&credential->password);
	mem_free_secret(&credential->client_certificate);
	mem_free_secret(&credential->client_key);
	*credential = (struct kube_credential){0};
}

void kube_credential_replace(struct kube_credential *credential, struct kube_credential take_new)
{
	kube_credential_done(credential);
	*credential = take_new;
}

void kube_login_free(struct kube_login *login)
{
	if (!login)
		return;
	if (login->free_source)
		login->free_source(login->source);
	kube_credential_done(&login->credential);
	free(login->server);
	free(login->namespace_name);
	free(login->authority);
	free(login->tls_server_name);
	mem_free_secret(&login->proxy);
	free(login);
}

void kube_login_cleanup(struct kube_login **login)
{
	kube_login_free(*login);
}

static void add_kube_header_line(struct kube_headers *headers, char *take_line)
{
	/* One more for the NULL at the end, because new memory is not zeroed. */
	mem_grow(&headers->lines, &headers->capacity, headers->n_lines + 1,
		 sizeof(*headers->lines));
	headers->lines[headers->n_lines++] = take_line;
	headers->lines[headers->n_lines] = NULL;
}

void kube_headers_add(struct kube_headers *headers, const char *name, const char *value)
{
	add_kube_header_line(headers, mem_format("%s: %s", name, value));
}

/* RFC 7617; few servers accept it. */
static void add_basic(struct kube_headers *headers, const struct kube_credential *credential)
{
	char *pair CLEANUP(mem_free_text) = mem_format(
		"%s:%s", credential->user_name, credential->password ? credential->password : "");
	struct text line CLEANUP(text_done) = {0};

	text_add(&line, "Authorization: Basic ");
	base64_add(&line, pair, strlen(pair));
	explicit_bzero(pair, strlen(pair));
	add_kube_header_line(headers, text_take(&line));
}

/* The key is part of the header's name. Invalid characters are escaped, and case is lost (the API
 * server's rule for Impersonate-Extra). */
static void add_extra(struct kube_headers *headers, const struct kube_variable *extra)
{
	struct text name CLEANUP(text_done) = {0};

	text_add(&name, "Impersonate-Extra-");
	for (const char *byte = extra->name; *byte; byte++)
		if (isalnum((unsigned char) *byte) || strchr("-._~", *byte))
			text_add_char(&name, (char) tolower((unsigned char) *byte));
		else
			text_addf(&name, "%%%02X", (unsigned char) *byte);
	kube_headers_add(headers, text_of(&name), extra->value);
}

void kube_headers_add_login(struct kube_headers *headers, const struct kube_login *login)
{
	const struct kube_credential *credential = &login->credential;
	const struct kube_impersonation *other = &login->impersonation;

	if (credential->token)
		add_kube_header_line(headers,
				     mem_format("Authorization: Bearer %s", credential->token));
	else if (credential->user_name)
		add_basic(headers, credential);
	if (other->user_name)
		kube_headers_add(headers, "Impersonate-User", other->user_name);
	if (other->uid)
		kube_headers_add(headers, "Impersonate-Uid", other->uid);
	for (size_t i = 0; i < other->n_groups; i++)
		kube_headers_add(headers, "Impersonate-Group", other->groups[i]);
	for (size_t i = 0; i < other->n_extras; i++)
		add_extra(headers, &other->extras[i]);
}

void kube_headers_done(struct kube_headers *headers)
{
	for (size_t i = 0; i < headers->n_lines; i++) {
		explicit_bzero(headers->lines[i], strlen(headers->lines[i]));
		free(headers->lines[i]);
	}
	free(headers->lines);
	*headers = (struct kube_headers){0};
}
