/* A job's record as a TFJob object holds it: the document is all but its status, which a
 * subresource is. Pure. */
#pragma once

#include "cluster/store_record.h"

extern const struct store_kube_form store_kube_tfjobs;
