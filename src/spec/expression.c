/* One pass over the text, with a stack of the open groups. */
#include "spec/expression.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_LIMIT 100

struct group {
	long size; /* characters that it stands for so far */
	long last; /* those of its last part, to which a repeat applies */
};

struct scan {
	const char *expression;
	const char *at;
	struct group groups[DEPTH_LIMIT]; /* the open ones; the first is the whole expression */
	int depth;
};

static int fail_for_size(const struct scan *scan, struct err *err)
{
	return err_set(err, ERR_INVALID,
		       "'%s' expands to more than %d characters, which would make the search too "
		       "slow; use smaller repeat counts, or * or +",
		       scan->expression, EXPRESSION_LIMIT);
}

static int add_part(struct scan *scan, long size, struct err *err)
{
	struct group *group = &scan->groups[scan->depth];

	group->last = size;
	group->size += size;
	return group->size > EXPRESSION_LIMIT ? fail_for_size(scan, err) : 0;
}

/* The position after "[…]", in which "]" may be first, and [:class:] and similar may occur. */
static const char *skip_bracket(const char *at)
{
	at += at[1] == '^' ? 2 : 1;
	if (*at == ']')
		at++;
	for (; *at && *at != ']'; at++) {
		char kind = at[0] == '[' ? at[1] : '\0';
		const char closing[] = {kind, ']', '\0'};
		const char *end = kind && strchr(":.=", kind) ? strstr(at + 2, closing) : NULL;

		if (end)
			at = end + 1;
	}
	return *at ? at + 1 : at;
}

/* "{n}", "{n,}" or "{n,m}"; the library has more kinds, which it searches for in other ways. */
static int read_repeat(struct scan *scan, struct err *err)
{
	struct group *group = &scan->groups[scan->depth];
	char *end;
	long least = isdigit((unsigned char) scan->at[1]) ? strtol(scan->at + 1, &end, 10) : -1;
	long most = least;

	if (least >= 0 && *end == ',')
		most = isdigit((unsigned char) end[1]) ? strtol(end + 1, &end, 10)
						       : (end++, least + 1);
	if (least < 0 || *end != '}')
		return err_set(err, ERR_INVALID,
			       "'%s' is not a regular expression: { begins a repetition, {3} or "
			       "{1,3}; for the character, write \\{",
			       scan->expression);
	scan->at = end + 1;
	if (most > EXPRESSION_LIMIT)
		return fail_for_size(scan, err);
	long size = group->last * (most > 1 ? most : 1);

	group->size -= group->last;
	return add_part(scan, size, err);
}

static int read_escape(struct scan *scan, struct err *err)
{
	char escaped = scan->at[1];

	if (escaped >= '1' && escaped <= '9')
		return err_set(err, ERR_INVALID,
			       "'%s' has a back-reference (\\%c), which extended regular "
			       "expressions do not support",
			       scan->expression, escaped);
	scan->at += escaped ? 2 : 1;
	return add_part(scan, 1, err);
}

static int read_part(struct scan *scan, struct err *err)
{
	long size = 1;

	switch (*scan->at) {
	case '\\':
		return read_escape(scan, err);
	case '(':
		scan->at++;
		if (scan->depth + 1 == DEPTH_LIMIT)
			return err_set(err, ERR_INVALID, "'%s' has nested groups, %d deep",
				       scan->expression, DEPTH_LIMIT);
		scan->groups[++scan->depth] = (struct group){0};
		return 0;
	case ')':
		scan->at++;
		if (scan->depth > 0)
			size = scan->groups[scan->depth--].size + 1;
		return add_part(scan, size, err);
	case '{':
		return read_repeat(scan, err);
	case '[':
		scan->at = skip_bracket(scan->at);
		return add_part(scan, 1, err);
	case '*':
	case '+':
	case '?':
		scan->at++;
		return 0;
	default:
		scan->at++;
		return add_part(scan, 1, err);
	}
}

int expression_check(const char *expression, struct err *err)
{
	struct scan scan = {.expression = expression, .at = expression};
	int rc = 0;

	while (rc == 0 && *scan.at)
		rc = read_part(&scan, err);
	return rc;
}
