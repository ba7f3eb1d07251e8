/* The flags of `muster operator` that come from training-operator's manager, and the managed
 * namespaces. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "base/text.h"
#include "command/options.h"
#include "io/log.h"

/* ERR_INVALID if kinds other than TFJob are enabled, or a kind is unknown. */
int operator_flags_check(const struct options *options, struct err *err) MUST_USE;
/* Adds the given flags that have no effect: "--kube-api-qps, --zap-devel". */
void operator_flags_add_meaningless(struct text *text, const struct options *options);

/* The namespaces of --namespace, or else of KUBEFLOW_NAMESPACE, each once; the list ends with NULL
 * and is empty for all namespaces. Caller frees it with operator_namespaces_free. ERR_INVALID for
 * an invalid name. */
int operator_namespaces(const struct options *options, char ***ret_list, struct err *err) MUST_USE;
void operator_namespaces_free(char **list); /* NULL is fine */

/* The level of --zap-log-level, or that of --log if it logs more. */
enum log_level operator_log_level(const struct options *options);
