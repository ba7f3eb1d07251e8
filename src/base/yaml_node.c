#include "base/yaml_node.h"

#include "base/line_text.h"
#include "base/names.h"

#include <math.h>
#include <stdio.h>

#define TAG(name) "tag:yaml.org,2002:" name

/* Cost of a node in YAML_EXPANSION_LIMIT in addition to its text: about its memory as JSON. */
#define NODE_COST 64
/* Bytes of each in UTF-8. */
#define TYPOGRAPHIC_QUOTE_SIZE 3

struct valuer {
	struct arena *arena;
	size_t cost_left;
	struct err *err;
};

static int build_yaml_value(struct valuer *valuer, const struct node *node, int depth,
			    struct json **ret_value);

int yaml_fault(struct err *err, enum err_code code, struct place place, const char *format, ...)
{
	char sentence[ERR_TEXT_SIZE];
	va_list values;

	va_start(values, format);
	vsnprintf(sentence, sizeof(sentence), format, values);
	va_end(values);
	for (char *at = sentence; *at; at++)
		if (*at == '\n') /* of a quoted key: the message stays on one line */
			*at = ' ';
	return err_set(err, code, "line %d, column %d: %s", place.line, place.column, sentence);
}

struct node *yaml_node_new(struct arena *arena, enum node_kind kind, struct place place)
{
	struct node *node = arena_take(arena, sizeof(*node));

	node->kind = kind;
	node->place = place;
	return node;
}

void yaml_node_add(struct arena *arena, struct node *node, struct node *key, struct node *value)
{
	struct node_entry *entry = arena_take(arena, sizeof(*entry));

	entry->key = key;
	entry->value = value;
	if (node->last)
		node->last->next = entry;
	else
		node->first = entry;
	node->last = entry;
}

static const struct node *resolve_yaml_alias(const struct node *node)
{
	return node->kind == NODE_ALIAS ? node->target : node;
}

/* YAML's own tags that require a type of a scalar. */
static const char *const tag_words[] = {
	[JSON_NULL] = TAG("null"),
	[JSON_BOOL] = TAG("bool"),
	[JSON_INTEGER] = TAG("int"),
	[JSON_REAL] = TAG("float"),
};

/* The value of the scalar. Tags other than YAML's own are ignored, as in go-yaml. */
static int resolve(struct valuer *valuer, const struct node *node, struct yaml_scalar *ret_scalar)
{
	int wanted = name_find_word(tag_words, ARRAY_LEN(tag_words), node->tag);

	*ret_scalar = (struct yaml_scalar){.type = JSON_STRING};
	if (!node->tag) {
		if (node->is_plain)
			*ret_scalar = yaml_resolve(node->text);
		return 0;
	}
	if (text_equals(node->tag, TAG("binary")))
		return yaml_fault(valuer->err, ERR_INVALID, node->place,
				  "!!binary is not supported; write the text itself");
	if (wanted < 0)
		return 0;
	struct yaml_scalar scalar = yaml_resolve(node->text);

	if ((int) scalar.type != wanted && (wanted != JSON_REAL || scalar.type != JSON_INTEGER))
		return yaml_fault(valuer->err, ERR_INVALID, node->place, "'%s' is not a !!%s",
				  node->text, tag_words[wanted] + strlen(TAG("")));
	*ret_scalar = scalar;
	return 0;
}

static bool is_typographic_quote(const char *text, size_t len)
{
	const struct lookalike *found = lookalike_at(text, len);

	return found && found->is_quote;
}

/* Typographic quotes are no quotes in YAML: they would be part of the text. */
static bool is_in_typographic_quotes(const struct node *node)
{
	size_t len = strlen(node->text);

	return node->is_plain && len >= 2 * TYPOGRAPHIC_QUOTE_SIZE &&
	       is_typographic_quote(node->text, len) &&
	       is_typographic_quote(node->text + len - TYPOGRAPHIC_QUOTE_SIZE,
				    TYPOGRAPHIC_QUOTE_SIZE);
}

static int build_yaml_scalar(struct valuer *valuer, const struct node *node,
			     struct json **ret_value)
{
	struct yaml_scalar scalar;
	int rc = resolve(valuer, node, &scalar);

	if (rc < 0)
		return rc;
	if (is_in_typographic_quotes(node))
		return yaml_fault(valuer->err, ERR_INVALID, node->place,
				  "%s is in typographic quotes (expected \" or ')", node->text);
	if (scalar.type == JSON_BOOL)
		*ret_value = json_new_bool(scalar.boolean);
	else if (scalar.type == JSON_INTEGER)
		*ret_value = json_new_integer(scalar.integer);
	else if (scalar.type == JSON_NULL)
		*ret_value = json_new_null();
	else if (scalar.type == JSON_STRING)
		*ret_value = json_new_string(node->text);
	else if (isfinite(scalar.real))
		*ret_value = json_new_real(scalar.real);
	else
		return yaml_fault(valuer->err, ERR_INVALID, node->place,
				  "%s is not a number in JSON", node->text);
	return 0;
}

