#include "spec/tf_cluster.h"

#include "spec/limits.h"

#include <assert.h>

/* The addresses of one role by index, in one pass over all addresses. */
static struct json *address_list_new(const struct tf_cluster *cluster, const struct role *role)
{
	const char **by_index CLEANUP(mem_free_any) =
		mem_new_array((size_t) role->replicas + 1, sizeof(*by_index)); /* never empty */
	struct json *list = json_new_array();

	for (size_t i = 0; i < cluster->n_addresses; i++) {
		const struct tf_cluster_address *address = &cluster->addresses[i];

		if (address->index < role->replicas && text_equals(address->role, role->name))
			by_index[address->index] = address->address;
	}
	for (int i = 0; i < role->replicas; i++) {
		assert(by_index[i]); /* a gap would change the numbers of the replicas after it */
		json_append(list, json_new_string(by_index[i]));
	}
	return list;
}

static struct json *task_new(const char *type, int index)
{
	struct json *task = json_new_texts("type", type, NULL);

	json_set_integer(task, "index", index);
	return task;
}

/* Fills in the job's roles by name, as Go writes the keys of a map. */
static void sort_roles(const struct job *job, const struct role *roles[LIMIT_ROLES])
{
	for (size_t i = 0; i < job->n_roles; i++) {
		const struct role *role = &job->roles[i];
		size_t at = i;

		for (; at > 0 && strcmp(role->name, roles[at - 1]->name) < 0; at--)
			roles[at] = roles[at - 1];
		roles[at] = role;
	}
}

/* TensorFlow does not count the evaluator, a world of its own; nor a role without replicas. */
static struct json *dense_cluster_new(const struct tf_cluster *cluster)
{
	const struct job *job = cluster->job;
	const struct role *roles[LIMIT_ROLES];
	const struct role *leader = job_leader_role(job);
	struct json *object = json_new_object();

	sort_roles(job, roles);
	/* A master is written as chief, and so comes first. */
	if (leader && leader->replicas > 0)
		json_set(object, "chief", address_list_new(cluster, leader));
	for (size_t i = 0; i < job->n_roles; i++)
		if (roles[i] != leader && roles[i]->kind != ROLE_EVALUATOR &&
		    roles[i]->replicas > 0)
			json_set(object, roles[i]->name, address_list_new(cluster, roles[i]));
	return object;
}

void tf_cluster_add_dense_cluster(const struct tf_cluster *cluster, struct text *text)
{
	struct json *object CLEANUP(json_cleanup) = dense_cluster_new(cluster);

	json_add_compact(text, object);
}

/* Its number among all tasks of its role. */
static int task_index(const struct tf_cluster *cluster, int index)
{
	return cluster->world ? cluster->world->first_rank + index : index;
}

static struct json *kubeflow_new(const struct tf_cluster *cluster, const struct role *role,
				 int index)
{
	const struct job *job = cluster->job;
	const struct role *roles[LIMIT_ROLES];
	struct json *config = json_new_object();
	struct json *object = json_object_at(config, "cluster");

	sort_roles(job, roles);
	for (size_t i = 0; i < job->n_roles; i++)
		json_set(object, roles[i]->name, address_list_new(cluster, roles[i]));
	json_set(config, "task", task_new(role->name, index));
	json_set_string(config, "environment", "cloud");
	return config;
}

/* The form for enableDynamicWorker: a worker that comes or leaves changes no other worker's
 * configuration. A worker gets every ps (null without that role), a ps only itself, others none. */
static struct json *sparse_new(const struct tf_cluster *cluster, const struct role *role, int index)
{
	struct json *config = json_new_object();
	struct json *object = json_object_at(config, "cluster");
	struct json *workers = json_object_at(object, "worker");
	const struct role *ps = job_role_of_kind(cluster->job, ROLE_PS);
	const char *own = NULL;
	char *key CLEANUP(mem_free_text) = mem_format("%d", index);

	for (size_t i = 0; i < cluster->n_addresses && !own; i++)
		if (cluster->addresses[i].index == index &&
		    text_equals(cluster->addresses[i].role, role->name))
			own = cluster->addresses[i].address;
	if (role->kind == ROLE_WORKER)
		json_set_string(workers, key, own);
	if (role->kind == ROLE_WORKER)
		json_set(object, "ps", ps ? address_list_new(cluster, ps) : json_new_null());
	else if (role->kind == ROLE_PS)
		json_append(json_array_at(object, "ps"), json_new_string(own));
	else
		json_set(object, "ps", json_new_array());
	json_set(config, "task", task_new(role->name, index));
	return config;
}

