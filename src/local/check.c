/* Errors found before any start: no command, program or directory, too few GPUs. */
#include "base/text.h"
#include "io/network_address.h"
#include "local/backend.h"
#include "local/start.h"
#include "reconcile/gpu_assignment.h"
#include "spec/cluster_spec.h"

/* Index of the training container among those of the template. */
static size_t container_position(const struct role *role)
{
	const struct json *containers = json_get_path(role->template, "spec", "containers", NULL);

	for (size_t i = 0; i < json_count(containers); i++) {
		const struct json *name = json_get(json_at(containers, i), "name");

		if (text_equals(json_as_string(name, ""), role->container.name))
			return i;
	}
	return 0;
}

static char *container_field_path_of(const struct role *role, const char *field)
{
	return mem_format("spec.tfReplicaSpecs[%s].template.spec.containers[%zu].%s", role->title,
			  container_position(role), field);
}

static void refuse(struct faults *faults, const struct role *role, const char *field,
		   struct place place, const char *sentence)
{
	char *path CLEANUP(mem_free_text) = container_field_path_of(role, field);

	fault_add(faults, place, path, "%s", sentence);
}

/* Ports are claimed when the job starts; until then every replica has the same one. */
static struct tf_cluster imagine_cluster(const struct job *job, struct arena *arena)
{
	size_t count = (size_t) job_replica_count(job), n = 0;
	struct tf_cluster_address *addresses = arena_take_array(arena, count, sizeof(*addresses));

	for (size_t i = 0; i < job->n_roles; i++)
		for (int index = 0; index < job->roles[i].replicas; index++)
			addresses[n++] = (struct tf_cluster_address){job->roles[i].name, index,
								     "127.0.0.1:1"};
	return (struct tf_cluster){
		.job = job,
		.addresses = addresses,
		.n_addresses = n,
		.coordinator_host = "127.0.0.1",
		.coordinator_port = 1,
	};
}

static void check_start(const struct job *job, const struct role *role, struct faults *faults)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct tf_cluster cluster = imagine_cluster(job, arena);
	struct child_start start;
	struct err err;

	local_start_describe(&cluster, role, 0, 0, &(struct local_machine){0}, arena, &start);
	/* A name with variables that only a running job has cannot be looked up. */
	if (child_check_folder(&start, &err) < 0)
		refuse(faults, role, "workingDir", role->container.working_dir_place, err.text);
	else if (!strstr(start.program, "$(") && child_check_program(&start, &err) < 0)
		refuse(faults, role, "command", role->container.command_place, err.text);
}

/* The first address of a TF_CONFIG that is on another machine; NULL if there is none, or if
 * TensorFlow itself will report an error in it. */
static char *find_other_machine(const char *tf_config)
{
	struct cluster_spec *spec CLEANUP(cluster_spec_cleanup) = NULL;
	struct faults ignored CLEANUP(faults_done) = {0};

	if (cluster_spec_read_tf_config(tf_config, &ignored, &spec) < 0)
		return NULL;
	for (size_t i = 0; i < spec->n_jobs; i++)
		for (size_t j = 0; j < spec->jobs[i].n_tasks; j++) {
			const char *address = spec->jobs[i].tasks[j].address;
			char *host CLEANUP(mem_free_text) = address_host(address);

			if (!network_address_names_loopback(host))
				return mem_copy_text(address);
		}
	return NULL;
}

/* A private network contains no other machine. */
static void check_own_tf_config(const struct role *role, struct faults *faults)
{
	const struct container *container = &role->container;

	for (size_t i = 0; i < container->n_env; i++) {
		if (!text_equals(container->env[i].name, "TF_CONFIG"))
			continue;
		char *other CLEANUP(mem_free_text) = find_other_machine(container->env[i].value);
		char *path CLEANUP(mem_free_text) = container_field_path_of(role, "env");

		if (other)
			fault_add(faults, (struct place){0}, path,
				  "TF_CONFIG names %s, which a private network cannot reach; drop "
				  "--private-network, or use only addresses of this machine "
				  "(127.0.0.1)",
				  other);
	}
}

static void check_role(const struct job *job, const struct role *role, struct faults *faults)
{
	const struct container *container = &role->container;

	if (role->replicas == 0)
		return;
	if (container->command && container->command[0])
		check_start(job, role, faults);
	else
		refuse(faults, role, "command", container->command_place,
		       container->args && container->args[0]
			       ? "Required value: args need a command, because a local job has no "
				 "image that provides one"
			       : "Required value: a local job has no image that provides a "
				 "command; "
				 "set one, for example command: [python3, train.py]");
}

/* The fault names the first role that requests any. */
static void check_gpus(const struct job *job, const struct gpus *gpus, struct faults *faults)
{
	struct err err;
	size_t i = 0;

	if (gpu_assignment_check(job, gpus, &err) == 0)
		return;
	while (job->roles[i].gpus == 0 || job->roles[i].gpus == JOB_GPUS_SHARED)
		i++;
	refuse(faults, &job->roles[i], "resources.limits[" JOB_GPU_RESOURCE "]",
	       job->roles[i].container.gpu_place, err.text);
}

int backend_local_check(const struct job *job, const struct gpus *gpus, struct faults *faults)
{
	size_t before = faults->count;

	for (size_t i = 0; i < job->n_roles; i++)
		check_role(job, &job->roles[i], faults);
	for (size_t i = 0; i < job->n_roles && job->has_private_network; i++)
		check_own_tf_config(&job->roles[i], faults);
	check_gpus(job, gpus, faults);
	faults_sort(faults, before);
	return faults->count > before ? ERR_INVALID : 0;
}
