/* Runs an exec credential plug-in for a credential. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "base/own.h"
#include "io/loop.h"
#include "kube/config.h"
#include "kube/login.h"

struct kube_plugin_call;

/* Looks whether the plug-in of the config's user is installed, and runs nothing: ERR_UNREACHABLE
 * with its hint. */
int kube_plugin_check(const struct kube_config *config, struct err *err) MUST_USE;

/* `credential` may be taken out of (TAKE); it is NULL when `err` is not. `end` as
 * kube_plugin_answer_read's. */
typedef void (*kube_plugin_done_fn)(struct kube_credential *credential, msec end,
				    const struct err *err, void *data);

/* `authority` is the PEM text of the cluster's, NULL for none; plug-ins may be told. Everything is
 * needed until the call ends. ERR_UNREACHABLE: it is not installed, cannot be run, or wants a
 * terminal that there is not; else `done` is called from the loop, once, and the call is gone. */
int kube_plugin_call_new(struct loop *loop, const struct kube_config *config, const char *authority,
			 kube_plugin_done_fn done, void *data, struct kube_plugin_call **ret_call,
			 struct err *err) MUST_USE;
/* Ends the plug-in without `done`. NULL is fine. */
void kube_plugin_call_cancel(struct kube_plugin_call *call);
