/* Any bytes as a template: what is wrong with it is told, or objects are made of it that can be
 * written and read again, each with its places. The first line is a parameter's value. */
#include "fuzz.h"

#include "base/mem.h"
#include "base/yaml.h"
#include "spec/template.h"

#include <stdlib.h>
#include <string.h>

static unsigned char next_byte;

static void count_up(void *bytes, size_t len)
{
	unsigned char *at = bytes;

	while (len-- > 0)
		*at++ = next_byte++;
}

static void check_object(const struct document *object)
{
	struct text text CLEANUP(text_done) = {0};

	if (!json_is(document_root(object), JSON_OBJECT))
		abort();
	(void) document_place(object, "metadata.name");
	yaml_add(&text, document_root(object));
}

static void check_template(const struct document *document, const struct template_call *call)
{
	struct faults faults CLEANUP(faults_done) = {0};
	struct faults notes CLEANUP(faults_done) = {0};
	struct text text CLEANUP(text_done) = {0};
	struct document **objects = NULL;
	size_t count = 0;
	int rc = template_make(document, call, &faults, &notes, &objects, &count);

	faults_describe(&faults, "template.yaml", &text);
	faults_describe(&notes, "template.yaml", &text);
	if ((rc < 0) != (faults.count > 0) || (rc == 0) != (objects != NULL))
		abort();
	for (size_t i = 0; i < count; i++)
		check_object(objects[i]);
	documents_free(objects, count);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	const uint8_t *end = len ? memchr(bytes, '\n', len) : NULL;
	size_t n_value = end ? (size_t) (end - bytes) : 0;
	char *value CLEANUP(mem_free_text) = mem_copy_bytes(bytes, n_value);
	const struct template_value given = {"A", value};
	const struct template_call call = {&given, text_is_utf8(value, strlen(value)), count_up};
	struct document **documents = NULL;
	size_t count = 0;

	if (documents_read((const char *) bytes + n_value, len - n_value, &documents, &count,
			   NULL) < 0)
		return 0;
	for (size_t i = 0; i < count; i++)
		if (template_is(document_root(documents[i])))
			check_template(documents[i], &call);
	documents_free(documents, count);
	return 0;
}
