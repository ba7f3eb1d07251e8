/* Runs an exec credential plug-in to get a credential. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "io/loop.h"
#include "kube/config.h"

struct kube_plugin_call;

/* Checks whether the plug-in of the config's user is installed, without running it. Returns
 * ERR_UNREACHABLE with its install hint. */
int kube_plugin_check(const struct kube_config *config, struct err *err) MUST_USE;

/* `credential` may be moved out (TAKE); it is NULL if `err` is set. `end` as below. */
typedef void (*kube_plugin_done_fn)(struct kube_credential *credential, msec end,
				    const struct err *err, void *data);

/* Starts the plug-in. `authority` is the PEM text of the cluster's authority, which plug-ins may
 * get; NULL: none. All arguments must outlive the call. Returns ERR_UNREACHABLE if the plug-in is
 * not installed, cannot run, or needs a missing terminal. Otherwise `done` is called once, from the
 * loop, and the call is freed. */
int kube_plugin_call_new(struct loop *loop, const struct kube_config *config, const char *authority,
			 kube_plugin_done_fn done, void *data, struct kube_plugin_call **ret_call,
			 struct err *err) MUST_USE;
/* Stops the plug-in without calling `done`. NULL is fine. */
void kube_plugin_call_cancel(struct kube_plugin_call *call);

/* Parses the output of a plug-in: an ExecCredential of client.authentication.k8s.io, by the rules
 * of client-go's plugin/pkg/client/auth/exec/exec.go. Returns ERR_INVALID with the fault, but none
 * of the contents. `api_version` is the version that the plug-in was asked for. *ret_end is when
 * the credential expires; MSEC_NEVER if absent. */
int kube_plugin_answer_read(const char *bytes, size_t len, const char *api_version,
			    struct kube_credential *ret_credential, msec *ret_end,
			    struct err *err) MUST_USE;
