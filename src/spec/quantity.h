/* Kubernetes' quantities: "500m", "2", "1.5Gi", "2e9". */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "base/text.h"

/* Whether a text is an amount of something as k8s.io/apimachinery/pkg/api/resource.ParseQuantity
 * reads it, and more than nothing. ERR_INVALID says what one looks like, and which one may have
 * been meant ("4GB", "4 Gi" and "4gi" are none). */
int quantity_check(const char *text, struct err *err) MUST_USE;
/* What it counts, in its unit; nothing too. ERR_INVALID where it is none. */
int quantity_read(const char *text, double *ret_value, struct err *err) MUST_USE;
/* Appends an amount, in whole units or in thousandths. */
void quantity_add(double value, struct text *text);
/* The same for an amount of memory. Less than 1 MiB is refused: "4", which is 4 bytes, and docker's
 * "512m", which is half a byte here. */
int quantity_check_memory(const char *text, struct err *err) MUST_USE;
