#include "spec/output_path.h"

#include "base/mem.h"
#include "base/text.h"

#define LETTERS "jxt%"

int output_path_read(const char *path, char **ret_pattern, struct err *err)
{
	bool names_replica = false; /* in its last part */

	if (!*path)
		return err_set(err, ERR_INVALID, "expected a directory");
	for (const char *at = path; *at; at++) {
		if (*at == '/')
			names_replica = false;
		if (*at != '%')
			continue;
		at++;
		if (!*at || !strchr(LETTERS, *at))
			return err_set(err, ERR_INVALID,
				       "'%s': expected %%j (the job's name), %%t (the replica's "
				       "name) or %%%% instead of '%%%.1s'",
				       path, at);
		names_replica |= *at == 't';
	}
	*ret_pattern = names_replica ? mem_copy_text(path) : mem_format("%s/%%t.log", path);
	return 0;
}

char *output_path_of(const char *pattern, const char *job, const char *role, int index, int attempt)
{
	struct text path = {0};

	for (const char *at = pattern; *at; at++) {
		if (*at != '%') {
			text_add_char(&path, *at);
			continue;
		}
		at++;
		if (*at == 't')
			text_addf(&path, "%s-%d", role, index);
		else if (*at == 'i')
			text_addf(&path, "%d", index);
		else if (*at == 'g')
			text_addf(&path, "%d", attempt - 1);
		else
			text_add(&path, *at == '%' ? "%" : job);
	}
	return text_take(&path);
}

bool output_path_names_attempt(const char *pattern)
{
	for (const char *at = strchr(pattern, '%'); at; at = strchr(at + 2, '%'))
		if (at[1] == 'g')
			return true;
	return false;
}
