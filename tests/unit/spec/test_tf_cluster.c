#include "unit.h"

#include "environment_get.h"

#include "base/mem.h"
#include "base/text.h"
#include "base/yaml.h"
#include "spec/tf_cluster.h"

#include <stdio.h>

/* A file of tests/golden/tf_config. */
static void read_golden(const char *name, const char *ending, struct text *text)
{
	char *path CLEANUP(mem_free_text) =
		mem_format("%s/tf_config/%s.%s", GOLDEN_FOLDER, name, ending);
	char bytes[65536];
	FILE *file = fopen(path, "r");

	if (!file)
		fail_msg("no golden file %s", path);
	text_add_bytes(text, bytes, fread(bytes, 1, sizeof(bytes), file));
	fclose(file);
}

static struct job *read_job(const char *name, enum job_strictness strictness)
{
	struct text text CLEANUP(text_done) = {0};
	struct text lines CLEANUP(text_done) = {0};
	struct faults faults CLEANUP(faults_done) = {0};
	struct document **documents;
	size_t count;
	struct job *job = NULL;

	read_golden(name, "yaml", &text);
	assert_int_equal(documents_read(text_of(&text), text.len, &documents, &count, NULL), 0);
	assert_int_equal(count, 1);
	(void) !job_read(document_root(documents[0]), documents[0], strictness, &faults, &job);
	documents_free(documents, count);
	faults_describe(&faults, name, &lines);
	assert_string_equal(text_of(&lines), "");
	return job;
}

/* Every replica of a job with an address: a port of this machine, or the operator's name. */
struct addressed {
	struct arena *arena;
	struct tf_cluster cluster;
};

static void addressed_done(struct addressed *addressed)
{
	arena_free(addressed->arena);
}

static const char *address_of(struct arena *arena, const struct job *job, const struct role *role,
			      int index, enum tf_config_style style, size_t number)
{
	struct text text CLEANUP(text_done) = {0};

	if (style == TF_CONFIG_DENSE)
		return arena_format(arena, "127.0.0.1:%zu", 20000 + number);
	tf_cluster_add_kubeflow_address(job, role, index, NULL, NULL, &text);
	return arena_copy_text(arena, text_of(&text));
}

/* The addresses stand backwards, because any order has to do. */
static struct addressed addressed_of(const struct job *job, enum tf_config_style style)
{
	struct arena *arena = arena_new();
	size_t count = (size_t) job_replica_count(job);
	struct tf_cluster_address *addresses = arena_take_array(arena, count, sizeof(*addresses));
	size_t n = 0;

	for (size_t i = 0; i < job->n_roles; i++)
		for (int index = 0; index < job->roles[i].replicas; index++, n++)
			addresses[count - 1 - n] = (struct tf_cluster_address){
				.role = job->roles[i].name,
				.index = index,
				.address = address_of(arena, job, &job->roles[i], index, style, n),
			};
	return (struct addressed){
		.arena = arena,
		.cluster = {.job = job,
			    .addresses = addresses,
			    .n_addresses = count,
			    .coordinator_host = "127.0.0.1",
			    .coordinator_port = 29500},
	};
}

/* One line for each replica, as the golden files have them. */
static void describe(const struct job *job, enum tf_config_style style, struct text *text)
{
	struct addressed addressed CLEANUP(addressed_done) = addressed_of(job, style);

	for (size_t i = 0; i < job->n_roles; i++)
		for (int index = 0; index < job->roles[i].replicas; index++) {
			text_addf(text, "%s-%d ", job->roles[i].name, index);
			tf_cluster_add_tf_config(&addressed.cluster, style, job->roles[i].name,
						 index, text);
			text_add_char(text, '\n');
		}
}

static void assert_golden(const char *name, const char *ending, const struct job *job,
			  enum tf_config_style style)
{
	struct text expected CLEANUP(text_done) = {0};
	struct text got CLEANUP(text_done) = {0};

	read_golden(name, ending, &expected);
	if (style == TF_CONFIG_DENSE || tf_cluster_has_kubeflow_tf_config(job))
		describe(job, style, &got);
	assert_string_equal(text_of(&got), text_of(&expected));
}

