/* The variables of one process. They are a few hundred at most, so a linear search is enough. */
#include "spec/environment.h"

void environment_done(struct environment *environment)
{
	for (size_t i = 0; i < environment->count; i++)
		free(environment->entries[i]);
	free(environment->entries);
	*environment = (struct environment){0};
}

/* The index of the entry, existing or not, named by the first name_len bytes of `name`. */
static size_t find_variable_index(const struct environment *environment, const char *name,
				  size_t name_len)
{
	size_t i = 0;

	while (i < environment->count && (strncmp(environment->entries[i], name, name_len) != 0 ||
					  environment->entries[i][name_len] != '='))
		i++;
	return i;
}

void environment_set(struct environment *environment, const char *name, const char *value)
{
	size_t at = find_variable_index(environment, name, strlen(name));
	char *entry = mem_format("%s=%s", name, value);

	if (at < environment->count) {
		free(environment->entries[at]);
		environment->entries[at] = entry;
		return;
	}
	mem_grow(&environment->entries, &environment->capacity, environment->count + 1,
		 sizeof(*environment->entries));
	environment->entries[environment->count++] = entry;
	environment->entries[environment->count] = NULL;
}

/* Adds the value of the expression at `dollar`, and returns the first character after it. */
static const char *add_expression(const struct environment *environment, const char *dollar,
				  struct text *text)
{
	const char *close = dollar[1] == '(' ? strchr(dollar + 2, ')') : NULL;

	if (dollar[1] == '$') {
		text_add_char(text, '$');
		return dollar + 2;
	}
	if (!close) { /* "$x", an open "$(", or a dollar at the end: nothing special */
		text_add_char(text, '$');
		return dollar + 1;
	}

	size_t name_len = (size_t) (close - dollar - 2);
	size_t at = find_variable_index(environment, dollar + 2, name_len);

	if (at < environment->count)
		text_add(text, environment->entries[at] + name_len + 1);
	else
		text_add_bytes(text, dollar, (size_t) (close + 1 - dollar));
	return close + 1;
}

void environment_add_literal(struct text *text, const char *string)
{
	for (; *string; string++) {
		if (string[0] == '$' && (string[1] == '$' || string[1] == '('))
			text_add_char(text, '$');
		text_add_char(text, *string);
	}
}

char *environment_expand(const struct environment *environment, const char *text)
{
	struct text expanded = {0};
	const char *rest = text;
	const char *dollar;

	while ((dollar = strchr(rest, '$'))) {
		text_add_bytes(&expanded, rest, (size_t) (dollar - rest));
		rest = add_expression(environment, dollar, &expanded);
	}
	text_add(&expanded, rest);
	return text_take(&expanded);
}

void environment_add_container(struct environment *environment, const struct container *container)
{
	for (size_t i = 0; i < container->n_env; i++) {
		const struct env_entry *entry = &container->env[i];

		if (!entry->value)
			continue;

		char *value CLEANUP(mem_free_text) = environment_expand(environment, entry->value);

		environment_set(environment, entry->name, value);
	}
}

int threads_of_replica(double processors, double cores, int n_replicas)
{
	if (n_replicas <= 1 && processors <= 0)
		return 0;
	double share = processors > 0 ? processors : cores / (n_replicas > 1 ? n_replicas : 1);

	return share < 1 ? 1 : share < THREADS_MAX ? (int) share : THREADS_MAX;
}
