/* A value in a document together with its path: its name in faults, and its place. Used by the
 * files that read a job or a kubeconfig.
 *
 * Reading never stops at a fault: a fault is added, a harmless value is returned, and the rest of
 * the document is read too, so that all faults are reported together. */
#pragma once

#include "base/json.h"
#include "base/mem.h"
#include "base/msec.h"
#include "base/yaml.h"
#include "spec/job.h"

/* Parents outlive their members: they are on the stack of the caller. */
struct field {
	const struct field *parent; /* NULL: the root of the document */
	const char *key; /* member of an object; NULL: element `index` of a list */
	size_t index;
	bool is_map_key; /* the user's own key, which Kubernetes writes in brackets */
	struct json *value; /* borrowed; NULL when absent */
};

struct field_reader {
	const struct document *document; /* NULL: faults have no places */
	enum job_strictness strictness;
	struct faults *faults;
	bool is_older; /* members of spec.runPolicy may have been written in spec */
	bool hides_values; /* no fault shows a value: it may be a secret */
	size_t n_refused; /* faults found, also those beyond LIMIT_FAULTS */
};

bool reader_is_strict(const struct field_reader *reader);

/* Members and elements of the document. Null counts as absent, as in Kubernetes. */
struct field field_member(const struct field *object, const char *key);
struct field field_map_entry(const struct field *map, const char *key);
struct field field_element(const struct field *list, size_t index);
/* The same as pointers, which are valid until the end of the block. */
#define FIELD_MEMBER(object, key) ((const struct field[]){field_member((object), (key))})
#define FIELD_MAP_ENTRY(map, key) ((const struct field[]){field_map_entry((map), (key))})
#define FIELD_ELEMENT(list, index) ((const struct field[]){field_element((list), (index))})
bool field_is_set(const struct field *field);

/* Its place in the document; for an absent field that of the nearest existing parent. */
struct place field_place(const struct field_reader *reader, const struct field *field);
/* Adds a fault with this field's path and place. */
void field_refuse(struct field_reader *reader, const struct field *field, const char *format, ...)
	PRINTF_LIKE(3, 4);
/* "Invalid value: VALUE: …"; only the sentence if values are hidden. */
void field_refuse_value(struct field_reader *reader, const struct field *field, const char *format,
			...) PRINTF_LIKE(3, 4);
/* "Unsupported value: "WORD": supported values: …", and a similar word. */
void field_refuse_word(struct field_reader *reader, const struct field *field, const char *word,
		       const char *const *words, size_t n_words);
/* "unknown field", and a similar one of `words`. */
void field_refuse_unknown(struct field_reader *reader, const struct field *field,
			  const char *const *words, size_t n_words);
/* Adds a fault if it is no object, and, when strict, for every member that is not in `words`. */
void field_check_members(struct field_reader *reader, const struct field *object,
			 const char *const *words, size_t n_words);

/* Values of one type. An absent one gives `otherwise`, as one of another type after a fault. */
const char *field_text(struct field_reader *reader, const struct field *field,
		       const char *otherwise);
bool field_bool(struct field_reader *reader, const struct field *field, bool otherwise);
/* A number outside low..high is a fault when strict, and becomes the nearer limit when lenient. */
int64_t field_integer(struct field_reader *reader, const struct field *field, int64_t low,
		      int64_t high, int64_t otherwise);
/* A member's number of seconds, up to 100 years, in milliseconds; -1 when absent. */
msec field_seconds(struct field_reader *reader, const struct field *object, const char *key);
/* Index of a word in its table, `absent` for an absent one, `unknown` for an unknown one, which is
 * a fault when strict. */
int field_word(struct field_reader *reader, const struct field *field, const char *const *words,
	       size_t n_words, int absent, int unknown);
/* True when it exists and is an object. */
bool field_is_object(struct field_reader *reader, const struct field *field);
/* Number of elements; 0 if it is no list. */
size_t field_count(struct field_reader *reader, const struct field *field);

/* Reads spec.tfReplicaSpecs, or the older spec.replicaSpecs, into job->roles, and puts the
 * normalized tfReplicaSpecs into `spec`, which is in job->document. */
void job_read_roles(struct field_reader *reader, const struct field *spec, struct job *job);

/* Reads the Pod template of one role: its container and its port. */
void job_read_template(struct field_reader *reader, const struct field *template,
		       struct arena *arena, struct role *role);

/* Whether the document has a version before v1. */
#define JOB_OLDEST_VERSION "tensorflow.org/v1alpha1"
#define JOB_OLDEST_KIND "TfJob" /* of that version */
bool job_is_older(const struct json *root);
/* Converts such a document to the form of v1, except a list of roles, which job_read_roles reads.
 * Adds the changes as parts of a sentence, "; " before each. Members that no other form has are
 * faults. The words are those of spec.runPolicy. */
void job_convert_older(struct field_reader *reader, const struct field *root,
		       const char *const *run_policy_words, size_t n_words, struct text *changes);
