#include "http/query.h"

#include "base/mem.h"

#include <event2/http.h>
#include <event2/keyvalq_struct.h>

struct http_query {
	struct evkeyvalq parameters;
};

struct http_query *http_query_new(const char *query)
{
	struct http_query *parsed = mem_new(sizeof(*parsed));
	bool has_nul = query && strstr(query, "%00"); /* would end its value */

	if (!has_nul && evhttp_parse_query_str(query ? query : "", &parsed->parameters) == 0)
		return parsed;
	free(parsed);
	return NULL;
}

void http_query_cleanup(struct http_query **query)
{
	if (*query)
		evhttp_clear_headers(&(*query)->parameters);
	free(*query);
}

bool http_query_next(const struct http_query *query, const void **place, const char **ret_name,
		     const char **ret_value)
{
	const struct evkeyval *before = *place;
	const struct evkeyval *one = before ? before->next.tqe_next : query->parameters.tqh_first;

	if (!one)
		return false;
	*place = one;
	*ret_name = one->key;
	*ret_value = one->value;
	return true;
}

static void add_escaped(struct text *text, const char *word)
{
	char *escaped = evhttp_uriencode(word, -1, 0);

	text_add(text, escaped ? escaped : "");
	free(escaped);
}

void http_query_add(struct text *text, const char *name, const char *value)
{
	add_escaped(text, name);
	text_add_char(text, '=');
	add_escaped(text, value);
}
