/* Turns a kubeconfig's cluster and user into a usable login: reads the files and arranges the
 * renewal of credentials that expire or change. */
#pragma once

#include "base/err.h"
#include "io/loop.h"
#include "kube/config.h"

/* Whether the user's credential comes from the plug-in. */
bool kube_user_needs_plugin(const struct kube_user *user);

/* Reads the files that the config names. A plug-in runs only when the first request needs its
 * credential. Files are read again when they may have changed: every 50 s (client-go's minute less
 * its leeway), and immediately after the server rejected the credential. `loop` runs plug-ins and
 * must outlive the login; NULL: no plug-in will run. Takes the config over on success.
 *
 * Returns ERR_INVALID if a file is unreadable or has the wrong content. Returns ERR_UNREACHABLE if
 * the certificate, or the token in the kubeconfig, has expired by this machine's clock. */
int kube_login_open(struct loop *loop, struct kube_config *take_config,
		    struct kube_login **ret_login, struct err *err) MUST_USE;

/* The expiry time in a credential itself, without asking the server. */

/* When the first certificate of a PEM text expires (X.509's notAfter). MSEC_NEVER if that cannot be
 * read; then the server decides. */
msec kube_certificate_end(const char *pem);
/* When a token expires: `exp` of a JSON Web Token (RFC 7519, 4.1.4). Other tokens: MSEC_NEVER. */
msec kube_token_end(const char *token);
