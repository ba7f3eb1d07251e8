#include "cli/replica_name.h"

#include "base/mem.h"
#include "base/text.h"
#include "spec/limits.h"

#include <stdio.h>
#include <string.h>

bool replica_name_read(const char *text, size_t len, char **ret_role, int *ret_index)
{
	size_t dash = len;
	int64_t index;

	while (dash && text[dash - 1] != '-')
		dash--;
	if (dash < 2) /* no dash, or nothing before it */
		return false;
	char *number CLEANUP(mem_free_text) = mem_copy_bytes(text + dash, len - dash);

	if (text_read_int(number, 0, LIMIT_REPLICAS, &index, NULL) < 0)
		return false;
	*ret_role = mem_copy_bytes(text, dash - 1);
	*ret_index = (int) index;
	return true;
}

int replica_name_take(const char *word, char **ret_role, int *ret_index, struct err *err)
{
	return replica_name_read(word, strlen(word), ret_role, ret_index)
		       ? 0
		       : err_set(err, ERR_INVALID,
				 "'%s' is not a replica (expected ROLE-INDEX, for example "
				 "worker-0)",
				 word);
}

int replica_name_take_log_name(const char *word, struct log_name *ret_name, struct err *err)
{
	char *role CLEANUP(mem_free_text) = NULL;
	int index, rc = replica_name_take(word, &role, &index, err);

	if (rc < 0)
		return rc;
	*ret_name = (struct log_name){.index = index};
	snprintf(ret_name->role, sizeof(ret_name->role), "%s", role);
	return 0;
}