static int build_yaml_list(struct valuer *valuer, const struct node *node, int depth,
			   struct json **ret_value)
{
	struct json *list CLEANUP(json_cleanup) = json_new_array();

	for (const struct node_entry *entry = node->first; entry; entry = entry->next) {
		struct json *item = NULL;
		int rc = build_yaml_value(valuer, entry->value, depth, &item);

		if (rc < 0)
			return rc;
		json_append(list, item);
	}
	*ret_value = TAKE(list);
	return 0;
}

static bool is_merge(const struct node_entry *entry)
{
	const struct node *key = entry->key;

	return key->kind == NODE_SCALAR && key->is_plain && !key->tag &&
	       text_equals(key->text, "<<");
}

/* Keys become strings as in sigs.k8s.io/yaml: `1:` is "1", `yes:` is "true". */
static int name_key(struct valuer *valuer, struct node_entry *entry)
{
	const struct node *key = resolve_yaml_alias(entry->key);
	struct yaml_scalar scalar;

	if (key->kind != NODE_SCALAR)
		return yaml_fault(valuer->err, ERR_INVALID, entry->key->place,
				  "a key must be a string; this is a %s",
				  key->kind == NODE_MAP ? "map; " YAML_TEMPLATE_HINT : "list");
	size_t offset;
	const struct lookalike *found = lookalike_find(key->text, strlen(key->text), &offset);

	/* An unquoted key should contain no invisible characters and no typographic quotes. */
	if (found && key->is_plain)
		return yaml_fault(valuer->err, ERR_INVALID, entry->key->place,
				  "the key '%s' has U+%04X (%s)", key->text,
				  (unsigned) found->code_point, found->name);
	int rc = resolve(valuer, key, &scalar);

	if (rc < 0)
		return rc;
	if (scalar.type == JSON_NULL)
		return yaml_fault(valuer->err, ERR_INVALID, entry->key->place,
				  "a key must be a string; this is null (put it in quotes)");
	struct text name CLEANUP(text_done) = {0};

	yaml_add_key(&name, scalar, key->text);
	entry->name = arena_copy_text(valuer->arena, text_of(&name));
	return 0;
}

static int duplicate_key(struct valuer *valuer, const struct node *map,
			 const struct node_entry *second)
{
	const struct node_entry *first = map->first;

	while (first != second && !text_equals(first->name, second->name))
		first = first->next;
	return yaml_fault(valuer->err, ERR_INVALID, second->key->place,
			  "duplicate key '%s' (first at line %d, column %d)",
			  second->name ? second->name : "<<", first->key->place.line,
			  first->key->place.column);
}

static int build_yaml_members(struct valuer *valuer, const struct node *map, int depth,
			      struct json *object)
{
	for (struct node_entry *entry = map->first; entry; entry = entry->next) {
		if (is_merge(entry))
			continue;
		int rc = name_key(valuer, entry);

		if (rc < 0)
			return rc;
		if (json_get(object, entry->name))
			return duplicate_key(valuer, map, entry);
		struct json *value = NULL;

		rc = build_yaml_value(valuer, entry->value, depth, &value);
		if (rc < 0)
			return rc;
		json_set(object, entry->name, value);
	}
	return 0;
}

/* Existing members of `object` are kept: explicit members win, then the first of several maps. */
static int merge_map(struct valuer *valuer, const struct node *node, int depth, struct json *object)
{
	struct json *merged CLEANUP(json_cleanup) = NULL;
	const char *key = NULL;
	struct json *value;

	if (resolve_yaml_alias(node)->kind != NODE_MAP)
		return yaml_fault(valuer->err, ERR_INVALID, node->place,
				  "'<<' needs a map or a list of maps");
	int rc = build_yaml_value(valuer, node, depth, &merged);

	if (rc < 0)
		return rc;
	while (json_next(merged, &key, &value))
		if (!json_get(object, key))
			json_set(object, key, json_ref(value));
	return 0;
}

static int merge_yaml_value(struct valuer *valuer, const struct node *node, int depth,
			    struct json *object)
{
	const struct node *list = resolve_yaml_alias(node);
	int rc = 0;

	if (list->kind != NODE_LIST)
		return merge_map(valuer, node, depth, object);
	for (const struct node_entry *at = list->first; rc == 0 && at; at = at->next)
		rc = merge_map(valuer, at->value, depth, object);
	return rc;
}

static int build_yaml_map(struct valuer *valuer, const struct node *map, int depth,
			  struct json **ret_value)
{
	struct json *object CLEANUP(json_cleanup) = json_new_object();
	int rc = build_yaml_members(valuer, map, depth, object);
	bool has_merged = false;

