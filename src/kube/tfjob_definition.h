/* Checks the cluster's schema of a TFJob: the CustomResourceDefinition tfjobs.kubeflow.org. The
 * definition of training-operator prunes unknown status fields, including those that muster needs
 * after a restart. Pure. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/own.h"

#define TFJOB_DEFINITION "tfjobs.kubeflow.org"

/* Returns ERR_UNSUPPORTED, with advice, if the definition prunes what muster writes into a
 * status. */
int tfjob_definition_check(const struct json *definition, struct err *err) MUST_USE;
/* The same, judged by the answer to a write of a whole status. */
int tfjob_definition_check_answer(const struct json *tfjob, struct err *err) MUST_USE;