TEST(tf_config_is_what_the_golden_files_say)
{
	static const char *const names[] = {
		"every_role", "master", "dynamic", "dynamic_without_ps", "single", "empty_role",
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct job *here CLEANUP(job_cleanup) = read_job(names[i], JOB_STRICT);
		struct job *there CLEANUP(job_cleanup) = read_job(names[i], JOB_LENIENT);

		assert_golden(names[i], "dense", here, TF_CONFIG_DENSE);
		assert_golden(names[i], "kubeflow", there, TF_CONFIG_KUBEFLOW);
	}
}

TEST(a_custom_domain_stands_behind_svc)
{
	struct job *job CLEANUP(job_cleanup) = read_job("single", JOB_STRICT);
	struct text text CLEANUP(text_done) = {0};

	tf_cluster_add_kubeflow_address(job, &job->roles[0], 0, NULL, "cluster.local", &text);
	assert_string_equal(text_of(&text), "j-worker-0.default.svc.cluster.local:2222");
}

static void assert_variable(const struct addressed *addressed, const char *role, int index,
			    const char *name, const char *value)
{
	struct environment environment CLEANUP(environment_done) = {0};

	tf_cluster_add_environment(&addressed->cluster, role, index, 5, &environment);
	if (value)
		assert_string_equal(environment_get(&environment, name), value);
	else
		assert_null(environment_get(&environment, name));
}

struct variable {
	const char *role;
	int index;
	const char *name;
	const char *value; /* NULL: not set */
};

static void assert_variables(const struct addressed *addressed, const struct variable *rows,
			     size_t n_rows)
{
	for (size_t i = 0; i < n_rows; i++)
		assert_variable(addressed, rows[i].role, rows[i].index, rows[i].name,
				rows[i].value);
}

TEST(the_world_is_the_chief_then_the_workers)
{
	static const struct variable rows[] = {
		{"chief", 0, "RANK", "0"},
		{"worker", 0, "RANK", "1"},
		{"worker", 1, "RANK", "2"},
		{"worker", 1, "WORLD_SIZE", "3"},
		{"worker", 1, "LOCAL_RANK", "2"},
		{"worker", 1, "LOCAL_WORLD_SIZE", "3"},
		{"worker", 1, "GROUP_RANK", "0"},
		{"worker", 1, "MASTER_ADDR", "127.0.0.1"},
		{"worker", 1, "MASTER_PORT", "29500"},
		{"worker", 1, "JAX_COORDINATOR_ADDRESS", "127.0.0.1:29500"},
		{"worker", 1, "JAX_PROCESS_ID", "2"},
		{"worker", 1, "JAX_NUM_PROCESSES", "3"},
		{"worker", 1, "WORKER_NUMBER", "1"},
		{"worker", 1, "TOT_WORKERS", "2"},
		{"chief", 0, "WORKER_NUMBER", NULL},
		{"ps", 1, "RANK", NULL},
		{"ps", 1, "WORLD_SIZE", NULL},
		{"ps", 1, "JAX_PROCESS_ID", NULL},
		{"evaluator", 0, "RANK", NULL},
		{"ps", 1, "MUSTER_JOB_NAME", "j"},
		{"ps", 1, "MUSTER_ROLE", "ps"},
		{"ps", 1, "MUSTER_INDEX", "1"},
		{"ps", 1, "MUSTER_ATTEMPT", "5"},
	};
	struct job *job CLEANUP(job_cleanup) = read_job("every_role", JOB_STRICT);
	struct addressed addressed CLEANUP(addressed_done) = addressed_of(job, TF_CONFIG_DENSE);

	assert_variables(&addressed, rows, ARRAY_LEN(rows));
}

TEST(a_master_leads_as_a_chief_does)
{
	struct job *job CLEANUP(job_cleanup) = read_job("master", JOB_STRICT);
	struct addressed addressed CLEANUP(addressed_done) = addressed_of(job, TF_CONFIG_DENSE);

	assert_variable(&addressed, "master", 0, "RANK", "0");
	assert_variable(&addressed, "worker", 0, "RANK", "1");
	assert_variable(&addressed, "master", 0, "MUSTER_ROLE", "master");
}

