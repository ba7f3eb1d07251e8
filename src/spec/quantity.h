/* Kubernetes' quantities: "500m", "2", "1.5Gi", "2e9". */
#pragma once

#include "base/text.h"

#define QUANTITY_SUFFIXES                                                                          \
	"m k M G T P E Ki Mi Gi Ti Pi Ei or none: 500m, 2, 1.5Gi" /* for faults                    \
								   */

/* Checks that a text is a quantity greater than zero, by the rules of
 * k8s.io/apimachinery/pkg/api/resource.ParseQuantity. ERR_INVALID shows a valid one, and a similar
 * one ("4GB", "4 Gi" and "4gi" are invalid). */
int quantity_check(const char *text, struct err *err) MUST_USE;
/* Its value, in its unit; zero is accepted. ERR_INVALID if it is no quantity. */
int quantity_read(const char *text, double *ret_value, struct err *err) MUST_USE;
/* Adds a quantity, in whole units or in thousandths. */
void quantity_add(double value, struct text *text);
/* The same check for an amount of memory. Less than 1 MiB is rejected: "4", which is 4 bytes, and
 * docker's "512m", which is half a byte in Kubernetes. */
int quantity_check_memory(const char *text, struct err *err) MUST_USE;
