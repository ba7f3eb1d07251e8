/* Variables that a document names, and whose values are elsewhere. */
#include "unit.h"

#include "base/mem.h"
#include "spec/job_build.h"
#include "spec/job_secret.h"

static const char *const command[] = {"train", NULL};
static const struct env_entry variables[] = {
	{"TOKEN", "first"}, {"COLOUR", "$(TOKEN)"}, {"TOKEN", "s3cret"}};

static void the_document_names_them_without_their_values(void **state)
{
	struct json *document CLEANUP(json_cleanup) = job_document_new(
		&(struct job_build){.name = "j", .workers = 1, .ps = 1, .command = command});
	struct job_secret secret CLEANUP(job_secret_done) = {0};
	struct text text CLEANUP(text_done) = {0};
	const char *found;
	int count = 0;

	(void) state;
	job_secret_init(&secret, "j.env", variables, ARRAY_LEN(variables));
	job_document_add_secret(document, &secret);
	json_add_compact(&text, document);
	assert_null(strstr(text_of(&text), "s3cret"));
	assert_null(strstr(text_of(&text), "$(TOKEN)"));
	for (found = text_of(&text);
	     (found = strstr(found, "{\"name\":\"TOKEN\",\"valueFrom\":{\"secretKeyRef\":"
				    "{\"name\":\"j.env\",\"key\":\"TOKEN\"}}}"));
	     found++)
		count++;
	assert_int_equal(count, 2); /* of the worker and of the ps */
}

static void values_are_kept_as_they_are_and_the_later_one_counts(void **state)
{
	struct job_secret secret CLEANUP(job_secret_done) = {0};
	struct text text CLEANUP(text_done) = {0};

	(void) state;
	job_secret_init(&secret, "j.env", variables, ARRAY_LEN(variables));
	json_add_compact(&text, secret.values);
	assert_string_equal(text_of(&text), "{\"TOKEN\":\"s3cret\",\"COLOUR\":\"$(TOKEN)\"}");
}

static void without_a_secret_the_document_stays(void **state)
{
	struct json *document CLEANUP(json_cleanup) = job_document_new(
		&(struct job_build){.name = "j", .workers = 1, .command = command});
	struct json *before CLEANUP(json_cleanup) = json_new_copy(document);

	(void) state;
	job_document_add_secret(document, &(struct job_secret){0});
	assert_true(json_equals(document, before));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_document_names_them_without_their_values),
		cmocka_unit_test(values_are_kept_as_they_are_and_the_later_one_counts),
		cmocka_unit_test(without_a_secret_the_document_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
