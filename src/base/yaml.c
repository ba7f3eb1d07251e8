/* YAML on libyaml, in this file alone: its events become nodes, JSON values become its events. */
#include "base/yaml.h"

#include "base/line_text.h"
#include "base/mem.h"
#include "base/yaml_node.h"

#include <yaml.h>

struct document {
	struct arena *arena; /* NULL: the nodes are another document's */
	const struct node *root;
	struct json *value;
};

struct anchor {
	struct anchor *next;
	const char *name;
	struct node *node;
};

struct reader {
	yaml_parser_t parser;
	const char *bytes;
	size_t len;
	struct arena *arena; /* of the current document */
	struct anchor *anchors; /* of the current document, the latest first */
	int n_anchors;
	bool is_unreadable; /* libyaml rejected the text itself */
	struct err *err;
};

struct document_list {
	struct document **documents;
	size_t count;
	size_t capacity;
};

static void free_documents(struct document **documents, size_t count, bool are_secret)
{
	for (size_t i = 0; i < count; i++) {
		(are_secret ? json_free_secret : json_free)(documents[i]->value);
		(are_secret ? arena_free_secret : arena_free)(documents[i]->arena);
		free(documents[i]);
	}
	free(documents);
}

void documents_free(struct document **documents, size_t count)
{
	free_documents(documents, count, false);
}

void documents_free_secret(struct document **documents, size_t count)
{
	free_documents(documents, count, true);
}

static void document_list_done(struct document_list *list)
{
	documents_free(list->documents, list->count);
}

struct json *document_root(const struct document *document)
{
	return document->value;
}

struct place document_place(const struct document *document, const char *path)
{
	struct place place;

	document_find(document, path, &place);
	return place;
}

bool document_find(const struct document *document, const char *path, struct place *ret_place)
{
	bool is_there;

	(void) yaml_node_at(document->root, path, &is_there, ret_place);
	return is_there;
}

static struct document *document_new(struct arena *take_arena, const struct node *root,
				     struct json *take_value)
{
	struct document *document = mem_new(sizeof(*document));

	*document = (struct document){take_arena, root, take_value};
	return document;
}

struct document *document_new_part(const struct document *whole, const char *path,
				   struct json *take_value)
{
	struct place place;
	bool is_there;

	return document_new(NULL, yaml_node_at(whole->root, path, &is_there, &place), take_value);
}

/* Appends the document to the list, unless its value is null. Takes the arena over on success. */
static int add_document(struct document_list *list, struct arena **take_arena, struct node *root,
			struct err *err)
{
	struct json *value CLEANUP(json_cleanup) = NULL;
	int rc = yaml_node_value(root, *take_arena, &value, err);

	if (rc < 0 || json_is(value, JSON_NULL))
		return rc;
	if (list->count == YAML_DOCUMENTS_LIMIT)
		return yaml_fault(err, ERR_LIMIT, root->place, "more than %d documents",
				  YAML_DOCUMENTS_LIMIT);
	struct document *document = document_new(TAKE(*take_arena), root, TAKE(value));

	mem_grow(&list->documents, &list->capacity, list->count, sizeof(void *));
	list->documents[list->count++] = document;
	return 0;
}

static struct place place_of_mark(yaml_mark_t mark)
{
	return (struct place){(int) mark.line + 1, (int) mark.column + 1};
}

static struct place place_of_offset(const struct reader *reader, size_t offset)
{
	struct place place = {1, 1};

	for (size_t i = 0; i < offset && i < reader->len; i++) {
		if (reader->bytes[i] == '\n')
			place = (struct place){place.line + 1, 1};
		else if ((reader->bytes[i] & 0xc0) != 0x80)
			place.column++;
	}
	return place;
}

