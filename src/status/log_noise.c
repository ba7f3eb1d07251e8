#include "status/log_noise.h"

#include "base/own.h"
#include "base/text.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

/* Compares character by character: 0 matches a digit, any other character itself. */
static bool begins_like(const char *line, const char *pattern)
{
	for (; *pattern; pattern++, line++)
		if (*pattern == '0' ? !isdigit((unsigned char) *line) : *line != *pattern)
			return false;
	return true;
}

/* "I0000 00:00:1795815815.181702   16722 port.cc:153] " */
static bool is_abseil_info(const char *line)
{
	const char *bracket = strchr(line, ']');

	return begins_like(line, "I0000 00:00:00") && bracket && bracket[1] == ' ';
}

/* "2026-11-27 21:36:55.181702: I tensorflow/core/platform/cpu_feature_guard.cc:210] " */
static bool is_tensorflow_info(const char *line)
{
	return begins_like(line, "0000-00-00 00:00:00.000000: I ");
}

bool log_noise_is(const char *line)
{
	static const char *const beginnings[] = {
		"WARNING: All log messages before absl::InitializeLog() is called",
		"To enable the following instructions:",
	};

	for (size_t i = 0; i < ARRAY_LEN(beginnings); i++)
		if (text_starts_with(line, beginnings[i]))
			return true;
	return is_abseil_info(line) || is_tensorflow_info(line);
}
