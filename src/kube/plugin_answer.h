/* Parses the output of an exec credential plug-in: an ExecCredential of
 * client.authentication.k8s.io. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "base/own.h"
#include "kube/login.h"

#include <stddef.h>

/* Returns ERR_INVALID with the fault, but none of the contents. `api_version` is the version that
 * the plug-in was asked for. *ret_end is when the credential expires; MSEC_NEVER if absent. */
int kube_plugin_answer_read(const char *bytes, size_t len, const char *api_version,
			    struct kube_credential *ret_credential, msec *ret_end,
			    struct err *err) MUST_USE;
