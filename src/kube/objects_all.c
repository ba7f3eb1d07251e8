#include "kube/objects_all.h"

#include "kube/objects.h"
#include "kube/objects_files.h"

int objects_add_all(const struct job *job, const struct job_file *files, size_t n_files,
		    const struct job_secret *secret, struct json *list, struct err *err)
{
	struct objects *objects CLEANUP(objects_cleanup) = objects_new(job);
	struct json *cluster = objects_cluster_new(objects, NULL);

	json_append(list, objects_owner_new(job));
	json_append(list, objects_service_new(job, NULL));
	if (cluster)
		json_append(list, cluster);
	if (objects_add_files(job, files, n_files, NULL, list, err))
		return err->code;
	if (secret->name)
		json_append(list, objects_secret_new(job, secret, NULL));
	for (size_t i = 0; i < job->n_roles; i++)
		for (int index = 0; index < job->roles[i].replicas; index++)
			json_append(list, objects_pod_new(objects, &job->roles[i], index, 0, NULL));
	return 0;
}
