/* The reports for programs: one JSON object, or JUnit's XML. */
#pragma once

#include "base/json.h"
#include "base/text.h"
#include "check/facts.h"

/* {result, name, model, …, seconds, steps[], servers[], network[], devices[], data, training,
 * figures, fault}; the caller frees it. docs/check.md describes the fields. */
struct json *check_write_json(const struct check *check) MUST_USE;

/* A test suite with one test case for each step, in the form that Jenkins and GitLab read as JUnit
 * (windyroad/JUnit-Schema). */
void check_write_junit(const struct check *check, struct text *text);
