/* Writes the models where Python can run them.
 *
 * The file name has a hash of the content, so that a running check of an older muster keeps its own
 * file. The content is still compared, because a state directory can be damaged or edited. */
#include "check/models.h"

#include "base/mem.h"
#include "io/file.h"
#include "io/folder.h"
#include "jobs/state_folder.h"

int check_models_install(const char *state_folder, char **ret_path, struct err *err)
{
	char *folder CLEANUP(mem_free_text) = state_folder_programs(state_folder);
	char *path CLEANUP(mem_free_text) =
		mem_format("%s/check-%s.pyz", folder, check_models_hash);
	int rc = folder_check_own(state_folder, FOLDER_ADVICE_STATE, err);

	if (rc == 0)
		rc = folder_create(folder, err);
	if (rc == 0)
		rc = file_ensure(path, check_models_bytes, check_models_size, err);
	if (rc == 0)
		*ret_path = TAKE(path);
	return rc;
}
