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
	pattern->is_set = false;
}

bool log_pattern_matches(const struct log_pattern *pattern, const char *bytes, size_t len)
{
	/* REG_STARTEND (BSD, glibc, musl): the text may hold NULs and needs none at its end. */
	regmatch_t range = {.rm_so = 0, .rm_eo = (regoff_t) len};

	return !pattern->is_set ||
	       regexec(&pattern->expression, bytes, 1, &range, REG_STARTEND) == 0;
}
