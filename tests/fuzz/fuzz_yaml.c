/* Any bytes as YAML: what is read is written and read again as the same value, and each of its
 * members has a place inside the text. */
#include "fuzz.h"

#include "base/json.h"
#include "base/yaml.h"

#include <stdlib.h>
#include <string.h>

static void check_reads_back(const struct json *value)
{
	struct text text CLEANUP(text_done) = {0};
	struct document **documents = NULL;
	size_t count = 0;

	yaml_add(&text, value);
	int rc = documents_read(text_of(&text), text.len, &documents, &count, NULL);

	if (rc == ERR_INVALID || (rc == 0 && count != 1))
		abort();
	if (rc == 0 && !json_equals(value, document_root(documents[0])))
		abort();
	documents_free(documents, count);
}

static void check_place(const struct document *document, const char *path)
{
	struct place place = document_place(document, path);

	if (place.line < 1 || place.column < 1)
		abort();
}

static void check_members(const struct document *document)
{
	const char *key = NULL;
	struct json *value;

	while (json_next(document_root(document), &key, &value)) {
		struct text path CLEANUP(text_done) = {0};

		text_addf(&path, "[\"%s\"][0]", key);
		check_place(document, text_of(&path));
		check_place(document, key);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct document **documents = NULL;
	size_t count = 0;
	struct err err = {0};

	if (documents_read((const char *) bytes, len, &documents, &count, &err) < 0) {
		if (err.code == ERR_INVALID && strncmp(err.text, "line ", 5) != 0)
			abort();
		return 0;
	}
	for (size_t i = 0; i < count; i++) {
		check_reads_back(document_root(documents[i]));
		check_members(documents[i]);
	}
	documents_free(documents, count);
	return 0;
}
