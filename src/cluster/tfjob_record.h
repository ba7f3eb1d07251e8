/* A job's record in the form of a TFJob object: the document is all but its status, which is a
 * subresource. Pure. */
#pragma once

#include "cluster/store_record.h"

extern const struct store_kube_form store_kube_tfjobs;
