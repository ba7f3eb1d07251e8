/* The tree of a YAML or JSON document as written, with positions. The readers (yaml.c and
 * yaml_json.c) build it; yaml_node.c extracts values and positions. Private to base/yaml.
 *
 * An alias is a separate node that refers to its anchor's node, so following the aliases can make a
 * document much larger. yaml_node_value counts while it follows them. */
#pragma once

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

#define YAML_DEPTH_LIMIT 100
#define YAML_EXPANSION_LIMIT (32 * 1024 * 1024) /* bytes of values, with aliases expanded */

enum node_kind {
	NODE_SCALAR,
	NODE_LIST,
	NODE_MAP,
	NODE_ALIAS,
};

struct node;

/* A member of a map, or an item of a list (`key` is NULL). */
struct node_entry {
	struct node_entry *next;
	struct node *key;
	struct node *value;
	const char *name; /* the key in JSON, once values were extracted; NULL for a merge `<<` */
};

/* Everything is in the document's arena. */
struct node {
	enum node_kind kind;
	bool is_plain; /* a scalar without quotes, which may be a number … */
	bool is_open; /* the reader is still inside: an alias to it would never end */
	struct place place;
	const char *tag; /* in full ("tag:yaml.org,2002:int"); NULL: none */
	const char *text; /* of a scalar */
	struct node_entry *first; /* of a list or map */
	struct node_entry *last;
	struct node *target; /* of an alias */
};

struct node *yaml_node_new(struct arena *arena, enum node_kind kind, struct place place);
void yaml_node_add(struct arena *arena, struct node *node, struct node *key, struct node *value);

/* The tree's value as JSON: scalars resolved, aliases expanded, merges applied. Records the names
 * of members for yaml_node_at. Returns ERR_INVALID or ERR_LIMIT with the position. */
int yaml_node_value(struct node *root, struct arena *arena, struct json **ret_value,
		    struct err *err) MUST_USE;

/* The node of a path, or of its nearest existing parent, and its position: as document_find. */
const struct node *yaml_node_at(const struct node *root, const char *path, bool *ret_is_there,
				struct place *ret_place);

/* Builds the tree of JSON text that json_read has read as `value`. */
struct node *yaml_json_nodes(const char *bytes, size_t len, const struct json *value,
			     struct arena *arena);

/* Advice about braces that YAML takes for a map in a map. */
#define YAML_TEMPLATE_HINT                                                                         \
	"if this is a template with {{ }}, render it first (for example: helm template CHART | "   \
	"muster run -f -)"

/* Sets an error with "line L, column C: " before the sentence. Returns the code. */
int yaml_fault(struct err *err, enum err_code code, struct place place, const char *format, ...)
	PRINTF_LIKE(4, 5);

/* The type and value of a plain YAML scalar, as in kubectl's go-yaml v2 (resolve.go). */
struct yaml_scalar {
	enum json_type type; /* never JSON_ARRAY or JSON_OBJECT */
	bool boolean;
	int64_t integer;
	double real; /* .inf and .nan too; whole numbers only if int64 cannot hold them */
};

/* Resolves text without quotes and without a tag. JSON_STRING: just text. */
struct yaml_scalar yaml_resolve(const char *text);

/* Appends the scalar as a key of a JSON object, as sigs.k8s.io/yaml does: 1, true, 1.5. `text` is
 * the original text. */
void yaml_add_key(struct text *key, struct yaml_scalar scalar, const char *text);