/* libyaml's message, or a better one for the most common errors. */
static const char *problem_of(const struct reader *reader)
{
	const yaml_parser_t *parser = &reader->parser;
	const char *problem = parser->problem ? parser->problem : "not valid YAML";

	if (text_equals(problem, "did not find expected <document start>"))
		return "the document ended before this line; begin another document with '---'";
	if (text_equals(problem, "found character that cannot start any token") &&
	    parser->buffer.pointer < parser->buffer.last && *parser->buffer.pointer == '\t')
		return "found a tab (expected spaces)";
	return problem;
}

/* The offset of that line, counted from 1; the end if the text has fewer lines. */
static size_t begin_of_line(const struct reader *reader, int line)
{
	size_t at = 0;

	while (line > 1 && at < reader->len)
		if (reader->bytes[at++] == '\n')
			line--;
	return at;
}

/* Appends what the user may overlook in the line of a fault, or in the line before, which may have
 * caused it; nothing if there is no such thing. */
static void add_likely_cause(const struct reader *reader, struct place place, struct text *text)
{
	size_t begin = begin_of_line(reader, place.line - 1);
	size_t end = begin_of_line(reader, place.line + 1);
	const char *lines = reader->bytes + begin;
	size_t offset = 0;
	const struct lookalike *found = lookalike_find(lines, end - begin, &offset);

	if (found) {
		struct place where = place_of_offset(reader, begin + offset);

		text_addf(text, "; line %d, column %d has U+%04X (%s)", where.line, where.column,
			  (unsigned) found->code_point, found->name);
	} else if (memmem(lines, end - begin, "{{", 2)) {
		text_add(text, "; " YAML_TEMPLATE_HINT);
	}
}

static int syntax_fault(struct reader *reader)
{
	const yaml_parser_t *parser = &reader->parser;
	struct place place = place_of_mark(parser->problem_mark);
	struct text cause CLEANUP(text_done) = {0};

	if (parser->error == YAML_MEMORY_ERROR)
		mem_abort();
	reader->is_unreadable = true;
	if (parser->error == YAML_READER_ERROR)
		place = place_of_offset(reader, parser->problem_offset);
	add_likely_cause(reader, place, &cause);
	if (!parser->context || parser->context_mark.line == parser->problem_mark.line)
		return yaml_fault(reader->err, ERR_INVALID, place, "%s%s", problem_of(reader),
				  text_of(&cause));
	return yaml_fault(reader->err, ERR_INVALID, place, "%s %s that begins at line %zu%s",
			  problem_of(reader), parser->context, parser->context_mark.line + 1,
			  text_of(&cause));
}

static int next_event(struct reader *reader, yaml_event_t *event)
{
	return yaml_parser_parse(&reader->parser, event) ? 0 : syntax_fault(reader);
}

static const char *copy_text(struct reader *reader, const yaml_char_t *text)
{
	return arena_copy_text(reader->arena, (const char *) text);
}

static int store_yaml_anchor(struct reader *reader, const yaml_char_t *name, struct node *node)
{
	if (!name)
		return 0;
	if (++reader->n_anchors > YAML_ANCHORS_LIMIT)
		return yaml_fault(reader->err, ERR_LIMIT, node->place, "more than %d anchors",
				  YAML_ANCHORS_LIMIT);
	struct anchor *anchor = arena_take(reader->arena, sizeof(*anchor));

	*anchor = (struct anchor){reader->anchors, copy_text(reader, name), node};
	reader->anchors = anchor;
	return 0;
}

static int read_alias(struct reader *reader, const yaml_event_t *event, struct node *node)
{
	const char *name = (const char *) event->data.alias.anchor;
	const struct anchor *anchor = reader->anchors;

	while (anchor && !text_equals(anchor->name, name))
		anchor = anchor->next;
	if (!anchor)
		return yaml_fault(reader->err, ERR_INVALID, node->place,
				  "anchor '&%s' is not defined before this line", name);
	if (anchor->node->is_open)
		return yaml_fault(reader->err, ERR_INVALID, node->place,
				  "the anchor '&%s' would contain itself", name);
	node->target = anchor->node;
	return 0;
}