void tf_cluster_add_tf_config(const struct tf_cluster *cluster, enum tf_config_style style,
			      const char *role_name, int index, struct text *text)
{
	const struct role *role = job_role(cluster->job, role_name);

	assert(role);
	if (style == TF_CONFIG_DENSE) {
		/* TensorFlow's multi-worker helpers reject `master`, the name of the old
		 * Estimator. */
		const char *type = role == job_leader_role(cluster->job) ? "chief" : role->name;
		struct json *task CLEANUP(json_cleanup) =
			task_new(type, task_index(cluster, index));

		text_add(text, "{\"cluster\":");
		if (cluster->dense_cluster)
			text_add(text, cluster->dense_cluster);
		else
			tf_cluster_add_dense_cluster(cluster, text);
		text_add(text, ",\"task\":");
		json_add_compact(text, task);
		text_add_char(text, '}');
		return;
	}
	struct json *config CLEANUP(json_cleanup) = cluster->job->is_dynamic
							    ? sparse_new(cluster, role, index)
							    : kubeflow_new(cluster, role, index);

	json_add_compact(text, config);
}

bool tf_cluster_has_kubeflow_tf_config(const struct job *job)
{
	int count = 0;

	for (size_t i = 0; i < job->n_roles; i++)
		if (job->roles[i].kind != ROLE_OTHER)
			count += job->roles[i].replicas;
	return count != 1;
}

void tf_cluster_add_kubeflow_address(const struct job *job, const struct role *role, int index,
				     const char *service, const char *domain, struct text *text)
{
	bool has_domain = domain && domain[0] != '\0';

	text_addf(text, "%s-%s-%d%s%s.%s.svc%s%s:%d", job->name, role->name, index,
		  service ? "." : "", service ? service : "", job->name_space,
		  has_domain ? "." : "", has_domain ? domain : "", role->port);
}

struct tf_cluster tf_cluster_of_kubeflow(const struct job *job, const char *service,
					 const char *domain, struct arena *arena)
{
	struct tf_cluster_address *addresses =
		arena_take_array(arena, (size_t) job_replica_count(job), sizeof(*addresses));
	size_t count = 0;

	for (size_t i = 0; i < job->n_roles; i++)
		for (int index = 0; index < job->roles[i].replicas; index++) {
			struct text address CLEANUP(text_done) = {0};

			tf_cluster_add_kubeflow_address(job, &job->roles[i], index, service, domain,
							&address);
			addresses[count++] = (struct tf_cluster_address){
				.role = job->roles[i].name,
				.index = index,
				.address = arena_copy_text(arena, text_of(&address)),
			};
		}
	return (struct tf_cluster){.job = job, .addresses = addresses, .n_addresses = count};
}

static int replicas_of(const struct role *role)
{
	return role ? role->replicas : 0;
}

static void set_number(struct environment *environment, const char *name, int number)
{
	char *value CLEANUP(mem_free_text) = mem_format("%d", number);

	environment_set(environment, name, value);
}

/* One of the processes that train together. */
struct position {
	int rank, world_size;
	struct tf_cluster_machine machine;
};

static struct position position_in_world(const struct tf_cluster_world *world, int index, int count)
{
	const struct tf_cluster_machine alone = {index, count, world->group, world->n_groups};
	struct position position = {
		.rank = world->first_rank + index,
		.world_size = world->size,
		.machine = world->machine ? *world->machine : alone,
	};

	if (world->has_virtual_local_rank)
		position.machine.local_rank = 0;
	return position;
}

/* PyTorch's env:// rendezvous, and torchrun's additional variables. */
static void set_torch(const struct tf_cluster *cluster, const struct position *position,
		      struct environment *environment)
{
	set_number(environment, "RANK", position->rank);
	set_number(environment, "WORLD_SIZE", position->world_size);
	set_number(environment, "LOCAL_RANK", position->machine.local_rank);
	set_number(environment, "LOCAL_WORLD_SIZE", position->machine.local_size);
	set_number(environment, "GROUP_RANK", position->machine.rank);
	set_number(environment, "GROUP_WORLD_SIZE", position->machine.n_machines);
	/* A failed collective kills its process; without this, the process may wait for ever. */
	environment_set(environment, NCCL_ERRORS_VARIABLE, "1");
	environment_set(environment, "MASTER_ADDR", cluster->coordinator_host);
	set_number(environment, "MASTER_PORT", cluster->coordinator_port);
}

