/* JSON values of tests: read from a text, and compared with one. */
#pragma once

#include "unit.h"

#include "base/json.h"
#include "base/text.h"

static inline struct json *json_of(const char *text)
{
	struct json *value = NULL;
	struct err err = {0};

	if (json_read(text, strlen(text), &value, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	return value;
}

static inline void assert_json(const struct json *value, const char *expected)
{
	struct text text CLEANUP(text_done) = {0};

	json_add_compact(&text, value);
	assert_string_equal(text_of(&text), expected);
}
