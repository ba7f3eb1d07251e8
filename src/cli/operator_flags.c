#include "cli/operator_flags.h"

#include "base/mem.h"
#include "base/names.h"

#include <stdlib.h>
#include <string.h>

#define NAMESPACE_VARIABLE "KUBEFLOW_NAMESPACE"
#define KIND "tfjob"
#define ENCODERS_LEVEL "zap-log-level"

static const char *const kinds[] = {KIND,     "pytorchjob", "xgboostjob",
				    "mpijob", "paddlejob",  "jaxjob"};

static bool serves_tfjobs(const char *const *schemes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcasecmp(schemes[i], KIND))
			return true;
	return count == 0;
}

int operator_flags_check(const struct options *options, struct err *err)
{
	size_t count;
	const char *const *schemes = option_list(options, "enable-scheme", &count);

	for (size_t i = 0; i < count; i++)
		if (name_find_word_ignoring_case(kinds, ARRAY_LEN(kinds), schemes[i]) < 0)
			return err_set(err, ERR_INVALID,
				       "--enable-scheme: scheme %s is not supported yet",
				       schemes[i]);
	if (serves_tfjobs(schemes, count))
		return 0;
	return err_set(
		err, ERR_INVALID,
		"--enable-scheme=%s: muster manages only TFJob objects; let training-operator "
		"manage the other kinds, with --enable-scheme for each of them",
		schemes[0]);
}

/* The flags that cmd_operator.c lists without a sentence, except these, which have an effect. */
static bool is_meaningless(const struct option_row *row)
{
	static const char *const meant[] = {"enable-scheme", ENCODERS_LEVEL, "zap-encoder"};

	return !row->one_line && name_find_word(meant, ARRAY_LEN(meant), row->name) < 0;
}

static void add_flag(struct text *text, const char *flag)
{
	text_addf(text, "%s--%s", text->len ? ", " : "", flag);
}

void operator_flags_add_meaningless(struct text *text, const struct options *options)
{
	const struct option_row *row;
	size_t count;
	const char *const *schemes = option_list(options, "enable-scheme", &count);

	for (size_t i = 0; i < count; i++)
		if (strcasecmp(schemes[i], KIND) != 0) {
			char *flag CLEANUP(mem_free_text) =
				mem_format("enable-scheme=%s", schemes[i]);

			add_flag(text, flag);
		}
	for (size_t i = 0; (row = options_row(options_command(options), i)); i++)
		if (is_meaningless(row) && option_is_given(options, row->name))
			add_flag(text, row->name);
}

/* Namespaces. */

struct name_list {
	char **names;
	size_t count, capacity;
};

static void add_namespace_once(struct name_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (text_equals(list->names[i], name))
			return;
	mem_grow(&list->names, &list->capacity, list->count + 1, sizeof(*list->names));
	list->names[list->count++] = mem_copy_text(name);
	list->names[list->count] = NULL;
}

static int add_names(struct name_list *list, const char *from, const char *names, struct err *err)
{
	char *copy CLEANUP(mem_free_text) = mem_copy_text(names);
	char *rest = copy;

	for (char *name; (name = strsep(&rest, ","));) {
		if (!*name)
			continue;
		if (!name_is_dns_label(name))
			return err_set(err, ERR_INVALID, "%s: '%s' is not a valid namespace name",
				       from, name);
		add_namespace_once(list, name);
	}
	return 0;
}

int operator_namespaces(const struct options *options, char ***ret_list, struct err *err)
{
	struct name_list list = {.names = mem_new_array(1, sizeof(*list.names)), .capacity = 1};
	const char *variable = getenv(NAMESPACE_VARIABLE);
	size_t count;
	const char *const *given = option_list(options, "namespace", &count);
	int rc = 0;

	for (size_t i = 0; i < count && rc == 0; i++)
		rc = add_names(&list, "--namespace", given[i], err);
	if (count == 0 && variable)
		rc = add_names(&list, NAMESPACE_VARIABLE, variable, err);
	if (rc < 0)
		operator_namespaces_free(list.names);
	else
		*ret_list = list.names;
	return rc;
}

void operator_namespaces_free(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

/* Numbers are zap's: 1 and more log ever more. */
enum log_level operator_log_level(const struct options *options)
{
	const char *zap = option_text(options, ENCODERS_LEVEL);
	int64_t number = 0;
	bool is_number = zap && text_read_int(zap, 0, INT64_MAX, &number, NULL) == 0;

	if (log_is_on(LOG_DEBUG) || text_equals(zap, "debug") || (is_number && number > 0))
		return LOG_DEBUG;
	if (log_is_on(LOG_INFO) || text_equals(zap, "info"))
		return LOG_INFO;
	return LOG_WARNING;
}
