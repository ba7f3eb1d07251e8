/* Reads YAML and JSON documents into JSON values by kubectl's YAML 1.1 rules, with the position of
 * each value.
 *
 * Rules: go-yaml v2 as kubectl uses it (sigs.k8s.io/yaml). on/off/yes/no/y/n are booleans, 0755 is
 * octal, 1_000 a number, dates and 12:30:00 strings, `<<` merges, duplicate keys are rejected. */
#pragma once

#include "base/json.h"
#include "base/text.h"

/* One document of a stream. */
struct document;

/* Limits on input; base/yaml_node.h has those on depth and on the expansion of aliases. */
#define YAML_SIZE_LIMIT (4 * 1024 * 1024)
#define YAML_DOCUMENTS_LIMIT 64
#define YAML_ANCHORS_LIMIT 1000

/* Reads all documents of a YAML stream or JSON file. Empty documents and null are skipped.
 * Duplicate keys, keys that are no scalars, .inf and .nan, NUL characters and invalid UTF-8 are
 * rejected. The text of ERR_INVALID and ERR_LIMIT begins with "line L, column C: ", except for the
 * total size. Caller frees the array with documents_free. */
int documents_read(const char *bytes, size_t len, struct document ***ret_documents,
		   size_t *ret_count, struct err *err) MUST_USE;
void documents_free(struct document **documents, size_t count);
/* The same, but overwrites the documents' texts first. */
void documents_free_secret(struct document **documents, size_t count);

struct json *document_root(const struct document *document); /* borrowed */

/* The position of a value by its path, "spec.runPolicy.backoffLimit" or "spec.containers[0].image"
 * (a key with dots or brackets is written ["a.b"]). It is where the value begins, or its key if
 * that is on an earlier line. Without such a path: the position of the nearest parent. */
struct place document_place(const struct document *document, const char *path);
/* Whether the whole path exists in the document; gives that position either way. */
bool document_find(const struct document *document, const char *path, struct place *ret_place);

/* A separate document for a part of another. Its value is `take_value`; its positions are those of
 * `path` in the other document, or of the nearest parent. It must not outlive the other one. Free
 * it with documents_free. */
struct document *document_new_part(const struct document *whole, const char *path,
				   struct json *take_value) MUST_USE;

/* Writes a value as one YAML document in kubectl's style that reads back as the same value: strings
 * that would be read as another type are quoted, texts of several lines are in block style. Only a
 * whole real number becomes an integer (1.0 is read as 1). */
void yaml_add(struct text *text, const struct json *value);
