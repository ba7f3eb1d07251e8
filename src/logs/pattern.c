/* TRE: the regular expressions of musl, with functions that take lengths. Its header is not needed
 * at build time: these are the functions of libtre.so.5. */
#include "logs/pattern.h"

#include "base/mem.h"
#include "spec/expression.h"

#include <dlfcn.h>
#include <string.h>

#define LIBRARY "libtre.so.5"
#define PACKAGE "libtre5"

#define FLAGS (1 | 1 << 3) /* REG_EXTENDED, REG_NOSUB */

struct tre_expression {
	size_t n_groups;
	void *value;
};

struct log_pattern {
	void *library;
	struct tre_expression expression;
	bool is_compiled;
	int (*compile)(struct tre_expression *expression, const char *text, size_t len, int flags);
	int (*search)(const struct tre_expression *expression, const char *bytes, size_t len,
		      size_t n_matches, void *matches, int flags);
	size_t (*describe)(int failure, const struct tre_expression *expression, char *buf,
			   size_t size);
	void (*release)(struct tre_expression *expression);
};

static int open_library(struct log_pattern *pattern, struct err *err)
{
	pattern->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (pattern->library) {
		pattern->compile = dlsym(pattern->library, "tre_regncomp");
		pattern->search = dlsym(pattern->library, "tre_regnexec");
		pattern->describe = dlsym(pattern->library, "tre_regerror");
		pattern->release = dlsym(pattern->library, "tre_regfree");
	}
	if (pattern->compile && pattern->search && pattern->describe && pattern->release)
		return 0;
	return err_set(err, ERR_UNSUPPORTED,
		       "searching logs needs " LIBRARY
		       " (%s); install it: apt-get install " PACKAGE,
		       dlerror());
}

static int compile(struct log_pattern *pattern, const char *expression, struct err *err)
{
	char reason[200];
	int failure = pattern->compile(&pattern->expression, expression, strlen(expression), FLAGS);

	pattern->is_compiled = failure == 0;
	if (pattern->is_compiled)
		return 0;
	pattern->describe(failure, &pattern->expression, reason, sizeof(reason));
	return err_set(err, ERR_INVALID, "'%s' is not a regular expression: %s", expression,
		       reason);
}

int log_pattern_new(const char *expression, struct log_pattern **ret_pattern, struct err *err)
{
	if (!expression) {
		*ret_pattern = NULL;
		return 0;
	}
	int rc = expression_check(expression, err);
	if (rc < 0)
		return rc;
	struct log_pattern *pattern = mem_new(sizeof(*pattern));

	rc = open_library(pattern, err);
	if (rc == 0)
		rc = compile(pattern, expression, err);
	if (rc < 0) {
		log_pattern_free(pattern);
		return rc;
	}
	*ret_pattern = pattern;
	return 0;
}

void log_pattern_free(struct log_pattern *pattern)
{
	if (!pattern)
		return;
	if (pattern->is_compiled)
		pattern->release(&pattern->expression);
	if (pattern->library)
		dlclose(pattern->library);
	mem_free_any(&pattern);
}

bool log_pattern_matches(const struct log_pattern *pattern, const char *bytes, size_t len)
{
	return !pattern || pattern->search(&pattern->expression, bytes, len, 0, NULL, 0) == 0;
}