static int read_scalar(struct reader *reader, const yaml_event_t *event, struct node *node)
{
	if (memchr(event->data.scalar.value, '\0', event->data.scalar.length))
		return yaml_fault(reader->err, ERR_INVALID, node->place,
				  "a string cannot contain a NUL character");
	node->text = copy_text(reader, event->data.scalar.value);
	node->tag = copy_text(reader, event->data.scalar.tag);
	node->is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	return store_yaml_anchor(reader, event->data.scalar.anchor, node);
}

static int read_node(struct reader *reader, const yaml_event_t *event, int depth,
		     struct node **ret_node);

/* Reads the nodes up to the end of a list or map; a map's nodes come in pairs. */
static int read_entries(struct reader *reader, int depth, struct node *node)
{
	struct node *key = NULL;

	if (depth > YAML_DEPTH_LIMIT)
		return yaml_fault(reader->err, ERR_LIMIT, node->place,
				  "nested more than %d levels deep", YAML_DEPTH_LIMIT);
	for (;;) {
		yaml_event_t event CLEANUP(yaml_event_delete) = {0};
		struct node *child = NULL;
		int rc = next_event(reader, &event);

		if (rc < 0)
			return rc;
		if (event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT)
			return 0;
		rc = read_node(reader, &event, depth, &child);
		if (rc < 0)
			return rc;
		if (node->kind == NODE_MAP && !key) {
			key = child;
			continue;
		}
		yaml_node_add(reader->arena, node, key, child);
		key = NULL;
	}
}

static int read_collection(struct reader *reader, const yaml_char_t *anchor, int depth,
			   struct node *node)
{
	int rc = store_yaml_anchor(reader, anchor, node);

	if (rc < 0)
		return rc;
	node->is_open = true;
	rc = read_entries(reader, depth + 1, node);
	node->is_open = false;
	return rc;
}

static int read_node(struct reader *reader, const yaml_event_t *event, int depth,
		     struct node **ret_node)
{
	struct place place = place_of_mark(event->start_mark);
	enum node_kind kind = event->type == YAML_SCALAR_EVENT           ? NODE_SCALAR
			      : event->type == YAML_ALIAS_EVENT          ? NODE_ALIAS
			      : event->type == YAML_SEQUENCE_START_EVENT ? NODE_LIST
									 : NODE_MAP;
	struct node *node = yaml_node_new(reader->arena, kind, place);

	*ret_node = node;
	switch (kind) {
	case NODE_SCALAR:
		return read_scalar(reader, event, node);
	case NODE_ALIAS:
		return read_alias(reader, event, node);
	case NODE_LIST:
		return read_collection(reader, event->data.sequence_start.anchor, depth, node);
	case NODE_MAP:
		return read_collection(reader, event->data.mapping_start.anchor, depth, node);
	}
	return 0;
}

/* Reads from a document's start event, which was already read, to its end event. */
static int read_yaml_document(struct reader *reader, struct document_list *list)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	yaml_event_t first CLEANUP(yaml_event_delete) = {0};
	yaml_event_t end CLEANUP(yaml_event_delete) = {0};
	struct node *root = NULL;

	reader->arena = arena;
	reader->anchors = NULL;
	reader->n_anchors = 0;
	int rc = next_event(reader, &first);

	if (rc == 0)
		rc = read_node(reader, &first, 0, &root);
	if (rc == 0)
		rc = next_event(reader, &end);
	if (rc == 0)
		rc = add_document(list, &arena, root, reader->err);
	return rc;
}

static void reader_done(struct reader *reader)
{
	yaml_parser_delete(&reader->parser);
}

