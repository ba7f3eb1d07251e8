#include "spec/output_path.h"

#include "base/mem.h"
#include "base/text.h"

#include <string.h>

#define LETTERS "jxt%"

/* Also returns whether the last part names the replica. */
static int check_output_path(const char *path, bool *ret_names_replica, struct err *err)
{
	bool names_replica = false;

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
	*ret_names_replica = names_replica;
	return 0;
}

int output_path_read(const char *path, char **ret_pattern, struct err *err)
{
	bool is_file = false;

	if (!*path)
		return err_set(err, ERR_INVALID, "expected a directory");
	int rc = check_output_path(path, &is_file, err);

	if (rc == 0)
		*ret_pattern = is_file ? mem_copy_text(path) : mem_format("%s/%%t.log", path);
	return rc;
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