char *tf_cluster_progress_file(const char *report_folder, const char *role, int index, int attempt)
{
	return mem_format("%s/%s-%d.%d.progress", report_folder, role, index, attempt);
}

/* The variables of torchrun's agent about the job as a whole:
 * torch/distributed/elastic/agent/server/local_elastic_agent.py. A world has one number of
 * restarts; elsewhere each replica has its own. We have no store: rank 0 creates it. */
static void set_torchelastic(const struct tf_cluster *cluster, const struct role *role, int index,
			     int attempt, struct environment *environment)
{
	const struct tf_cluster_world *world = cluster->world;
	const struct job *job = cluster->job;

	environment_set(environment, "ROLE_NAME", world ? world->role_name : role->name);
	set_number(environment, "ROLE_RANK", world ? world->first_role_rank + index : index);
	set_number(environment, "ROLE_WORLD_SIZE", world ? world->role_size : role->replicas);
	set_number(environment, "TORCHELASTIC_RESTART_COUNT", world ? world->restarts : attempt);
	set_number(environment, "TORCHELASTIC_MAX_RESTARTS",
		   world ? world->max_restarts : job->backoff_limit);
	environment_set(environment, "TORCHELASTIC_RUN_ID", world ? world->job_id : job->name);
	environment_set(environment, "TORCHELASTIC_USE_AGENT_STORE", "False");
	if (world)
		set_number(environment, "MUSTER_RESTART_COUNT", world->restarts);
	if (!world || !cluster->report_folder)
		return;
	/* The server of an elastic job restores the restart budget after progress. */
	char *file CLEANUP(mem_free_text) =
		tf_cluster_progress_file(cluster->report_folder, role->name, index, attempt);

	environment_set(environment, "MUSTER_PROGRESS_FILE", file);
}

/* The world is the leader, then the workers; ps and evaluator are not in it. */
static void set_world(const struct tf_cluster *cluster, const struct role *role, int index,
		      int attempt, struct environment *environment)
{
	const struct role *leader = job_leader_role(cluster->job);
	const struct role *workers = job_role_of_kind(cluster->job, ROLE_WORKER);
	int world_size = replicas_of(leader) + replicas_of(workers);

	if (role != leader && role != workers)
		return;

	int rank = role == leader ? index : replicas_of(leader) + index;
	const struct tf_cluster_machine own = {0, 1, rank, world_size};
	const struct tf_cluster_machine common = {rank, world_size, 0, 1};
	const struct position position =
		cluster->world ? position_in_world(cluster->world, index, world_size)
			       : (struct position){rank, world_size,
						   cluster->has_own_machines ? own : common};

	set_torch(cluster, &position, environment);
	char *address CLEANUP(mem_free_text) =
		mem_format("%s:%d", cluster->coordinator_host, cluster->coordinator_port);

	environment_set(environment, "JAX_COORDINATOR_ADDRESS", address);
	set_number(environment, "JAX_PROCESS_ID", position.rank);
	set_number(environment, "JAX_NUM_PROCESSES", position.world_size);
	set_torchelastic(cluster, role, index, attempt, environment);
}

void tf_cluster_add_environment(const struct tf_cluster *cluster, const char *role_name, int index,
				int attempt, struct environment *environment)
{
	const struct role *role = job_role(cluster->job, role_name);
	struct text config CLEANUP(text_done) = {0};

	assert(role);
	/* Lines have to arrive as they are printed, not when a buffer of 8 KiB is full. */
	environment_set(environment, "PYTHONUNBUFFERED", "1");
	/* A process that is killed by a signal such as SIGSEGV prints a stack. */
	environment_set(environment, "PYTHONFAULTHANDLER", "1");
	tf_cluster_add_tf_config(cluster, TF_CONFIG_DENSE, role_name, index, &config);
	environment_set(environment, "TF_CONFIG", text_of(&config));
	set_world(cluster, role, index, attempt, environment);
	if (role->kind == ROLE_WORKER) {
		set_number(environment, "WORKER_NUMBER", task_index(cluster, index));
		set_number(environment, "TOT_WORKERS",
			   cluster->world ? cluster->world->size : role->replicas);
	}
	environment_set(environment, JOB_NAME_VARIABLE, cluster->job->name);
	environment_set(environment, "MUSTER_ROLE", role->name);
	set_number(environment, "MUSTER_INDEX", index);
	set_number(environment, "MUSTER_ATTEMPT", attempt);
	if (cluster->world)
		set_number(environment, "MUSTER_GENERATION", attempt);
}
