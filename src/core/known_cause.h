/* Failures of TensorFlow whose own words do not say what to do about them. */
#pragma once

#include "base/own.h"
#include "core/status.h"

/* A sentence of advice, for what is recognised in the last lines; NULL where nothing is. */
const char *known_cause_advice(const struct failure *failure);
