#include "cli/replica_pod.h"

#include "cli/kube_cluster.h"
#include "kube/fetch_sidecar.h"
#include "kube/job_pod.h"
#include "kube/wait.h"

int cluster_connect(const struct options *options, struct kube_api **ret_api, struct err *err)
{
	return kube_api_connect(NULL, kube_cluster_log_in, (void *) options, ret_api, err);
}

void replica_pod_done(struct replica_pod *pod)
{
	json_free(pod->object);
	kube_api_free(pod->api);
	mem_free_text(&pod->name);
	mem_free_text(&pod->namespace_name);
}

int replica_pod_connect(const struct options *options, const struct copy_place *place,
			struct replica_pod *pod, struct err *err)
{
	struct kube_config *config CLEANUP(kube_config_cleanup) = NULL;
	int rc = kube_cluster_read_config(options, &config, err);

	if (rc < 0)
		return rc;
	kube_cluster_warn(config);
	pod->place = place;
	pod->name = mem_format("%s-%s-%d", place->job, place->role, place->index);
	pod->namespace_name = mem_copy_text(place->namespace_name ? place->namespace_name
								  : config->namespace_name);
	return cluster_connect(options, &pod->api, err);
}

int replica_pod_find(struct replica_pod *pod, const char *container, struct err *err)
{
	const struct copy_place *place = pod->place;
	const struct kube_request request = {
		.verb = KUBE_GET,
		.resource = &kube_pods,
		.namespace_name = pod->namespace_name,
		.name = pod->name,
	};

	json_free(TAKE(pod->object));
	pod->container = (struct kube_container){pod->namespace_name, pod->name, container};
	int rc = kube_wait(pod->api, &request, &pod->object, err);

	if (rc == ERR_NOT_FOUND || (rc == 0 && !job_pod_is_in(pod->object, place->job, NULL)))
		return err_set(
			err, ERR_NOT_FOUND,
			"replica %s-%d of job '%s' not found in namespace '%s' of the cluster",
			place->role, place->index, place->job, pod->namespace_name);
	if (rc || container)
		return rc;
	char *who CLEANUP(mem_free_text) =
		mem_format("%s-%d of job '%s'", place->role, place->index, place->job);

	return fetch_sidecar_choose_container(pod->object, who, false, &pod->container.name, err);
}
