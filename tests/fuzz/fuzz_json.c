/* Any bytes as JSON: what json_read takes is written and read again as the same value, both compact
 * and pretty, and the YAML reader takes it too. So is what json_read_repaired makes. */
#include "fuzz.h"

#include "base/json.h"
#include "base/yaml.h"

#include <stdlib.h>

static void check_reads_back(const struct text *text, const struct json *value)
{
	struct json *again CLEANUP(json_cleanup) = NULL;

	if (json_read(text_of(text), text->len, &again, NULL) < 0 || !json_equals(value, again))
		abort();
}

/* A document may be larger as YAML than is read, but it is never refused as unreadable. */
static void check_is_yaml(const uint8_t *bytes, size_t len, const struct json *value)
{
	struct document **documents = NULL;
	size_t count = 0;
	int rc = documents_read((const char *) bytes, len, &documents, &count, NULL);

	if (rc == ERR_INVALID || (rc == 0 && count != !json_is(value, JSON_NULL)))
		abort();
	documents_free(documents, count);
}

/* Whatever is mended keeps the promises of what is read. */
static void check_mended(const uint8_t *bytes, size_t len)
{
	struct json *value CLEANUP(json_cleanup) = NULL;
	struct text compact CLEANUP(text_done) = {0};

	if (json_read_repaired((const char *) bytes, len, &value, NULL) < 0)
		return;
	json_add_compact(&compact, value);
	check_reads_back(&compact, value);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct json *value CLEANUP(json_cleanup) = NULL;
	struct err err = {0};

	check_mended(bytes, len);
	if (json_read((const char *) bytes, len, &value, &err) < 0)
		return 0;
	struct text compact CLEANUP(text_done) = {0};
	struct text pretty CLEANUP(text_done) = {0};

	json_add_compact(&compact, value);
	json_add_pretty(&pretty, value);
	check_reads_back(&compact, value);
	check_reads_back(&pretty, value);
	if (json_is(value, JSON_OBJECT) || json_is(value, JSON_ARRAY))
		check_is_yaml(bytes, len, value);
	return 0;
}
