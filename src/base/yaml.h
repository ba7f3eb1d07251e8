/* YAML and JSON documents read into JSON values by kubectl's YAML 1.1 rules, with the place of each
 * value.
 *
 * Rules: go-yaml v2 as kubectl uses it (sigs.k8s.io/yaml). on/off/yes/no/y/n are booleans, 0755 is
 * octal, 1_000 a number, dates and 12:30:00 strings, `<<` merges, duplicate keys are refused. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/own.h"
#include "base/text.h"

#include <stddef.h>

/* Where a value begins in its file, counted from 1; 0 when not known. */
struct place {
	int line;
	int column;
};

/* One document of a stream. */
struct document;

/* All documents of a YAML stream or JSON file (JSON is read by the same parser). Empty documents
 * are left out. Limits: size, depth, alias expansion (core/limits.h gives the values; 0 means the
 * built-in ones). On ERR_INVALID the text has "line L, column C: what was expected". Caller frees
 * the array with documents_free. */
int documents_read(const char *bytes, size_t len, struct document ***ret_documents,
		   size_t *ret_count, struct err *err) MUST_USE;
void documents_free(struct document **documents, size_t count);

struct json *document_root(const struct document *document); /* borrowed */

/* The place of a value by its path, "spec.runPolicy.backoffLimit" or "spec.containers[0].image" (a
 * key with dots or brackets is written ["a.b"]). Where the path is not in the document: the place
 * of the nearest parent that is. */
struct place document_place(const struct document *document, const char *path);

/* Writes a value as one YAML document that reads back as the same value; strings that would
 * be read as something else are quoted; long texts in block style. */
void yaml_add(struct text *text, const struct json *value);
