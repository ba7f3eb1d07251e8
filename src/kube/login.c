/* Memory of a login; secrets are overwritten before it is freed. */
#include "kube/login.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

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

static void free_impersonation(struct kube_impersonation *impersonation)
{
	for (size_t i = 0; i < impersonation->n_groups; i++)
		free(impersonation->groups[i]);
	for (size_t i = 0; i < impersonation->n_extras; i++) {
		free(impersonation->extras[i].key);
		free(impersonation->extras[i].value);
	}
	free(impersonation->groups);
	free(impersonation->extras);
	free(impersonation->user_name);
	free(impersonation->uid);
}

void kube_login_free(struct kube_login *login)
{
	if (!login)
		return;
	if (login->free_source)
		login->free_source(login->source);
	kube_credential_done(&login->credential);
	free_impersonation(&login->impersonation);
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