static int read_yaml(const char *bytes, size_t len, struct document_list *list,
		     bool *ret_is_unreadable, struct err *err)
{
	struct reader reader CLEANUP(reader_done) = {.bytes = bytes, .len = len, .err = err};
	bool is_at_end = false;
	int rc = 0;

	if (!yaml_parser_initialize(&reader.parser))
		mem_abort();
	yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&reader.parser, (const unsigned char *) bytes, len);
	while (rc == 0 && !is_at_end) {
		yaml_event_t event CLEANUP(yaml_event_delete) = {0};

		rc = next_event(&reader, &event);
		is_at_end = event.type == YAML_STREAM_END_EVENT;
		if (rc == 0 && event.type == YAML_DOCUMENT_START_EVENT)
			rc = read_yaml_document(&reader, list);
	}
	*ret_is_unreadable = reader.is_unreadable;
	return rc;
}

/* A bracket before a quote, a number or its end: a YAML flow style seldom begins so. */
static bool looks_like_json(const char *bytes, size_t len)
{
	size_t at = 0;
	bool has_bracket = false;

	for (; at < len && strchr(" \t\r\n{[", bytes[at]); at++)
		has_bracket |= bytes[at] == '{' || bytes[at] == '[';
	if (at > 1 && memcmp(bytes + at - 2, "{{", 2) == 0)
		return false; /* a template */
	return has_bracket && at < len && strchr("\"]}-0123456789", bytes[at]);
}

/* JSON is YAML, except for what libyaml cannot read. Only then it is read as JSON. If that fails
 * too, the JSON error is the one that the author of the file understands. */
static int read_documents(const char *bytes, size_t len, struct document_list *list,
			  struct err *err)
{
	struct arena *arena CLEANUP(arena_cleanup) = NULL;
	struct json *value CLEANUP(json_cleanup) = NULL;
	struct err yaml_err = {0};
	bool is_unreadable = false;
	int rc = read_yaml(bytes, len, list, &is_unreadable, &yaml_err);

	if (rc == 0 || !is_unreadable || list->count > 0 || !looks_like_json(bytes, len))
		return err_copy(err, &yaml_err);
	rc = json_read(bytes, len, &value, err);
	if (rc < 0)
		return rc;
	arena = arena_new();
	return add_document(list, &arena, yaml_json_nodes(bytes, len, value, arena), err);
}

int documents_read(const char *bytes, size_t len, struct document ***ret_documents,
		   size_t *ret_count, struct err *err)
{
	struct document_list list CLEANUP(document_list_done) = {0};

	if (len > YAML_SIZE_LIMIT)
		return err_set(err, ERR_LIMIT, "%zu bytes exceed the limit of %d MiB", len,
			       YAML_SIZE_LIMIT / 1024 / 1024);
	/* By its byte order mark, or by the zero byte in each of the first characters. */
	if (len >= 2 && (memcmp(bytes, "\xff\xfe", 2) == 0 || memcmp(bytes, "\xfe\xff", 2) == 0 ||
			 !bytes[0] != !bytes[1]))
		return err_set(err, ERR_INVALID,
			       "encoded in UTF-16 (expected UTF-8); convert it: iconv -f UTF-16 -t "
			       "UTF-8");
	if (len >= 3 && memcmp(bytes, BYTE_ORDER_MARK, 3) == 0) {
		bytes += 3;
		len -= 3;
	}
	int rc = read_documents(bytes, len, &list, err);

	if (rc < 0)
		return rc;
	*ret_count = list.count;
	*ret_documents = TAKE(list.documents);
	list.count = 0;
	return 0;
}

static int write_bytes(void *to_text, unsigned char *bytes, size_t len)
{
	text_add_bytes(to_text, bytes, len);
	return 1;
}

/* libyaml rejects an event only for lack of memory: our events are in order, our texts UTF-8. */
static void must(int is_done)
{
	if (!is_done)
		mem_abort();
}

/* Line breaks of Unicode. */
static bool has_long_break(const char *text)
{
	return strstr(text, "\xc2\x85") || strstr(text, "\xe2\x80\xa8") ||
	       strstr(text, "\xe2\x80\xa9");
}

static bool has_line_break(const char *text)
{
	return strpbrk(text, "\n\r") || has_long_break(text);
}

