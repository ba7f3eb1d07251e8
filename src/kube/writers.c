#include "kube/writers.h"

#include <stdbool.h>
#include <string.h>

/* Inside a string its quotes would be escaped, and a comma before a string's end is not followed by
 * letters. So this is a member, and not the first one. */
#define MEMBER ",\"managedFields\":["

/* The position after the bracket that closes the array; NULL: none. */
static const char *end_of_array(const char *at, const char *end)
{
	bool is_in_string = false;
	int depth = 1;

	for (; at < end && depth > 0; at++) {
		if (is_in_string && *at == '\\' && at + 1 < end)
			at++;
		else if (*at == '"')
			is_in_string = !is_in_string;
		else if (!is_in_string)
			depth += (*at == '[') - (*at == ']');
	}
	return depth == 0 ? at : NULL;
}

void writers_leave_out(const char **bytes, size_t *len, struct text *text)
{
	const char *at = *bytes, *end = at + *len, *member, *behind;

	while ((member = memmem(at, (size_t) (end - at), MEMBER, strlen(MEMBER))) &&
	       (behind = end_of_array(member + strlen(MEMBER), end))) {
		text_add_bytes(text, at, (size_t) (member - at));
		at = behind;
	}
	if (at == *bytes)
		return;
	text_add_bytes(text, at, (size_t) (end - at));
	*bytes = text->bytes;
	*len = text->len;
}