TEST(each_replica_may_be_a_machine_of_its_own)
{
	struct job *job CLEANUP(job_cleanup) = read_job("every_role", JOB_STRICT);
	struct addressed addressed CLEANUP(addressed_done) = addressed_of(job, TF_CONFIG_DENSE);

	addressed.cluster.has_own_machines = true;
	assert_variable(&addressed, "worker", 1, "RANK", "2");
	assert_variable(&addressed, "worker", 1, "LOCAL_RANK", "0");
	assert_variable(&addressed, "worker", 1, "LOCAL_WORLD_SIZE", "1");
	assert_variable(&addressed, "worker", 1, "GROUP_RANK", "2");
	assert_variable(&addressed, "worker", 1, "GROUP_WORLD_SIZE", "3");
}

TEST(a_process_of_a_world_is_counted_in_its_role)
{
	struct job *job CLEANUP(job_cleanup) = read_job("every_role", JOB_STRICT);
	struct addressed addressed CLEANUP(addressed_done) = addressed_of(job, TF_CONFIG_DENSE);
	struct tf_cluster_world world = {
		.job_id = "j",
		.role_name = "reader",
		.first_rank = 4,
		.size = 8,
		.first_role_rank = 1,
		.role_size = 3,
	};

	addressed.cluster.world = &world;
	assert_variable(&addressed, "worker", 1, "RANK", "5");
	assert_variable(&addressed, "worker", 1, "LOCAL_RANK", "1");
	assert_variable(&addressed, "worker", 1, "ROLE_NAME", "reader");
	assert_variable(&addressed, "worker", 1, "ROLE_RANK", "2");
	assert_variable(&addressed, "worker", 1, "ROLE_WORLD_SIZE", "3");
	world.has_virtual_local_rank = true;
	assert_variable(&addressed, "worker", 1, "LOCAL_RANK", "0");
}

/* As torch/distributed/elastic/agent/server/local_elastic_agent.py sets them. */
TEST(what_torchrun_says_of_a_job_is_said_too)
{
	static const struct variable rows[] = {
		{"chief", 0, "ROLE_NAME", "chief"},
		{"chief", 0, "ROLE_WORLD_SIZE", "1"},
		{"worker", 1, "ROLE_NAME", "worker"},
		{"worker", 1, "ROLE_RANK", "1"},
		{"worker", 1, "ROLE_WORLD_SIZE", "2"},
		{"worker", 1, "TORCHELASTIC_RESTART_COUNT", "5"},
		{"worker", 1, "TORCHELASTIC_MAX_RESTARTS", "-1"},
		{"worker", 1, "TORCHELASTIC_RUN_ID", "j"},
		{"worker", 1, "TORCHELASTIC_USE_AGENT_STORE", "False"},
		{"worker", 1, "TORCH_NCCL_ASYNC_ERROR_HANDLING", "1"},
		{"ps", 0, "ROLE_RANK", NULL},
	};
	struct job *job CLEANUP(job_cleanup) = read_job("every_role", JOB_STRICT);
	struct addressed addressed CLEANUP(addressed_done) = addressed_of(job, TF_CONFIG_DENSE);

	assert_variables(&addressed, rows, ARRAY_LEN(rows));
}

TEST(what_all_have_in_common_can_be_made_once)
{
	struct job *job CLEANUP(job_cleanup) = read_job("every_role", JOB_STRICT);
	struct addressed addressed CLEANUP(addressed_done) = addressed_of(job, TF_CONFIG_DENSE);
	struct text common CLEANUP(text_done) = {0};
	struct text made CLEANUP(text_done) = {0};
	struct text kept CLEANUP(text_done) = {0};

	describe(job, TF_CONFIG_DENSE, &made);
	tf_cluster_add_dense_cluster(&addressed.cluster, &common);
	addressed.cluster.dense_cluster = text_of(&common);
	tf_cluster_add_tf_config(&addressed.cluster, TF_CONFIG_DENSE, "ps", 1, &kept);
	assert_non_null(strstr(text_of(&made), text_of(&kept)));
}