/* Text that block style preserves: printable lines that neither begin nor end in a way that YAML
 * reads as indentation or folds away. */
static bool fits_block_style(const char *text)
{
	if (strchr(" \n", *text) || strstr(text, " \n") || has_long_break(text))
		return false;
	for (; *text; text++)
		if (((unsigned char) *text < ' ' && *text != '\n') || *text == '\x7f')
			return false;
	return true;
}

static yaml_scalar_style_t style_of(const char *text)
{
	/* Dates, times and 12:30:00, which are text for kubectl but not for every YAML reader. */
	bool looks_like_time = *text >= '0' && *text <= '9' && strpbrk(text, ":-") &&
			       text[strspn(text, "0123456789:-.TZ")] == '\0';

	if (has_line_break(text))
		return fits_block_style(text) ? YAML_LITERAL_SCALAR_STYLE
					      : YAML_DOUBLE_QUOTED_SCALAR_STYLE;
	if (yaml_resolve(text).type != JSON_STRING || text_equals(text, "<<") ||
	    text_equals(text, "=") || looks_like_time)
		return YAML_DOUBLE_QUOTED_SCALAR_STYLE;
	return YAML_ANY_SCALAR_STYLE; /* plain if its characters allow it */
}

static void emit(yaml_emitter_t *emitter, yaml_event_t *event, int is_initialized)
{
	must(is_initialized && yaml_emitter_emit(emitter, event));
}

static void emit_scalar(yaml_emitter_t *emitter, const char *text, yaml_scalar_style_t style)
{
	yaml_event_t event;

	emit(emitter, &event,
	     yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *) text,
					  (int) strlen(text), 1, 1, style));
}

static void emit_value(yaml_emitter_t *emitter, const struct json *value)
{
	const char *key = NULL;
	struct json *member;
	yaml_event_t event;

	if (json_is(value, JSON_ARRAY)) {
		emit(emitter, &event,
		     yaml_sequence_start_event_initialize(&event, NULL, NULL, 1,
							  YAML_BLOCK_SEQUENCE_STYLE));
		for (size_t i = 0; i < json_count(value); i++)
			emit_value(emitter, json_at(value, i));
		emit(emitter, &event, yaml_sequence_end_event_initialize(&event));
	} else if (json_is(value, JSON_OBJECT)) {
		emit(emitter, &event,
		     yaml_mapping_start_event_initialize(&event, NULL, NULL, 1,
							 YAML_BLOCK_MAPPING_STYLE));
		while (json_next(value, &key, &member)) {
			emit_scalar(emitter, key,
				    has_line_break(key) ? YAML_DOUBLE_QUOTED_SCALAR_STYLE
							: style_of(key));
			emit_value(emitter, member);
		}
		emit(emitter, &event, yaml_mapping_end_event_initialize(&event));
	} else if (json_is(value, JSON_STRING)) {
		const char *string = json_as_string(value, "");

		emit_scalar(emitter, string, style_of(string));
	} else {
		struct text text CLEANUP(text_done) = {0};

		json_add_compact(&text, value);
		emit_scalar(emitter, text_of(&text), YAML_PLAIN_SCALAR_STYLE);
	}
}

void yaml_add(struct text *text, const struct json *value)
{
	yaml_emitter_t emitter CLEANUP(yaml_emitter_delete) = {0};
	yaml_event_t event;

	must(yaml_emitter_initialize(&emitter));
	yaml_emitter_set_output(&emitter, write_bytes, text);
	yaml_emitter_set_unicode(&emitter, 1);
	yaml_emitter_set_width(&emitter, -1);
	emit(&emitter, &event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING));
	emit(&emitter, &event, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1));
	emit_value(&emitter, value);
	emit(&emitter, &event, yaml_document_end_event_initialize(&event, 1));
	emit(&emitter, &event, yaml_stream_end_event_initialize(&event));
}
