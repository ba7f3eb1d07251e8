#include "spec/pinned_job.h"

#include "base/mem.h"
#include "base/names.h"
#include "spec/job.h"

#define FIELDS_TOLD 8
#define KEY_TOLD 63 /* bytes; no field has a longer one */

struct pinned_job {
	struct json *document;
	/* A status is written far more often than a document: the last text, and the result for it.
	 * NULL before the first one. */
	char *seen, *made;
};

struct pinned_job *pinned_job_new(const struct json *document)
{
	struct pinned_job *pin = mem_new(sizeof(*pin));

	pin->document = json_new_copy(document);
	return pin;
}

void pinned_job_free(struct pinned_job *pin)
{
	if (!pin)
		return;
	json_free(pin->document);
	free(pin->seen);
	free(pin->made);
	free(pin);
}

/* Accepted changes. */

/* A member of an object, which is created only if there is a value for it. */
static void copy_unpinned_member(struct json *parent, const char *object, const char *key,
				 const struct json *parent_from)
{
	const struct json *value = json_get(json_get(parent_from, object), key);

	if (value)
		json_set(json_object_at(parent, object), key, json_new_copy(value));
	else
		json_remove(json_get(parent, object), key);
}

static void copy_unpinned_fields(struct json *document, const struct json *from)
{
	struct json *metadata = json_get(document, "metadata");
	struct json *spec = json_get(document, "spec");
	const struct json *metadata_from = json_get(from, "metadata");
	const struct json *spec_from = json_get(from, "spec");
	const char *key = NULL;
	struct json *role;

	while (json_next(json_get(spec, "tfReplicaSpecs"), &key, &role))
		json_copy_member(role, json_get_path(spec_from, "tfReplicaSpecs", key, NULL),
				 "replicas");
	copy_unpinned_member(spec, "runPolicy", "suspend", spec_from);
	copy_unpinned_member(metadata, "annotations", JOB_ANNOTATION_STOP, metadata_from);
	copy_unpinned_member(metadata, "annotations", JOB_ANNOTATION_STOP_GRACE, metadata_from);
}

/* Rejected changes. */

struct differences {
	struct text *fields;
	int count;
};

static void compare(const char *path, const struct json *before, const struct json *after,
		    struct differences *differences);

/* Its path is "spec.tfReplicaSpecs[Worker]": the user's own keys are in brackets. */
static void compare_member(const char *path, const char *key, const struct json *before,
			   const struct json *after, struct differences *differences)
{
	bool is_own = !strspn(key, NAME_LOWER) || key[strspn(key, NAME_LETTERS NAME_DIGITS)];
	char *member CLEANUP(mem_free_text) =
		strlen(key) > KEY_TOLD ? mem_copy_text(path)
		: is_own               ? mem_format("%s[%s]", path, key)
				       : mem_format("%s%s%s", path, *path ? "." : "", key);

	compare(member, json_get(before, key), json_get(after, key), differences);
}

static bool is_object_or_absent(const struct json *value)
{
	return json_is(value, JSON_OBJECT) || json_is(value, JSON_NULL);
}

/* An absent object equals an empty one. */
static void compare(const char *path, const struct json *before, const struct json *after,
		    struct differences *differences)
{
	bool are_lists = json_is(before, JSON_ARRAY) && json_is(after, JSON_ARRAY) &&
			 json_count(before) == json_count(after);
	const char *key;
	struct json *value;

	if (json_equals(before, after))
		return;
	if (is_object_or_absent(before) && is_object_or_absent(after)) {
		for (key = NULL; json_next(before, &key, &value);)
			compare_member(path, key, before, after, differences);
		for (key = NULL; json_next(after, &key, &value);)
			if (!json_get(before, key))
				compare_member(path, key, before, after, differences);
	} else if (!are_lists && differences->count++ < FIELDS_TOLD) {
		text_addf(differences->fields, "%s%s", differences->count > 1 ? ", " : "", path);
	}
	for (size_t i = 0; are_lists && i < json_count(before); i++) {
		char *element CLEANUP(mem_free_text) = mem_format("%s[%zu]", path, i);

		compare(element, json_at(before, i), json_at(after, i), differences);
	}
}

/* Applying. */

/* All valid spellings are normalized before the comparison. NULL: no job. */
static struct job *read_lenient_job(const char *text)
{
	struct json *root CLEANUP(json_cleanup) = NULL;
	struct faults faults CLEANUP(faults_done) = {0};
	struct job *job;

	if (json_read(text, strlen(text), &root, NULL) < 0 ||
	    job_read(root, NULL, JOB_LENIENT, &faults, &job) < 0)
		return NULL;
	return job;
}

static char *merge_into_pinned_job(const struct json *pinned, const char *text, struct text *fields)
{
	struct job *job CLEANUP(job_cleanup) = read_lenient_job(text);
	struct json *made CLEANUP(json_cleanup) = json_new_copy(pinned);
	struct text made_text CLEANUP(text_done) = {0};
	struct differences differences = {.fields = fields};

	if (!job)
		return mem_copy_text(text);
	copy_unpinned_fields(made, job->document);
	compare("", made, job->document, &differences);
	if (differences.count > FIELDS_TOLD)
		text_addf(fields, " and %d more", differences.count - FIELDS_TOLD);
	json_add_compact(&made_text, made);
	return text_take(&made_text);
}

char *pinned_job_apply(struct pinned_job *pin, const char *document, struct text *differences)
{
	if (!text_equals(pin->seen, document)) {
		char *made = merge_into_pinned_job(pin->document, document, differences);

		free(pin->seen);
		free(pin->made);
		pin->seen = mem_copy_text(document);
		pin->made = made;
	}
	return mem_copy_text(pin->made);
}
