#include "kube/fetch_sidecar.h"

#include "base/mem.h"
#include "base/text.h"
#include "io/file.h"
#include "spec/pod_template.h"

#include <string.h>

#define VOLUME "muster-fetch-%zu"
/* The needs of sh and tar; quotas require the values. */
#define MEMORY "64Mi"
#define CPU "50m"

/* Deleting the Pod must end the sidecar immediately. A shell in a foreground child gets SIGTERM
 * only after the child exits; a shell in `wait` gets it immediately. */
static const char sleep_until_deleted[] =
	"trap 'exit 0' TERM INT; while :; do sleep 86400 & wait $!; done";

/* Selection of the replicas. */

static void check_one(const struct job *job, const struct fetch *fetch, struct faults *faults)
{
	static const char path[] = "metadata.annotations[" JOB_ANNOTATION_FETCH "]";
	const struct role *role = job_role(job, fetch->role);
	const struct json *spec = role ? json_get(role->template, "spec") : NULL;
	char *text CLEANUP(mem_free_text) = fetch_text(fetch);

	if (!role || fetch->index >= role->replicas)
		fault_add(faults, (struct place){0}, path,
			  "Invalid value: '%s' cannot be fetched: the job has no %s-%d", text,
			  fetch->role, fetch->index);
	else if (json_as_bool(json_get(spec, "shareProcessNamespace"), false) ||
		 json_as_bool(json_get(spec, "hostPID"), false))
		fault_add(faults, (struct place){0}, path,
			  "Invalid value: '%s' cannot be fetched: its Pod has "
			  "shareProcessNamespace or hostPID",
			  text);
}

void fetch_sidecar_check(const struct job *job, struct faults *faults)
{
	for (size_t i = 0; i < job->n_fetches; i++)
		check_one(job, &job->fetches[i], faults);
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

/* Volumes. */

/* The mount on which a path lies: the deepest one. */
static const struct json *find_mount(const struct json *mounts, const char *path)
{
	const struct json *found = NULL;
	size_t longest = 0;

	for (size_t i = 0; i < json_count(mounts); i++) {
		const struct json *mount = json_at(mounts, i);
		const char *folder = json_as_string(json_get(mount, "mountPath"), "");

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
	struct json *volume = json_new_texts("name", name, NULL);
	struct json *mount = json_new_texts("name", name, "mountPath", path, NULL);

	(void) json_object_at(volume, "emptyDir");
	json_append(json_array_at(spec, "volumes"), volume);
	json_append(json_array_at(container, "volumeMounts"), mount);
	return mount;
}

/* Two directories may be on one volume. */
static void mount_in_sidecar(struct json *sidecar, const struct json *mount)
{
	struct json *mounts = json_array_at(sidecar, "volumeMounts");
	const char *path = json_as_string(json_get(mount, "mountPath"), "");

	if (!pod_template_find(mounts, "mountPath", path))
		json_append(mounts, json_new_copy(mount));
}

/* The container. */

static void set_resources(struct json *sidecar)
{
	struct json *resources = json_object_at(sidecar, "resources");

	json_set(resources, "requests", json_new_texts("cpu", CPU, "memory", MEMORY, NULL));
	json_set(resources, "limits", json_new_texts("memory", MEMORY, NULL));
}

/* Files may be readable only for the user who wrote them. */
static void set_user(struct json *sidecar, const struct json *container)
{
	static const char *const members[] = {"runAsUser", "runAsGroup", "runAsNonRoot"};
	const struct json *security = json_get(container, "securityContext");

	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		struct json *value = json_get(security, members[i]);

		if (value)
			json_set(json_object_at(sidecar, "securityContext"), members[i],
				 json_ref(value));
	}
}

static struct json *sidecar_new(const struct json *container)
{
	static const char *const words[] = {"sh", "-c", sleep_until_deleted};
	static const char *const same[] = {"image", "imagePullPolicy"};
	struct json *sidecar = json_new_texts("name", FETCH_SIDECAR_CONTAINER, NULL);

	for (size_t i = 0; i < ARRAY_LEN(same); i++)
		if (json_get(container, same[i]))
			json_set(sidecar, same[i], json_ref(json_get(container, same[i])));
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		json_append(json_array_at(sidecar, "command"), json_new_string(words[i]));
	set_resources(sidecar);
	set_user(sidecar, container);
	return sidecar;
}

/* The same script runs in every replica, so every replica has the directories. */
void fetch_sidecar_add(const struct job *job, const struct role *role, int index, struct json *spec,
		       struct json *container)
{
	struct json *sidecar =
		fetch_sidecar_is_needed(job, role->name, index) ? sidecar_new(container) : NULL;

	for (size_t i = 0; i < job->n_fetches; i++) {
		const struct fetch *fetch = &job->fetches[i];
		char *path CLEANUP(mem_free_text) = fetch_folder(fetch);
		const struct json *mount = find_mount(json_get(container, "volumeMounts"), path);

		if (!mount)
			mount = add_volume(spec, container, path, i);
		if (is_of(fetch, role->name, index))
			mount_in_sidecar(sidecar, mount);
	}
	if (sidecar)
		json_append(json_array_at(spec, "containers"), sidecar);
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
	const char *name = json_as_string(json_get(trains, "name"), NULL);
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
