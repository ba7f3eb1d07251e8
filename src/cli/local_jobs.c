#include "cli/local_jobs.h"

#include "base/mem.h"
#include "jobs/state_folder.h"

#include <unistd.h>

int local_jobs_folder(const struct options *options, char **ret_folder, struct err *err)
{
	const char *folder = option_text(options, "state-dir");

	if (!folder)
		return state_folder_default(ret_folder, err);
	*ret_folder = mem_copy_text(folder);
	return 0;
}

int local_jobs_open(const struct options *options, struct client **ret_client, struct err *err)
{
	char *folder CLEANUP(mem_free_text) = NULL;
	int rc = local_jobs_folder(options, &folder, err);

	return rc < 0 ? rc : client_local_new(folder, ret_client, err);
}

int local_jobs_open_existing(const struct options *options, const char *folder,
			     struct client **ret_client)
{
	char *usual CLEANUP(mem_free_text) = NULL;
	int rc = folder ? 0 : local_jobs_folder(options, &usual, NULL);
	const char *chosen = folder ? folder : usual;

	if (rc < 0 || access(chosen, F_OK) < 0)
		return ERR_NOT_FOUND;
	return client_local_new(chosen, ret_client, NULL);
}

void local_jobs_close(struct client **client)
{
	if (*client)
		(*client)->functions->free(*client);
}
