/* What an exec credential plug-in prints: an ExecCredential of client.authentication.k8s.io. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "base/own.h"
#include "kube/login.h"

#include <stddef.h>

/* ERR_INVALID says what is wrong with it and shows none of it. `api_version` is what the plug-in
 * was asked for; *ret_end is when the credential ends, MSEC_NEVER where it does not say. */
int kube_plugin_answer_read(const char *bytes, size_t len, const char *api_version,
			    struct kube_credential *ret_credential, msec *ret_end,
			    struct err *err) MUST_USE;
