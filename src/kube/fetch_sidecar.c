#include "kube/fetch_sidecar.h"

#include "io/file.h"
#include "spec/pod_template.h"

#define VOLUME "muster-fetch-%zu"
/* The needs of sh and tar; quotas require the values. */
#define MEMORY "64Mi"
#define CPU "50m"

/* Deleting the Pod must end the sidecar immediately. A shell in a foreground child gets SIGTERM
 * only after the child exits; a shell in `wait` gets it immediately. */
static const char sleep_until_deleted[] =
	"trap 'exit 0' TERM INT; while :; do sleep 86400 & wait $!; done";

void fetch_sidecar_check(const struct job *job, struct faults *faults)
{
	static const char path[] = "metadata.annotations[" JOB_ANNOTATION_FETCH "]";

	for (size_t i = 0; i < job->n_fetches; i++) {
		const struct fetch *fetch = &job->fetches[i];
		const struct role *role = job_role(job, fetch->role);
		const struct json *spec = role ? json_get(role->template, "spec") : NULL;
		char *text CLEANUP(mem_free_text) = fetch_text(fetch);

		if (!role || fetch->index >= role->replicas)
			fault_add(faults, (struct place){0}, path,
				  "Invalid value: '%s' cannot be fetched: the job has no %s-%d",
				  text, fetch->role, fetch->index);
		else if (json_as_bool(json_get(spec, "shareProcessNamespace"), false) ||
			 json_as_bool(json_get(spec, "hostPID"), false))
			fault_add(faults, (struct place){0}, path,
				  "Invalid value: '%s' cannot be fetched: its Pod has "
				  "shareProcessNamespace or hostPID",
				  text);
	}
}

static bool is_of(const struct fetch *fetch, const char *role, int index)
{
	return text_equals(fetch->role, role) && fetch->index == index;
}

bool fetch_sidecar_is_needed(const struct job *job, const char *role, int index)
{
	for (size_t i = 0; i < job->n_fetches; i++)
		if (is_of(&job->fetches[i], role, index))
			return true;
	return false;
}

/* The mount on which a path lies: the deepest one. */
static const struct json *find_mount(const struct json *mounts, const char *path)
{
	const struct json *found = NULL;
	size_t longest = 0;

	for (size_t i = 0; i < json_count(mounts); i++) {
		const struct json *mount = json_at(mounts, i);
		const char *folder = json_get_string(mount, "mountPath", "");

		if (*folder && file_is_in(path, folder) && strlen(folder) > longest) {
			found = mount;
			longest = strlen(folder);
		}
	}
	return found;
}

static const struct json *add_volume(struct json *spec, struct json *container, const char *path,
				     size_t number)
{
	char *name CLEANUP(mem_free_text) = mem_format(VOLUME, number);
	struct json *mount = pod_template_add(container, "volumeMounts", name);

	(void) json_object_at(pod_template_add(spec, "volumes", name), "emptyDir");
	json_set_string(mount, "mountPath", path);
	return mount;
}

/* The user is that of the container: files may be readable only for the user who wrote them. */
static struct json *add_sidecar(struct json *spec, const struct json *container)
{
	static const char *const words[] = {"sh", "-c", sleep_until_deleted};
	static const char *const members[] = {"runAsUser", "runAsGroup", "runAsNonRoot"};
	const struct json *security = json_get(container, "securityContext");
	struct json *sidecar = pod_template_add(spec, "containers", FETCH_SIDECAR_CONTAINER);

	json_copy_member(sidecar, container, "image");
	json_copy_member(sidecar, container, "imagePullPolicy");
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		json_append(json_array_at(sidecar, "command"), json_new_string(words[i]));
	struct json *resources = json_object_at(sidecar, "resources");

	json_set(resources, "requests", json_new_texts("cpu", CPU, "memory", MEMORY, NULL));
	json_set(resources, "limits", json_new_texts("memory", MEMORY, NULL));
	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		if (json_get(security, members[i]))
			json_copy_member(json_object_at(sidecar, "securityContext"), security,
					 members[i]);
	return sidecar;
}

/* The same script runs in every replica, so all have the directories. Two may be on one volume. */
void fetch_sidecar_add(const struct job *job, const struct role *role, int index, struct json *spec,
		       struct json *container)
{
	struct json *sidecar = fetch_sidecar_is_needed(job, role->name, index)
				       ? add_sidecar(spec, container)
				       : NULL;

	for (size_t i = 0; i < job->n_fetches; i++) {
		const struct fetch *fetch = &job->fetches[i];
		char *path CLEANUP(mem_free_text) = fetch_folder(fetch);
		const struct json *mount = find_mount(json_get(container, "volumeMounts"), path);

		if (!mount)
			mount = add_volume(spec, container, path, i);
		if (!is_of(fetch, role->name, index))
			continue;
		struct json *mounts = json_array_at(sidecar, "volumeMounts");
		const char *folder = json_get_string(mount, "mountPath", "");

		if (!pod_template_find(mounts, "mountPath", folder))
			json_append(mounts, json_new_copy(mount));
	}
}

/* Choice of the container to copy from. */

static bool is_running(const struct json *pod, const char *container)
{
	const struct json *statuses = json_get_path(pod, "status", "containerStatuses", NULL);
	const struct json *status =
		container ? pod_template_find(statuses, "name", container) : NULL;

	return json_get_path(status, "state", "running", NULL) != NULL;
}

int fetch_sidecar_choose_container(const struct json *pod, const char *who, bool is_sidecar_first,
				   const char **ret_container, struct err *err)
{
	const struct json *trains = pod_template_container(pod);
	const char *name = json_get_string(trains, "name", NULL);
	const char *phase = json_as_string(json_get_path(pod, "status", "phase", NULL), "Pending");
	const char *reason = json_as_string(json_get_path(pod, "status", "reason", NULL), NULL);

	bool is_kept = is_running(pod, FETCH_SIDECAR_CONTAINER);

	if (is_running(pod, name) && !(is_kept && is_sidecar_first))
		*ret_container = name;
	else if (is_kept)
		*ret_container = FETCH_SIDECAR_CONTAINER;
	else if (text_equals(phase, "Pending"))
		return err_set(err, ERR_CONFLICT, "%s has not started yet", who);
	else
		return err_set(err, ERR_CONFLICT,
			       "%s has ended%s%s%s, and its container can no longer be entered",
			       who, reason ? " (" : "", reason ? reason : "", reason ? ")" : "");
	return 0;
}