	for (const struct node_entry *entry = map->first; entry && rc == 0; entry = entry->next) {
		if (!is_merge(entry))
			continue;
		rc = has_merged ? duplicate_key(valuer, map, entry)
				: merge_yaml_value(valuer, entry->value, depth, object);
		has_merged = true;
	}
	if (rc == 0)
		*ret_value = TAKE(object);
	return rc;
}

static int build_yaml_value(struct valuer *valuer, const struct node *node, int depth,
			    struct json **ret_value)
{
	const struct node *target = resolve_yaml_alias(node);
	size_t cost = NODE_COST + (target->kind == NODE_SCALAR ? strlen(target->text) : 0);

	/* Each visit costs, also through an alias: a small text of aliases to them is bounded. */
	if (cost > valuer->cost_left)
		return yaml_fault(valuer->err, ERR_LIMIT, target->place,
				  "the document is too large after its aliases are expanded");
	valuer->cost_left -= cost;
	if (target->kind == NODE_SCALAR)
		return build_yaml_scalar(valuer, target, ret_value);
	if (depth == YAML_DEPTH_LIMIT)
		return yaml_fault(valuer->err, ERR_LIMIT, node->place,
				  "nested more than %d levels deep", YAML_DEPTH_LIMIT);
	if (target->kind == NODE_LIST)
		return build_yaml_list(valuer, target, depth + 1, ret_value);
	return build_yaml_map(valuer, target, depth + 1, ret_value);
}

int yaml_node_value(struct node *root, struct arena *arena, struct json **ret_value,
		    struct err *err)
{
	struct valuer valuer = {arena, YAML_EXPANSION_LIMIT, err};

	return build_yaml_value(&valuer, root, 0, ret_value);
}

/* One step of a path: `name` and `len`, or an index where `name` is NULL. */
struct step {
	const char *name;
	size_t len;
	size_t index;
};

/* Reads `name`, `["name"]` or `[index]` at *path, which advances to the next step. */
static bool parse_node_path_step(const char **path, struct step *step)
{
	const char *at = *path + (**path == '.');
	bool is_quoted = text_starts_with(at, "[\"");
	bool is_index = *at == '[' && !is_quoted;
	const char *begin = at + (is_quoted ? 2 : is_index);
	const char *end =
		is_quoted ? strstr(begin, "\"]") : begin + strcspn(begin, is_index ? "]" : ".[");

	if (!end || *at == '\0' || (is_index && (*begin < '0' || *begin > '9')))
		return false;
	step->name = is_index ? NULL : begin;
	step->len = (size_t) (end - begin);
	step->index = is_index ? strtoul(begin, NULL, 10) : 0;
	*path = end + (is_quoted ? 2 : is_index && *end);
	return true;
}

static const struct node_entry *find_merged(const struct node *node, const struct step *step);

static const struct node_entry *find_member(const struct node *map, const struct step *step)
{
	for (const struct node_entry *entry = map->first; entry; entry = entry->next)
		if (entry->name && strlen(entry->name) == step->len &&
		    memcmp(entry->name, step->name, step->len) == 0)
			return entry;
	for (const struct node_entry *entry = map->first; entry; entry = entry->next)
		if (!entry->name)
			return find_merged(entry->value, step);
	return NULL;
}

static const struct node_entry *find_merged(const struct node *node, const struct step *step)
{
	const struct node *target = resolve_yaml_alias(node);
	const struct node_entry *found = NULL;

	if (target->kind == NODE_MAP)
		return find_member(target, step);
	for (const struct node_entry *at = target->first; !found && at; at = at->next)
		found = find_member(resolve_yaml_alias(at->value), step);
	return found;
}

static const struct node_entry *find_child_entry(const struct node *node, const struct step *step)
{
	if (step->name)
		return node->kind == NODE_MAP ? find_member(node, step) : NULL;
	const struct node_entry *item = node->kind == NODE_LIST ? node->first : NULL;

	for (size_t i = 0; item && i < step->index; i++)
		item = item->next;
	return item;
}

const struct node *yaml_node_at(const struct node *root, const char *path, bool *ret_is_there,
				struct place *ret_place)
{
	const struct node *node = root;
	struct step step;

	*ret_place = root->place;
	*ret_is_there = false;
	while (parse_node_path_step(&path, &step)) {
		const struct node_entry *entry = find_child_entry(resolve_yaml_alias(node), &step);

		if (!entry)
			return node;
		const struct node *key = entry->key;

		node = entry->value;
		/* A member whose value begins on a later line has the position of its key. */
		*ret_place = key && key->place.line != node->place.line ? key->place : node->place;
	}
	*ret_is_there = *path == '\0';
	return node;
}
