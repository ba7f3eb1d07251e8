/* What a cluster takes a TFJob to be: the CustomResourceDefinition tfjobs.kubeflow.org. That of
 * training-operator drops of a status what it does not know, and with it what muster needs to know
 * after a restart. Pure. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/own.h"

#define TFJOB_DEFINITION "tfjobs.kubeflow.org"

/* ERR_UNSUPPORTED, with what to do, where it drops what muster writes into a status. */
int tfjob_definition_check(const struct json *definition, struct err *err) MUST_USE;
/* The same by the answer to a write of a whole status. */
int tfjob_definition_check_answer(const struct json *tfjob, struct err *err) MUST_USE;
