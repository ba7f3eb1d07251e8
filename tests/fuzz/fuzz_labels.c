/* Any bytes as a Pod: it is nobody's replica, or one whose log lies below the folder of its job,
 * and is found there again. */
#include "fuzz.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "kube/job_pod.h"
#include "logs/folder.h"

#include <stdlib.h>
#include <string.h>

#define FOLDER "folder/"

static void check_replica(const struct observed_replica *seen)
{
	struct log_name name = {.index = seen->index, .attempt = seen->attempt}, again;

	if (strlen(seen->role) >= sizeof(name.role))
		abort();
	strcpy(name.role, seen->role);
	char *path CLEANUP(mem_free_text) = log_name_path("folder", &name, LOG_FILE_TEXT);

	if (!text_starts_with(path, FOLDER) || strchr(path + strlen(FOLDER), '/') ||
	    !log_name_read(path + strlen(FOLDER), &again) || log_name_compare(&name, &again) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct json *object CLEANUP(json_cleanup) = NULL;

	if (json_read((const char *) bytes, len, &object, NULL) < 0)
		return 0;
	struct job_pod *pod = job_pod_read(object);

	if (pod)
		check_replica(&pod->seen);
	job_pod_free(pod);
	return 0;
}
