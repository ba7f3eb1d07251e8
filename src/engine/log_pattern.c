#include "engine/log_pattern.h"

int log_pattern_init(struct log_pattern *pattern, const char *expression, struct err *err)
{
	*pattern = (struct log_pattern){0};
	if (!expression)
		return 0;
	int failure = regcomp(&pattern->expression, expression, REG_EXTENDED | REG_NOSUB);

	if (failure) {
		char reason[200];

		regerror(failure, &pattern->expression, reason, sizeof(reason));
		return err_set(err, ERR_INVALID, "'%s' is no regular expression: %s", expression,
			       reason);
	}
	pattern->is_set = true;
	return 0;
}

void log_pattern_done(struct log_pattern *pattern)
{
	if (pattern->is_set)
		regfree(&pattern->expression);
	text_done(&pattern->line);
	pattern->is_set = false;
}

/* POSIX searches text up to its NUL. REG_STARTEND (BSD, glibc, musl) goes on behind NULs that stand
 * in the line; the one behind it is for libraries which look for it all the same. */
bool log_pattern_matches(struct log_pattern *pattern, const char *bytes, size_t len)
{
	regmatch_t range = {.rm_so = 0, .rm_eo = (regoff_t) len};

	if (!pattern->is_set)
		return true;
	text_clear(&pattern->line);
	text_add_bytes(&pattern->line, bytes, len);
	return regexec(&pattern->expression, text_of(&pattern->line), 1, &range, REG_STARTEND) == 0;
}
