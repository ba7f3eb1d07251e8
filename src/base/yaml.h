/* YAML and JSON documents read into JSON values by kubectl's YAML 1.1 rules, with the place of each
 * value.
 *
 * Rules: go-yaml v2 as kubectl uses it (sigs.k8s.io/yaml). on/off/yes/no/y/n are booleans, 0755 is
 * octal, 1_000 a number, dates and 12:30:00 strings, `<<` merges, duplicate keys are refused. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/own.h"
#include "base/place.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/* One document of a stream. */
struct document;

/* Limits on what is read; those on depth and on what aliases expand to are in base/yaml_node.h. */
#define YAML_SIZE_LIMIT (4 * 1024 * 1024)
#define YAML_DOCUMENTS_LIMIT 64
#define YAML_ANCHORS_LIMIT 1000

/* All documents of a YAML stream or JSON file. Empty documents and null are left out. Duplicate
 * keys, keys that are no scalars, .inf and .nan, NUL characters and what is not UTF-8 are refused.
 * The text of ERR_INVALID and ERR_LIMIT begins with "line L, column C: ", but for the size of the
 * whole. Caller frees the array with documents_free. */
int documents_read(const char *bytes, size_t len, struct document ***ret_documents,
		   size_t *ret_count, struct err *err) MUST_USE;
void documents_free(struct document **documents, size_t count);
/* The same, and the texts of the documents are overwritten before. */
void documents_free_secret(struct document **documents, size_t count);

struct json *document_root(const struct document *document); /* borrowed */

/* The place of a value by its path, "spec.runPolicy.backoffLimit" or "spec.containers[0].image" (a
 * key with dots or brackets is written ["a.b"]): where the value begins, or its key where the
 * value begins on a later line. Where the path is not in the document: the place of the nearest
 * parent that is. */
struct place document_place(const struct document *document, const char *path);
/* Whether all of the path is in the document; gives that place either way. */
bool document_find(const struct document *document, const char *path, struct place *ret_place);

/* A document of its own that was made of a part of another: its value is the one that is given, and
 * its places are those of what stands at `path` there, or of the nearest parent. It must not
 * outlive that other one. Freed with documents_free. */
struct document *document_new_part(const struct document *whole, const char *path,
				   struct json *take_value) MUST_USE;

/* Writes a value as one YAML document in kubectl's style that reads back as the same value: strings
 * that would be read as something else are quoted, texts of several lines are in block style. Only
 * a whole real number becomes an integer (1.0 is read as 1). */
void yaml_add(struct text *text, const struct json *value);
