/* Of the flags of `muster operator`, those that training-operator's manager had, and which
 * namespaces are meant. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "base/text.h"
#include "command/options.h"
#include "io/log.h"

/* ERR_INVALID where other kinds than TFJob alone are to be served, or a kind that is none. */
int operator_flags_check(const struct options *options, struct err *err) MUST_USE;
/* Those that were given and have no meaning here: "--kube-api-qps, --zap-devel". */
void operator_flags_add_meaningless(struct text *text, const struct options *options);

/* The namespaces of --namespace, or else of KUBEFLOW_NAMESPACE, each once; the list ends with NULL
 * and is empty where all are meant. Caller frees it and its texts with operator_namespaces_free.
 * ERR_INVALID for what is no name of one. */
int operator_namespaces(const struct options *options, char ***ret_list, struct err *err) MUST_USE;
void operator_namespaces_free(char **list); /* NULL is fine */

/* What --zap-log-level means, or --log where that says more. */
enum log_level operator_log_level(const struct options *options);
