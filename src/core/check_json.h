/* The report for programs: one JSON object. */
#pragma once

#include "base/json.h"
#include "core/check_facts.h"

/* {result, name, model, …, seconds, steps[], servers[], network[], devices[], data, training,
 * figures, fault}; the caller frees it. docs/check.md describes the fields. */
struct json *check_write_json(const struct check *check) MUST_USE;
