#include "http/query.h"

#include "base/mem.h"
#include "unit.h"

TEST(a_query_has_its_parameters_in_order)
{
	struct http_query *query CLEANUP(http_query_cleanup) = http_query_new("a=1&b=x%20y+z&a=");
	struct text text CLEANUP(text_done) = {0};
	const char *name, *value;

	for (const void *place = NULL; http_query_next(query, &place, &name, &value);)
		text_addf(&text, "%s=%s;", name, value);
	assert_string_equal(text_of(&text), "a=1;b=x y z;a=;");
}

TEST(a_query_that_is_cut_or_has_no_form_is_none)
{
	static const char *const queries[] = {"a", "a=1&b", "a=abc%00/../x", "a%00=1"};

	for (size_t i = 0; i < ARRAY_LEN(queries); i++)
		assert_null(http_query_new(queries[i]));
}
