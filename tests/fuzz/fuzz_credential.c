/* Any bytes as what a plug-in prints, as a certificate and as a token: none of them gives anything
 * by halves. */
#include "fuzz.h"

#include "base/mem.h"
#include "kube/credential.h"
#include "kube/plugin_call.h"

#include <stdlib.h>

static void check_answer(const char *bytes, size_t len)
{
	struct kube_credential credential CLEANUP(kube_credential_done) = {0};
	msec end = 0;

	if (kube_plugin_answer_read(bytes, len, "client.authentication.k8s.io/v1", &credential,
				    &end, NULL) < 0) {
		if (credential.token || credential.client_certificate || credential.client_key)
			abort();
		return;
	}
	if (!credential.client_certificate != !credential.client_key)
		abort();
	if (!credential.token && !credential.client_certificate)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	char *text CLEANUP(mem_free_text) = mem_copy_bytes(bytes, len);

	check_answer(text, len);
	if (kube_certificate_end(text) == 0 && kube_token_end(text) == 0)
		abort(); /* nothing is a certificate and a token */
	return 0;
}
