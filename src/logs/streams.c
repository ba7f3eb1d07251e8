#include "logs/streams.h"

#include "base/mem.h"
#include "base/text.h"

#include <string.h>
#include <unistd.h>

#define DEFAULT_PREFIX "[${role_name}${local_rank}]:"
#define LONGEST_HOST_NAME 256
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

/* NULL: it has none. */
static const struct stream_rule *rule_of(const struct streams *streams, const struct log_name *name)
{
	return streams && (size_t) name->index < streams->n_rules ? &streams->rules[name->index]
								  : NULL;
}

/* A log of both streams is shown, marked and copied with either. */
static bool has_stream(const struct streams *streams, const struct log_name *name, int set)
{
	int own = !streams->are_apart ? STREAM_BOTH
		  : name->is_stderr   ? STREAM_STDERR
				      : STREAM_STDOUT;

	return (set & own) != 0;
}

bool streams_show(const struct streams *streams, const struct log_name *name)
{
	const struct stream_rule *rule = rule_of(streams, name);

	return !rule || has_stream(streams, name, rule->shown);
}

bool streams_mark(const struct streams *streams, const struct log_name *name)
{
	const struct stream_rule *rule = rule_of(streams, name);

	return rule && has_stream(streams, name, rule->marked);
}

bool streams_copy(const struct streams *streams, const struct log_name *name)
{
	const struct stream_rule *rule = rule_of(streams, name);

	return !rule || has_stream(streams, name, rule->copied);
}

/* The place of a variable in a template of Python's string.Template: "${name}" or "$name". Returns
 * its end, or NULL if there is none. */
static const char *read_variable(const char *dollar, const char **ret_name, size_t *ret_len)
{
	bool has_brace = dollar[1] == '{';
	const char *name = dollar + 1 + has_brace;
	size_t len = strspn(name, LETTERS);

	if (len == 0 || (has_brace && name[len] != '}'))
		return NULL;
	*ret_name = name;
	*ret_len = len;
	return name + len + has_brace;
}

/* False: the name is unknown. */
static bool add_variable(const struct streams *streams, const char *name, size_t len, int index,
			 int first_rank, struct text *text)
{
	char *word CLEANUP(mem_free_text) = mem_copy_bytes(name, len);
	char host[LONGEST_HOST_NAME] = "";

	if (text_equals(word, "role_name"))
		text_add(text, streams->role_name ? streams->role_name : "default");
	else if (text_equals(word, "rank"))
		text_addf(text, "%d", first_rank + index);
	else if (text_equals(word, "local_rank"))
		text_addf(text, "%d", index);
	else if (text_equals(word, "hostname") && gethostname(host, sizeof(host) - 1) == 0)
		text_add(text, host);
	else
		return false;
	return true;
}

char *streams_prefix(const struct streams *streams, int index, int first_rank)
{
	const char *at = streams->prefix ? streams->prefix : DEFAULT_PREFIX;
	struct text text = {0};

	while (*at) {
		const char *name;
		size_t len;
		const char *end = *at == '$' ? read_variable(at, &name, &len) : NULL;

		if (end && add_variable(streams, name, len, index, first_rank, &text)) {
			at = end;
			continue;
		}
		text_add_char(&text, *at);
		at += text_starts_with(at, "$$") ? 2 : 1;
	}
	return text_take(&text);
}
