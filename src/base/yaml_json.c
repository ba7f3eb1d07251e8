/* Positions in a JSON text that libyaml rejects: JSON writes characters beyond the basic plane as
 * two escapes (\ud83d\ude00), and \/, which YAML 1.1 rejects. The text is known to be valid, and
 * its values were already read; this file walks the two in parallel. */
#include "base/yaml_node.h"

#include <string.h>

struct walker {
	const char *at;
	const char *end;
	struct place place; /* of `at` */
	struct arena *arena;
};

static void advance_json_walker(struct walker *walker)
{
	char byte = *walker->at++;

	if (byte == '\n') {
		walker->place.line++;
		walker->place.column = 1;
	} else if ((byte & 0xc0) != 0x80) {
		walker->place.column++; /* in characters, not bytes */
	}
}

static void skip(struct walker *walker, const char *bytes)
{
	while (walker->at < walker->end && strchr(bytes, *walker->at))
		advance_json_walker(walker);
}

static struct node *string_node(struct walker *walker, const char *text)
{
	struct node *node = yaml_node_new(walker->arena, NODE_SCALAR, walker->place);

	node->text = arena_copy_text(walker->arena, text);
	advance_json_walker(walker);
	while (*walker->at != '"') {
		if (*walker->at == '\\')
			advance_json_walker(walker);
		advance_json_walker(walker);
	}
	advance_json_walker(walker);
	return node;
}

static struct node *value_node(struct walker *walker, const struct json *value);

static struct node *array_node(struct walker *walker, const struct json *array)
{
	struct node *node = yaml_node_new(walker->arena, NODE_LIST, walker->place);

	advance_json_walker(walker);
	for (size_t i = 0; i < json_count(array); i++)
		yaml_node_add(walker->arena, node, NULL, value_node(walker, json_at(array, i)));
	skip(walker, " \t\r\n");
	advance_json_walker(walker);
	return node;
}

static struct node *object_node(struct walker *walker, const struct json *object)
{
	struct node *node = yaml_node_new(walker->arena, NODE_MAP, walker->place);
	const char *name = NULL;
	struct json *value;

	advance_json_walker(walker);
	while (json_next(object, &name, &value)) {
		skip(walker, " \t\r\n,");
		struct node *key = string_node(walker, name);

		skip(walker, " \t\r\n:");
		yaml_node_add(walker->arena, node, key, value_node(walker, value));
	}
	skip(walker, " \t\r\n");
	advance_json_walker(walker);
	return node;
}

static struct node *value_node(struct walker *walker, const struct json *value)
{
	skip(walker, " \t\r\n,");
	if (json_is(value, JSON_OBJECT))
		return object_node(walker, value);
	if (json_is(value, JSON_ARRAY))
		return array_node(walker, value);
	if (json_is(value, JSON_STRING))
		return string_node(walker, json_as_string(value, ""));
	/* A number, true, false or null. */
	struct node *node = yaml_node_new(walker->arena, NODE_SCALAR, walker->place);
	const char *begin = walker->at;

	while (walker->at < walker->end && !strchr(",]} \t\r\n", *walker->at))
		advance_json_walker(walker);
	node->text = arena_format(walker->arena, "%.*s", (int) (walker->at - begin), begin);
	node->is_plain = true;
	return node;
}

struct node *yaml_json_nodes(const char *bytes, size_t len, const struct json *value,
			     struct arena *arena)
{
	struct walker walker = {bytes, bytes + len, {1, 1}, arena};

	return value_node(&walker, value);
}
