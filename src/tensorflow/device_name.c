/* Full names have every part, in this order; the library returns no other names. */
#include "tensorflow/device_name.h"

#include "base/text.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Names come from servers and are shown on terminals. */
static bool is_graphic_device_text(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return false;
	return true;
}

/* Copies the text between `beginning` and the next '/' (or the end), and advances past it. */
static bool parse_device_name_part(const char **text, const char *beginning,
				   char part[DEVICE_NAME_SIZE])
{
	if (!text_starts_with(*text, beginning))
		return false;
	*text += strlen(beginning);
	size_t len = strcspn(*text, "/");

	if (len == 0 || len >= DEVICE_NAME_SIZE || !is_graphic_device_text(*text, len))
		return false;
	memcpy(part, *text, len);
	part[len] = '\0';
	*text += len;
	return true;
}

int device_name_read(const char *text, struct device_name *ret_name, struct err *err)
{
	struct device_name name = {0};
	const char *rest = text;
	char replica[DEVICE_NAME_SIZE], task[DEVICE_NAME_SIZE];
	int64_t index;

	if (!parse_device_name_part(&rest, "/job:", name.job) ||
	    !parse_device_name_part(&rest, "/replica:", replica) ||
	    !parse_device_name_part(&rest, "/task:", task) ||
	    text_read_int(task, 0, INT32_MAX, &index, NULL) ||
	    !parse_device_name_part(&rest, "/device:", name.device) || *rest)
		return err_set(err, ERR_INVALID, "'%s' is not a full name of a device", text);
	name.task = (int) index;
	snprintf(name.kind, sizeof(name.kind), "%.*s", (int) strcspn(name.device, ":"),
		 name.device);
	*ret_name = name;
	return 0;
}
