/* From a kubeconfig's cluster and user to a login that calls can be made with: files are read,
 * what ends or changes is arranged to be renewed. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "io/loop.h"
#include "kube/config.h"
#include "kube/login.h"

/* Whether the plug-in is asked at all. */
bool kube_user_needs_plugin(const struct kube_user *user);

/* Reads the files that the config names; a plug-in is run only when the first call asks for its
 * credential. Files are read again when they may have changed: client-go's every minute, 10 seconds
 * early, and at once after the server refused what is there. The loop is for plug-ins, and has to
 * outlive the login; NULL: none will be run. Takes the config over when it succeeds.
 *
 * ERR_INVALID: a file cannot be read or is not what it should be. ERR_UNREACHABLE: the
 * certificate, or the token of the kubeconfig itself, has ended by this machine's clock. */
int kube_login_open(struct loop *loop, struct kube_config *take_config,
		    struct kube_login **ret_login, struct err *err) MUST_USE;
