/* The report for CI systems: JUnit's XML. */
#pragma once

#include "base/text.h"
#include "core/check_facts.h"

/* A test suite of one test case for each step, as Jenkins' and GitLab's readers of JUnit's format
 * take it (windyroad/JUnit-Schema). */
void check_write_junit(const struct check *check, struct text *text);
