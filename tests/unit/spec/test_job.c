#include "unit.h"

#include "base/mem.h"
#include "base/text.h"
#include "base/yaml.h"
#include "spec/job.h"
#include "spec/limits.h"

#include <signal.h>
#include <stdio.h>

/* A container that is complete everywhere, and a role of it. */
#define CONTAINER "{name: tensorflow, image: tf, command: [python, train.py]}"
#define TEMPLATE "template: {spec: {containers: [" CONTAINER "]}}"
#define ROLE "{" TEMPLATE "}"
#define HEAD "apiVersion: kubeflow.org/v1\nkind: TFJob\nmetadata: {name: j}\n"

static void read_golden(const char *name, struct text *text)
{
	char *path CLEANUP(mem_free_text) = mem_format("%s/%s", GOLDEN_FOLDER, name);
	char bytes[65536];
	FILE *file = fopen(path, "r");

	if (!file)
		fail_msg("no golden file %s", path);
	text_add_bytes(text, bytes, fread(bytes, 1, sizeof(bytes), file));
	fclose(file);
}

/* Reads the first document of a YAML text. Its faults are described, one on a line. */
static struct job *try_read(const char *yaml, enum job_strictness strictness, const char *file,
			    struct text *lines)
{
	struct faults faults CLEANUP(faults_done) = {0};
	struct document **documents;
	size_t count;
	struct err err;
	struct job *job = NULL;

	if (documents_read(yaml, strlen(yaml), &documents, &count, &err) < 0)
		fail_msg("%s in: %s", err.text, yaml);
	assert_int_equal(count, 1);

	/* A webhook has no file: its faults have no places, and stay in the webhook's order. */
	int rc =
		job_read(document_root(documents[0]),
			 strictness == JOB_STRICT ? documents[0] : NULL, strictness, &faults, &job);

	documents_free(documents, count);
	assert_int_equal(rc, faults.count > 0 ? ERR_INVALID : 0);
	assert_int_equal(!job, faults.count > 0);
	faults_describe(&faults, file, lines);
	return job;
}

static struct job *read_well(const char *yaml, enum job_strictness strictness)
{
	struct text lines CLEANUP(text_done) = {0};
	struct job *job = try_read(yaml, strictness, NULL, &lines);

	assert_string_equal(text_of(&lines), "");
	return job;
}

static struct job *read_golden_job(const char *name, enum job_strictness strictness)
{
	struct text text CLEANUP(text_done) = {0};

	read_golden(name, &text);
	return read_well(text_of(&text), strictness);
}

static void assert_faults(const char *yaml, enum job_strictness strictness, const char *expected)
{
	struct text lines CLEANUP(text_done) = {0};
	struct job *job CLEANUP(job_cleanup) = try_read(yaml, strictness, NULL, &lines);

	assert_int_equal(job == NULL, *expected != '\0');
	assert_string_equal(text_of(&lines), expected);
}

#define ANNOTATED_AS(annotation, word)                                                             \
	"apiVersion: kubeflow.org/v1\nkind: TFJob\n"                                               \
	"metadata: {name: j, annotations: {muster/" annotation ": \"" word "\"}}\n"                \
	"spec: {tfReplicaSpecs: {Worker: " ROLE "}}"
#define ANNOTATED(word) ANNOTATED_AS("private-network", word)

/* What cannot be understood of it asks for more than less. */
TEST(a_private_network_is_an_annotation)
{
	struct job *has CLEANUP(job_cleanup) = read_well(ANNOTATED("true"), JOB_STRICT);
	struct job *has_none CLEANUP(job_cleanup) = read_well(ANNOTATED("false"), JOB_STRICT);
	struct job *unclear CLEANUP(job_cleanup) = read_well(ANNOTATED("yes"), JOB_LENIENT);

	assert_true(has->has_private_network);
	assert_false(has_none->has_private_network);
	assert_true(unclear->has_private_network);
	assert_faults(ANNOTATED("yes"), JOB_STRICT,
		      "metadata.annotations[muster/private-network]: Unsupported value: \"yes\": "
		      "supported values: \"false\", \"true\"\n");
}

#define NAMED_100(annotation)                                                                      \
	"apiVersion: kubeflow.org/v1\nkind: TFJob\n"                                               \
	"metadata: {name: 100-x, annotations: {" annotation ": '100'}}\n"                          \
	"spec: {tfReplicaSpecs: {Worker: " ROLE "}}"

/* It has no objects on a cluster. */
TEST(the_part_of_an_elastic_job_may_begin_with_a_digit)
{
	struct job *part CLEANUP(job_cleanup) =
		read_well(NAMED_100(JOB_ANNOTATION_ELASTIC), JOB_STRICT);
	struct text lines CLEANUP(text_done) = {0};

	assert_string_equal(part->name, "100-x");
	assert_null(try_read(NAMED_100("other"), JOB_STRICT, NULL, &lines));
	assert_non_null(strstr(text_of(&lines), "metadata.name"));
}

TEST(a_network_policy_is_made_unless_an_annotation_says_none)
{
	struct job *has CLEANUP(job_cleanup) =
		read_well(ANNOTATED_AS("network-policy", "job"), JOB_STRICT);
	struct job *has_none CLEANUP(job_cleanup) =
		read_well(ANNOTATED_AS("network-policy", "none"), JOB_STRICT);
	struct job *unclear CLEANUP(job_cleanup) =
		read_well(ANNOTATED_AS("network-policy", "no"), JOB_LENIENT);

	assert_true(has->has_network_policy);
	assert_false(has_none->has_network_policy);
	assert_true(unclear->has_network_policy);
	assert_faults(ANNOTATED_AS("network-policy", "no"), JOB_STRICT,
		      "metadata.annotations[muster/network-policy]: Unsupported value: \"no\": "
		      "supported values: \"none\", \"job\"\n");
}

/* A word that is none leaves it to the operator. */
TEST(how_many_services_a_job_has_is_an_annotation)
{
	struct job *one CLEANUP(job_cleanup) =
		read_well(ANNOTATED_AS("services", "per-job"), JOB_STRICT);
	struct job *many CLEANUP(job_cleanup) =
		read_well(ANNOTATED_AS("services", "per-replica"), JOB_STRICT);
	struct job *unclear CLEANUP(job_cleanup) =
		read_well(ANNOTATED_AS("services", "two"), JOB_LENIENT);

	assert_int_equal(one->services, SERVICES_PER_JOB);
	assert_int_equal(many->services, SERVICES_PER_REPLICA);
	assert_int_equal(unclear->services, SERVICES_COUNT);
	assert_faults(ANNOTATED_AS("services", "two"), JOB_STRICT,
		      "metadata.annotations[muster/services]: Unsupported value: \"two\": "
		      "supported values: \"per-replica\", \"per-job\"\n");
}

TEST(a_short_file_has_the_defaults_of_kubeflow)
{
	struct job *job CLEANUP(job_cleanup) =
		read_well(HEAD "spec: {tfReplicaSpecs: {Worker: " ROLE "}}", JOB_STRICT);
	const struct role *role = &job->roles[0];

	assert_string_equal(job->name, "j");
	assert_string_equal(job->name_space, "default");
	assert_string_equal(job->uid, "");
	assert_int_equal(job->success_policy, SUCCESS_DEFAULT);
	assert_int_equal(job->clean_policy, CLEAN_NONE);
	assert_int_equal(job->restart_scope, RESTART_SCOPE_REPLICA);
	assert_int_equal(job->backoff_limit, -1);
	assert_int_equal(job->active_deadline, -1);
	assert_int_equal(job->ttl_after_finished, -1);
	assert_int_equal(job->grace, 30000);
	assert_false(job->is_suspended);
	assert_false(job->is_dynamic);
	assert_false(job->has_private_network);
	assert_true(job->has_network_policy);
	assert_null(job->managed_by);
	assert_null(job->stop_reason);
	assert_int_equal(job_replica_count(job), 1);
	assert_null(job_leader_role(job));
	assert_int_equal(role->replicas, 1);
	assert_int_equal(role->restart_policy, RESTART_NEVER);
	assert_int_equal(role->port, 2222);
	assert_string_equal(role->container.command[1], "train.py");
	assert_null(role->container.command[2]);
	assert_null(role->container.args);
	assert_null(role->container.working_dir);
	assert_int_equal(role->container.n_env, 0);
}

TEST(every_field_of_a_full_file_is_read)
{
	struct job *job CLEANUP(job_cleanup) = read_golden_job("jobs/full.yaml", JOB_STRICT);
	const struct role *worker = job_role(job, "worker");
	const struct container *container = &worker->container;

	assert_string_equal(job->name_space, "research");
	assert_string_equal(job->stop_reason, "interrupted");
	assert_int_equal(job->success_policy, SUCCESS_ALL_WORKERS);
	assert_int_equal(job->clean_policy, CLEAN_ALL);
	assert_int_equal(job->restart_scope, RESTART_SCOPE_WORKER);
	assert_int_equal(job->backoff_limit, 4);
	assert_int_equal(job->active_deadline, 3600000);
	assert_int_equal(job->ttl_after_finished, 60000);
	assert_int_equal(job->grace, 90000); /* the longest of the templates */
	assert_true(job->is_suspended);
	assert_true(job->is_dynamic);
	assert_string_equal(job->managed_by, "kubeflow.org/training-operator");
	assert_int_equal(job_replica_count(job), 4);
	assert_ptr_equal(job_leader_role(job), &job->roles[0]);
	assert_int_equal(job->roles[0].kind, ROLE_CHIEF);
	assert_string_equal(job->roles[0].title, "Chief");
	assert_null(job->roles[0].container.command);
	assert_ptr_equal(job_role_of_kind(job, ROLE_WORKER), worker);
	assert_int_equal(worker->replicas, 3);
	assert_int_equal(worker->restart_policy, RESTART_EXIT_CODE);
	assert_int_equal(worker->port, 4000);
	assert_string_equal(container->image, "digits");
	assert_string_equal(container->args[1], "$(DATA)");
	assert_string_equal(container->working_dir, "/app");
	assert_int_equal(container->n_env, 3);
	assert_string_equal(container->env[0].value, "/data");
	assert_string_equal(container->env[1].value, "");
	assert_null(container->env[2].value);
}

TEST(the_document_that_stays_is_no_copy_of_another_object)
{
	struct job *job CLEANUP(job_cleanup) = read_golden_job("jobs/full.yaml", JOB_STRICT);
	const struct json *metadata = json_get(job->document, "metadata");

	assert_null(json_get(job->document, "status"));
	assert_null(json_get(metadata, "uid"));
	assert_null(json_get(metadata, "resourceVersion"));
	assert_null(json_get(metadata, "creationTimestamp"));
	assert_string_equal(json_as_string(json_get_path(metadata, "labels", "team", NULL), ""),
			    "vision");
	assert_non_null(json_get_path(job->document, "spec", "tfReplicaSpecs", "Chief", NULL));
	assert_null(json_get_path(job->document, "spec", "tfReplicaSpecs", "CHIEF", NULL));
	assert_string_equal(job->uid, "");
	job_set_uid(job, "u-1");
	assert_string_equal(job->uid, "u-1");
}

TEST(a_job_that_is_shared_stays_until_nobody_holds_it)
{
	struct job *job = read_golden_job("jobs/full.yaml", JOB_STRICT);
	struct job *shared = job_ref(job);

	job_free(job);
	assert_non_null(job_role(shared, "chief"));
	job_free(shared);
}

TEST(what_means_nothing_here_is_named_once)
{
	struct job *job CLEANUP(job_cleanup) = read_golden_job("jobs/full.yaml", JOB_STRICT);
	struct text text CLEANUP(text_done) = {0};

	job_describe_ignored_here(job, &text);
	assert_string_equal(text_of(&text),
			    "schedulingPolicy, image, restartPolicy, nodeSelector, "
			    "initContainers, volumes, container 'proxy', imagePullPolicy, ports, "
			    "valueFrom of env 'TOKEN'");

	struct job *limited CLEANUP(job_cleanup) = read_well(
		HEAD "spec: {tfReplicaSpecs: {Worker: {template: {spec: {containers: "
		     "[{name: tensorflow, command: [sh], resources: {limits: {memory: 1Gi, "
		     "nvidia.com/gpu: 1, disk: 1}}}]}}}}}",
		JOB_STRICT);

	text_clear(&text);
	job_describe_ignored_here(limited, &text);
	assert_string_equal(text_of(&text), "resources.disk");

	struct job *plain CLEANUP(job_cleanup) = read_well(
		HEAD "spec: {tfReplicaSpecs: {Worker: {template: {spec: {containers: "
		     "[{name: tensorflow, command: [sh], resources: {limits: {nvidia.com/gpu: "
		     "1}}}]}}}}}",
		JOB_STRICT);

	text_clear(&text);
	job_describe_ignored_here(plain, &text);
	assert_string_equal(text_of(&text), "");
}

TEST(the_older_list_becomes_a_map)
{
	struct job *job CLEANUP(job_cleanup) = read_golden_job("jobs/array_form.yaml", JOB_STRICT);
	struct json *specs = json_get_path(job->document, "spec", "tfReplicaSpecs", NULL);

	assert_int_equal(job->n_roles, 3);
	assert_int_equal(job->roles[0].kind, ROLE_CHIEF);
	assert_int_equal(job->roles[1].kind, ROLE_PS);
	assert_int_equal(job->roles[2].replicas, 2);
	assert_string_equal(json_as_string(json_get(job->document, "apiVersion"), ""),
			    "kubeflow.org/v1");
	assert_null(json_get_path(job->document, "spec", "replicaSpecs", NULL));
	assert_int_equal(json_count(specs), 3);
	assert_null(json_get_path(specs, "PS", "tfReplicaType", NULL));
}

TEST(role_keys_are_read_in_any_case)
{
	struct job *job CLEANUP(job_cleanup) =
		read_well(HEAD "spec: {tfReplicaSpecs: {WORKER: " ROLE ", ps: " ROLE
			       ", evaluator: " ROLE ", master: " ROLE "}}",
			  JOB_STRICT);
	static const char *const titles[] = {"Evaluator", "Master", "PS", "Worker"};

	assert_int_equal(job->n_roles, ARRAY_LEN(titles));
	for (size_t i = 0; i < ARRAY_LEN(titles); i++)
		assert_string_equal(job->roles[i].title, titles[i]);
	assert_string_equal(job->roles[2].name, "ps");
}

/* Reads a document of JSON again and asks whether the same job comes out. */
static void assert_same_job(const struct job *job, const struct json *root,
			    enum job_strictness strictness)
{
	struct faults faults CLEANUP(faults_done) = {0};
	struct job *again CLEANUP(job_cleanup) = NULL;

	assert_int_equal(job_read(root, NULL, strictness, &faults, &again), 0);
	assert_true(json_equals(job->document, again->document));
	assert_string_equal(job->name, again->name);
	assert_string_equal(job->name_space, again->name_space);
	assert_int_equal(job->n_roles, again->n_roles);
	assert_int_equal(job->grace, again->grace);
	assert_int_equal(job->backoff_limit, again->backoff_limit);
	for (size_t i = 0; i < job->n_roles; i++) {
		assert_string_equal(job->roles[i].title, again->roles[i].title);
		assert_int_equal(job->roles[i].replicas, again->roles[i].replicas);
		assert_int_equal(job->roles[i].restart_policy, again->roles[i].restart_policy);
		assert_int_equal(job->roles[i].port, again->roles[i].port);
		assert_true(json_equals(job->roles[i].template, again->roles[i].template));
	}
}

TEST(a_job_is_the_same_when_its_document_is_read_again)
{
	static const char *const names[] = {
		"jobs/full.yaml",        "jobs/array_form.yaml",   "tf_config/every_role.yaml",
		"tf_config/master.yaml", "tf_config/dynamic.yaml", "tf_config/empty_role.yaml",
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct job *job CLEANUP(job_cleanup) = read_golden_job(names[i], JOB_STRICT);
		struct text yaml CLEANUP(text_done) = {0};
		struct document **documents;
		size_t count;

		assert_same_job(job, job->document, JOB_STRICT);
		yaml_add(&yaml, job->document);
		assert_int_equal(documents_read(text_of(&yaml), yaml.len, &documents, &count, NULL),
				 0);
		assert_same_job(job, document_root(documents[0]), JOB_STRICT);
		documents_free(documents, count);
	}
}

TEST(ten_faults_are_ten_lines_at_their_places)
{
	struct text yaml CLEANUP(text_done) = {0};
	struct text expected CLEANUP(text_done) = {0};
	struct text lines CLEANUP(text_done) = {0};

	read_golden("jobs/ten_faults.yaml", &yaml);
	read_golden("jobs/ten_faults.faults", &expected);
	assert_null(try_read(text_of(&yaml), JOB_STRICT, "job.yaml", &lines));
	assert_string_equal(text_of(&lines), text_of(&expected));
}

#define SPECS "spec.tfReplicaSpecs"
#define NO_CONTAINERS(role)                                                                        \
	SPECS "[" role "].template.spec.containers: Required value: must be specified\n" SPECS     \
	      "[" role "].template.spec.containers: Required value: must have at least one "       \
	      "container with name tensorflow\n"

/* What a file may not say, and what is said about it. */
TEST(what_can_never_run_is_a_fault_of_a_file)
{
	static const struct {
		const char *yaml;
		const char *faults;
	} rows[] = {
		{"7", "expected a TFJob object\n"},
		{"kind: PyTorchJob",
		 "kind: Unsupported value: \"PyTorchJob\": supported values: \"TFJob\"; to run it, "
		 "set "
		 "kind to TFJob, rename spec.pytorchReplicaSpecs to spec.tfReplicaSpecs, and name "
		 "the training container tensorflow\n"},
		{"kind: MPIJob", "kind: Unsupported value: \"MPIJob\": supported values: "
				 "\"TFJob\"; to run its command: muster run -w N -- COMMAND (with "
				 "--on kubernetes --image IMAGE: in Pods)\n"},
		{"metadata: {name: j}\nspec: {tfReplicaSpecs: {Worker: " ROLE "}}",
		 "kind: Required value: must be TFJob\n"
		 "apiVersion: Required value: must be kubeflow.org/v1\n"},
		{"apiVersion: batch/v1\nkind: TFJob\nmetadata: {name: j}\n"
		 "spec: {tfReplicaSpecs: {Worker: " ROLE "}}",
		 "apiVersion: Unsupported value: \"batch/v1\": supported values: "
		 "\"kubeflow.org/v1\"\n"},
		{"apiVersion: kubeflow.org/v1\nkind: TFJob\n"
		 "spec: {tfReplicaSpecs: {Worker: " ROLE "}}",
		 "metadata.name: Required value: a job needs a name\n"},
		{"apiVersion: kubeflow.org/v1\nkind: TFJob\n"
		 "metadata: {name: 12, labels: {a: 1}, anotations: {}}\n"
		 "spec: {tfReplicaSpecs: {Worker: " ROLE "}}",
		 "metadata.name: Invalid value: 12: expected text; put it in quotes\n"
		 "metadata.labels[a]: Invalid value: 1: expected text; put it in quotes\n"
		 "metadata.anotations: unknown field; did you mean \"annotations\"?\n"},
		{HEAD, SPECS ": Required value: must be required\n"},
		{HEAD "spec: {tfReplicaSpecs: {}}",
		 SPECS ": Required value: at least one role must have one replica or more\n"},
		{HEAD "spec: {tfReplicaSpecs: []}",
		 SPECS ": Invalid value: []: expected an object\n"},
		{HEAD "spec: {tfReplicaSpecs: {Worker: {replicas: 0, " TEMPLATE "}}}",
		 SPECS ": Required value: at least one role must have one replica or more\n"},
		{HEAD "spec: {tfReplicaSpecs: {Worker: {replicas: -1, " TEMPLATE "}}}", SPECS
		 "[Worker].replicas: Invalid value: -1: must be greater than or equal to 0\n"},
		{HEAD "spec: {tfReplicaSpecs: {Worker: {replicas: two, " TEMPLATE "}}}",
		 SPECS "[Worker].replicas: Invalid value: \"two\": expected a whole number\n"},
		{HEAD "spec: {tfReplicaSpecs: {Worker: }}", NO_CONTAINERS("Worker")},
		{HEAD "spec: {tfReplicaSpecs: {Worker: {template: {spec: {containers: []}}}}}",
		 NO_CONTAINERS("Worker")},
		{HEAD
		 "spec: {tfReplicaSpecs: {Worker: {template: {spec: {containers: {name: a}}}}}}",
		 SPECS "[Worker].template.spec.containers: Invalid value: {\"name\":\"a\"}: "
		       "expected a list\n"},
		{HEAD "spec: {tfReplicaSpecs: {Worker: " ROLE ", WORKER: " ROLE "}}",
		 SPECS "[WORKER]: Duplicate value: \"WORKER\": this role is there as "
		       "\"Worker\"\n"},
		{HEAD "spec: {tfReplicaSpecs: {chief: " ROLE ", Master: " ROLE "}}",
		 SPECS ": Forbidden: must not have more than 1 Chief or Master role\n"},
		{HEAD "spec: {tfReplicaSpecs: {Chief: {replicas: 2, " TEMPLATE "}}}",
		 SPECS "[Chief].replicas: Invalid value: 2: a job has one chief\n"},
		{HEAD "spec: {tfReplicaSpecs: {Foo: " ROLE "}}",
		 SPECS "[Foo]: Unsupported value: \"Foo\": supported values: \"Chief\", "
		       "\"Evaluator\", \"Master\", \"PS\", \"Worker\"\n"},
		{HEAD "spec: {tfReplicaSpecs: {Worker: {replicas: -1, " TEMPLATE "}, PS: " ROLE
		      "}}",
		 SPECS "[Worker].replicas: Invalid value: -1: must be greater than or equal to "
		       "0\n"},
		{HEAD "spec: {runPolicy: {stopSignal: STOPP}, tfReplicaSpecs: {Worker: " ROLE "}}",
		 "spec.runPolicy.stopSignal: Invalid value: unknown signal 'STOPP'; usual ones are "
		 "TERM, INT, HUP, QUIT, USR1 and USR2\n"},
		{HEAD "spec: {runPolicy: {stopSignal: [2]}, tfReplicaSpecs: {Worker: " ROLE "}}",
		 "spec.runPolicy.stopSignal: Invalid value: [2]: expected text\n"},
		{HEAD "spec: {tfReplicaSpecs: {Worker: {replicas: 20000, " TEMPLATE "}}}",
		 SPECS ": Too many: 20000 replicas: must have at most 10000\n"},
		{HEAD "spec: {tfReplicaSpecs: {Worker: {replicas: two, " TEMPLATE "}}}",
		 SPECS "[Worker].replicas: Invalid value: \"two\": expected a whole number\n"},
		{HEAD "spec: {tfReplicaSpecs: {Worker: {replicas: 1.5, " TEMPLATE "}}}",
		 SPECS "[Worker].replicas: Invalid value: 1.5: expected a whole number\n"},
		{HEAD "spec: {cleanPodPolicy: All, tfReplicaSpecs: {Worker: " ROLE "}}",
		 "spec.cleanPodPolicy: unknown field; it belongs in spec.runPolicy\n"},
		{HEAD "spec: {runPolicy: {restartScope: jobs, suspend: 1, backoffLimit: -1, "
		      "managedBy: '', schedulingPolicy: {que: a}}, tfReplicaSpecs: {Worker: " ROLE
		      "}}",
		 "spec.runPolicy.restartScope: Unsupported value: \"jobs\": supported values: "
		 "\"replica\", \"job\", \"worker\"; did you mean \"job\"?\n"
		 "spec.runPolicy.suspend: Invalid value: 1: expected true or false\n"
		 "spec.runPolicy.backoffLimit: Invalid value: -1: must be greater than or equal "
		 "to 0\n"
		 "spec.runPolicy.managedBy: Unsupported value: \"\": supported values: "
		 "\"kubeflow.org/training-operator\", \"kueue.x-k8s.io/multikueue\"\n"
		 "spec.runPolicy.schedulingPolicy.que: unknown field; did you mean \"queue\"?\n"},
		{HEAD "spec: {tfReplicaSpecs: {Worker: " ROLE "}, replicaSpecs: []}",
		 "spec.replicaSpecs: Forbidden: is the older form of tfReplicaSpecs, which is "
		 "there too\n"},
		{HEAD "spec: {replicaSpecs: {Worker: {replicas: x, " TEMPLATE "}}}",
		 "spec.replicaSpecs: unknown field; did you mean \"tfReplicaSpecs\"?\n"
		 "spec.replicaSpecs[Worker].replicas: Invalid value: \"x\": expected a whole "
		 "number\n"},
		{HEAD "spec: {replicaSpecs: [{tfReplicaType: Work, " TEMPLATE
		      "}, {tfReplicaType: worker, type: x, " TEMPLATE "}]}",
		 "spec.replicaSpecs[0].tfReplicaType: Unsupported value: \"Work\": supported "
		 "values: \"Chief\", \"Evaluator\", \"Master\", \"PS\", \"Worker\"; did you mean "
		 "\"Worker\"?\n"
		 "spec.replicaSpecs[1].type: unknown field\n"},
		{HEAD "spec: {tfReplicaSpecs: {Worker: {template: {spec: {containers: ["
		      "{name: tensorflow, args: a, env: {A: b}}, {name: tensorflow}, {}]}}}}}",
		 SPECS "[Worker].template.spec.containers[0].args: Invalid value: \"a\": expected "
		       "a list\n" SPECS
		       "[Worker].template.spec.containers[0].env: Invalid value: {\"A\":\"b\"}: "
		       "expected a list\n" SPECS
		       "[Worker].template.spec.containers[1].name: Duplicate value: "
		       "\"tensorflow\"\n" SPECS
		       "[Worker].template.spec.containers[2].name: Required value\n"},
		{HEAD "spec: {tfReplicaSpecs: {Worker: {template: {spec: {containers: ["
		      "{name: tensorflow, command: [a, null, {}], env: [{name: 1A, value: b}, "
		      "{name: B, value: 7}, {value: c}, {nam: D}]}]}}}}}",
		 SPECS "[Worker].template.spec.containers[0].command[1]: Invalid value: null: "
		       "expected text\n" SPECS
		       "[Worker].template.spec.containers[0].command[2]: Invalid value: {}: "
		       "expected text\n" SPECS
		       "[Worker].template.spec.containers[0].env[0].name: Invalid value: \"1A\": a "
		       "valid environment variable name must consist of alphabetic characters, "
		       "digits, '_', '-', or '.', and must not start with a digit (e.g. "
		       "'my.env-name',  or 'MY_ENV.NAME',  or 'MyEnvName1', regex used for "
		       "validation is '[-._a-zA-Z][-._a-zA-Z0-9]*')\n" SPECS
		       "[Worker].template.spec.containers[0].env[1].value: Invalid value: 7: "
		       "expected text; put it in quotes\n" SPECS
		       "[Worker].template.spec.containers[0].env[2].name: Required value\n" SPECS
		       "[Worker].template.spec.containers[0].env[3].name: Required value\n" SPECS
		       "[Worker].template.spec.containers[0].env[3].nam: unknown field; did you "
		       "mean \"name\"?\n"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_faults(rows[i].yaml, JOB_STRICT, rows[i].faults);
}

#define MISSPELLED(POD, FIELD, MEANT)                                                              \
	{                                                                                          \
		HEAD "spec: {tfReplicaSpecs: {Worker: {template: {" POD "}}}}",                    \
			SPECS "[Worker].template." FIELD ": unknown field; did you mean \"" MEANT  \
			      "\"?\n"                                                              \
	}
#define IN_POD(MORE) "spec: {containers: [{name: tensorflow}], " MORE "}"
#define IN_CONTAINER(MORE) "spec: {containers: [{name: tensorflow, " MORE "}]}"

TEST(a_field_of_a_pod_that_is_misspelled_is_refused)
{
	static const struct {
		const char *yaml;
		const char *faults;
	} rows[] = {
		MISSPELLED(IN_POD("") ", metdata: {}", "metdata", "metadata"),
		MISSPELLED(IN_POD("") ", metadata: {anotations: {}}", "metadata.anotations",
			   "annotations"),
		MISSPELLED(IN_POD("restartpolicy: Never"), "spec.restartpolicy", "restartPolicy"),
		MISSPELLED(IN_POD("volume: []"), "spec.volume", "volumes"),
		MISSPELLED(IN_POD("volumes: [{name: a, emptydir: {}}]"), "spec.volumes[0].emptydir",
			   "emptyDir"),
		MISSPELLED(IN_POD("tolerations: [{efect: NoSchedule}]"),
			   "spec.tolerations[0].efect", "effect"),
		MISSPELLED(IN_POD("initContainers: [{name: a, resouces: {}}]"),
			   "spec.initContainers[0].resouces", "resources"),
		MISSPELLED(IN_CONTAINER("workdir: /tmp"), "spec.containers[0].workdir",
			   "workingDir"),
		MISSPELLED(IN_CONTAINER("working_dir: /tmp"), "spec.containers[0].working_dir",
			   "workingDir"),
		MISSPELLED(IN_CONTAINER("environment: {a: b}"), "spec.containers[0].environment",
			   "env"),
		MISSPELLED(IN_CONTAINER("resouces: {}"), "spec.containers[0].resouces",
			   "resources"),
		MISSPELLED(IN_CONTAINER("volumemounts: []"), "spec.containers[0].volumemounts",
			   "volumeMounts"),
		MISSPELLED(IN_CONTAINER("resources: {limit: {cpu: 1}}"),
			   "spec.containers[0].resources.limit", "limits"),
		MISSPELLED(IN_CONTAINER("ports: [{port: 1}]"), "spec.containers[0].ports[0].port",
			   "containerPort"),
		MISSPELLED(IN_CONTAINER("volumeMounts: [{name: a, path: /a}]"),
			   "spec.containers[0].volumeMounts[0].path", "mountPath"),
		MISSPELLED(IN_CONTAINER("env: [{name: A, valueFrom: {secretkeyref: {}}}]"),
			   "spec.containers[0].env[0].valueFrom.secretkeyref", "secretKeyRef"),
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_faults(rows[i].yaml, JOB_STRICT, rows[i].faults);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_faults(rows[i].yaml, JOB_LENIENT, "");
	assert_faults(HEAD "spec: {tfReplicaSpecs: {Worker: {template: {" IN_POD(
			      "fieldOfTomorrow: 1") "}}}}",
		      JOB_STRICT, "");
}

#define REFUSED_QUANTITY(PLACE, VALUE)                                                             \
	SPECS "[Worker].template.spec.containers[0].resources." PLACE ": Invalid value: " VALUE    \
	      ": expected a quantity, which is a number and one of the suffixes m k M G T P E Ki " \
	      "Mi Gi Ti Pi Ei or none: 500m, 2, 1.5Gi\n"

TEST(quantities_are_checked_in_files_too)
{
	const char *yaml = HEAD "spec: {tfReplicaSpecs: {Worker: {template: {" IN_CONTAINER(
		"resources: {limits: {cpu: lots, memory: 10GB, example.com/fpga: {}, "
		"nvidia.com/gpu: 1}, requests: {cpu: -1, memory: 1e9, "
		"ephemeral-storage: 1.5Gi, hugepages-2Mi: null}}") "}}}}";

	assert_faults(yaml, JOB_STRICT,
		      REFUSED_QUANTITY("limits[cpu]", "\"lots\"")
			      REFUSED_QUANTITY("limits[memory]", "\"10GB\"")
				      REFUSED_QUANTITY("limits[example.com/fpga]", "{}")
					      REFUSED_QUANTITY("requests[cpu]", "-1"));
	assert_faults(yaml, JOB_LENIENT, "");
}

TEST(what_nothing_has_filled_in_is_known_as_a_template)
{
	assert_faults(HEAD "spec: {tfReplicaSpecs: {Worker: {replicas: $N, " TEMPLATE "}}}",
		      JOB_STRICT,
		      SPECS "[Worker].replicas: Invalid value: \"$N\": expected a whole number; if "
			    "this is a template, fill it in first (for example: envsubst < FILE | "
			    "muster run -f -)\n");
	assert_faults(HEAD "spec: {tfReplicaSpecs: {Worker: {replicas: '{{ .N }}', " TEMPLATE "}}}",
		      JOB_STRICT,
		      SPECS "[Worker].replicas: Invalid value: \"{{ .N }}\": expected a whole "
			    "number; if this is a template, render it first (for example: helm "
			    "template CHART | muster run -f -)\n");
}

/* Fields of core/v1 as of Kubernetes 1.34: none of them is taken for a misspelling. */
TEST(every_field_of_a_pod_is_let_through)
{
	static const char yaml[] = HEAD
		"spec: {tfReplicaSpecs: {Worker: {template: {metadata: {}, spec: {"
		"activeDeadlineSeconds: 1, affinity: {}, automountServiceAccountToken: true, "
		"dnsConfig: {}, dnsPolicy: Default, enableServiceLinks: true, "
		"ephemeralContainers: [], hostAliases: [], hostIPC: true, hostNetwork: true, "
		"hostPID: true, hostUsers: true, hostname: a, hostnameOverride: b, "
		"imagePullSecrets: [], initContainers: [], nodeName: a, nodeSelector: {}, os: {}, "
		"overhead: {}, preemptionPolicy: a, priority: 1, priorityClassName: a, "
		"readinessGates: [], resourceClaims: [], resources: {}, restartPolicy: Never, "
		"runtimeClassName: a, schedulerName: a, schedulingGates: [], securityContext: {}, "
		"serviceAccount: a, serviceAccountName: a, setHostnameAsFQDN: true, "
		"shareProcessNamespace: true, subdomain: a, tolerations: [], "
		"topologySpreadConstraints: [], volumes: [], terminationGracePeriodSeconds: 1, "
		"containers: [{name: tensorflow, image: a, imagePullPolicy: a, command: [a], "
		"args: [], workingDir: a, ports: [], env: [], envFrom: [], resources: {}, "
		"resizePolicy: [], restartPolicy: Always, restartPolicyRules: [], "
		"volumeMounts: [], volumeDevices: [], livenessProbe: {}, readinessProbe: {}, "
		"startupProbe: {}, lifecycle: {}, terminationMessagePath: a, "
		"terminationMessagePolicy: a, securityContext: {}, stdin: true, stdinOnce: true, "
		"tty: true}]}}}}}";

	assert_faults(yaml, JOB_STRICT, "");
}

/* Section by section what the validating webhook of training-operator v1.9 says, and nothing else.
 */
TEST(an_admission_says_what_the_webhook_says)
{
	static const struct {
		const char *yaml;
		const char *faults;
	} rows[] = {
		{"metadata: {name: Bad}\nspec: {tfReplicaSpecs: {Worker: " ROLE "}}",
		 "metadata.name: Invalid value: \"Bad\": should match: a DNS-1035 label must "
		 "consist of lower case alphanumeric characters or '-', start with an alphabetic "
		 "character, and end with an alphanumeric character (e.g. 'my-name',  or "
		 "'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')\n"},
		{"metadata: {name: a23456789012345678901234567890123456789012345678901234567890123"
		 "4}\nspec: {tfReplicaSpecs: {Worker: " ROLE "}}",
		 "metadata.name: Invalid value: "
		 "\"a2345678901234567890123456789012345678901234567890123456789…: should match: "
		 "must be no more than 63 characters\n"},
		{HEAD, SPECS ": Required value: must be required\n"},
		{HEAD "spec: {tfReplicaSpecs: {}}", ""},
		{HEAD "spec: {tfReplicaSpecs: {Worker: }}", ""},
		{HEAD "spec: {tfReplicaSpecs: {worker: {}}}", NO_CONTAINERS("worker")},
		{HEAD "spec: {tfReplicaSpecs: {Worker: {template: {spec: {containers: "
		      "[{name: a}, {name: b, image: b}]}}}}}",
		 SPECS "[Worker].template.spec.containers[0].image: Required value: must be "
		       "required\n" SPECS
		       "[Worker].template.spec.containers: Required value: must have at least one "
		       "container with name tensorflow\n"},
		{HEAD "spec: {tfReplicaSpecs: {Chief: " ROLE ", Master: " ROLE "}}",
		 SPECS ": Forbidden: must not have more than 1 Chief or Master role\n"},
		{HEAD "spec: {tfReplicaSpecs: {chief: " ROLE ", Master: " ROLE "}}", ""},
		{HEAD "spec: {runPolicy: {managedBy: me}, tfReplicaSpecs: {Worker: " ROLE "}}",
		 "spec.runPolicy.managedBy: Unsupported value: \"me\": supported values: "
		 "\"kubeflow.org/training-operator\", \"kueue.x-k8s.io/multikueue\"\n"},
		{HEAD "spec: {odd: 1, tfReplicaSpecs: {Foo: {replicas: -1, restartPolicy: X, odd: "
		      "1, " TEMPLATE "}}}",
		 ""},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_faults(rows[i].yaml, JOB_ADMISSION, rows[i].faults);
}

TEST(odd_values_are_read_as_the_old_operator_did)
{
	struct job *job CLEANUP(job_cleanup) = read_well(
		HEAD "spec: {successPolicy: Odd, runPolicy: {cleanPodPolicy: '', backoffLimit: -3, "
		     "activeDeadlineSeconds: -1}, tfReplicaSpecs: {Foo: " ROLE
		     ", WORKER: {replicas: 5, " TEMPLATE "}, Worker: {replicas: -2, " TEMPLATE
		     "}, PS: {replicas: -2, " TEMPLATE "}}}",
		JOB_LENIENT);

	assert_int_equal(job->success_policy, SUCCESS_DEFAULT);
	assert_int_equal(job->clean_policy, CLEAN_ALL);
	assert_int_equal(job->backoff_limit, 0);
	assert_int_equal(job->active_deadline, 0);
	assert_int_equal(job->n_roles, 3);
	assert_int_equal(job_role(job, "ps")->replicas, 0);
	assert_int_equal(job_role(job, "worker")->replicas, 5); /* the other spelling wins */
	assert_int_equal(job->roles[2].kind, ROLE_OTHER);
	assert_string_equal(job->roles[2].title, "Foo");
	assert_string_equal(job->roles[2].name, "foo");
}

TEST(an_unknown_restart_policy_is_refused_in_a_record_too)
{
	assert_faults(HEAD "spec: {tfReplicaSpecs: {Worker: {restartPolicy: onFailure, " TEMPLATE
			   "}}}",
		      JOB_LENIENT,
		      SPECS "[Worker].restartPolicy: Unsupported value: \"onFailure\": supported "
			    "values: \"Never\", \"OnFailure\", \"Always\", \"ExitCode\"; did you "
			    "mean \"OnFailure\"?\n");
}

TEST(a_role_that_can_name_no_pod_is_refused_in_a_record_too)
{
	assert_faults(HEAD "spec: {tfReplicaSpecs: {../x: {template: {spec: {containers: [{name: "
			   "tensorflow, image: a}]}}}}}",
		      JOB_LENIENT,
		      SPECS
		      "[../x]: Invalid value: \"../x\": a role is named with letters, digits and "
		      "'-'\n");
}

TEST(an_image_is_asked_for_on_kubernetes_alone)
{
	static const char yaml[] = HEAD "spec: {tfReplicaSpecs: {Worker: {template: {spec: "
					"{containers: [{name: tensorflow}]}}}}}";
	struct job *typed CLEANUP(job_cleanup) = read_well(yaml, JOB_STRICT);
	struct job *stored CLEANUP(job_cleanup) = read_well(yaml, JOB_LENIENT);

	assert_null(typed->roles[0].container.image);
	assert_null(stored->roles[0].container.image);
	assert_faults(yaml, JOB_ADMISSION,
		      SPECS "[Worker].template.spec.containers[0].image: Required value: must be "
			    "required\n");
}

TEST(a_template_has_no_more_values_than_may_be_kept)
{
	struct text text CLEANUP(text_done) = {0};

	text_add(&text, HEAD "spec: {tfReplicaSpecs: {Worker: {template: {spec: {containers: "
			     "[{name: tensorflow, image: i}], x: [");
	for (int i = 0; i < LIMIT_TEMPLATE_VALUES; i++)
		text_add(&text, "{},");
	text_add(&text, "]}}}}}");
	assert_faults(text_of(&text), JOB_LENIENT,
		      SPECS "[Worker].template: Too many: 10007 values: must have at most 10000\n");
}

TEST(faults_beyond_the_limit_are_counted_but_not_kept)
{
	struct text yaml CLEANUP(text_done) = {0};
	struct faults faults CLEANUP(faults_done) = {0};
	struct text lines CLEANUP(text_done) = {0};

	text_add(&yaml, HEAD "spec:\n");
	for (int i = 0; i < 2 * LIMIT_FAULTS; i++)
		text_addf(&yaml, "  odd%d: 1\n", i);
	assert_null(try_read(text_of(&yaml), JOB_STRICT, NULL, &lines));
	assert_true(text_ends_with(text_of(&lines), "\nand 101 more faults\n"));

	/* A second document of the same file is still refused. */
	struct json *root CLEANUP(json_cleanup) = json_new_integer(7);
	struct job *job = NULL;

	for (int i = 0; i < LIMIT_FAULTS; i++)
		fault_add(&faults, (struct place){0}, "", "fault %d", i);
	assert_int_equal(job_read(root, NULL, JOB_STRICT, &faults, &job), ERR_INVALID);
	assert_int_equal(faults.count, LIMIT_FAULTS);
	assert_int_equal(faults.n_more, 1);
}

TEST(a_fault_stays_on_its_line)
{
	assert_faults(HEAD "spec: {\"a\\nb\\x1b[2J\": 1, tfReplicaSpecs: {Worker: " ROLE "}}",
		      JOB_STRICT, "spec.a?b?[2J: unknown field\n");
	assert_faults(HEAD "spec: {\"a\\x9b2Jé\": 1, tfReplicaSpecs: {Worker: " ROLE "}}",
		      JOB_STRICT, "spec.a?2Jé: unknown field\n");
}

TEST(words_of_stopping_have_the_exit_codes_of_their_signals)
{
	assert_int_equal(stop_reason_exit_code("interrupted"), 130);
	assert_int_equal(stop_reason_exit_code("terminated"), 143);
	assert_int_equal(stop_reason_exit_code("hangup"), 129);
	assert_int_equal(stop_reason_exit_code("stopped"), 130);
	assert_int_equal(stop_reason_exit_code("what else"), 130);
}

/* Numbers that look like chance and are the same in every run. */
static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static struct json *random_value(uint32_t *seed)
{
	switch (next_random(seed) % 8) {
	case 0:
		return json_new_null();
	case 1:
		return json_new_bool(true);
	case 2:
		return json_new_integer((int64_t) next_random(seed) - 5000000);
	case 3:
		return json_new_integer(INT64_MAX);
	case 4:
		return json_new_real(0.5);
	case 5:
		return json_new_string("");
	case 6:
		return json_new_array();
	default:
		return json_new_object();
	}
}

/* Puts something else in the place of one value, somewhere in the document. */
static void mutate(struct json *value, uint32_t *seed)
{
	size_t count = json_count(value);
	const char *key = NULL;
	struct json *member;

	if (json_is(value, JSON_ARRAY) && count > 0 && next_random(seed) % 4 > 0) {
		mutate(json_at(value, next_random(seed) % count), seed);
	} else if (json_is(value, JSON_ARRAY)) {
		json_append(value, random_value(seed));
	} else if (json_is(value, JSON_OBJECT) && count > 0) {
		for (size_t left = next_random(seed) % count + 1; left > 0; left--)
			json_next(value, &key, &member);
		char *name CLEANUP(mem_free_text) = mem_copy_text(key);

		if (json_count(member) > 0 && next_random(seed) % 8 > 0)
			mutate(member, seed);
		else
			json_set(value, name, random_value(seed));
	}
}

TEST(mutilated_documents_are_refused_or_read_but_never_crash)
{
	struct job *whole CLEANUP(job_cleanup) = read_golden_job("jobs/full.yaml", JOB_STRICT);
	uint32_t seed = 20260101;
	int n_refused = 0;

	for (int i = 0; i < 4000; i++) {
		struct json *document CLEANUP(json_cleanup) = json_new_copy(whole->document);
		struct faults faults CLEANUP(faults_done) = {0};
		struct job *job CLEANUP(job_cleanup) = NULL;
		enum job_strictness strictness = i % 2 ? JOB_STRICT : JOB_LENIENT;

		for (uint32_t n = next_random(&seed) % 4; n < 4; n++)
			mutate(document, &seed);
		if (job_read(document, NULL, strictness, &faults, &job) == 0)
			assert_same_job(job, job->document, strictness);
		else
			n_refused++;
	}
	assert_in_range(n_refused, 1000, 3990);
}

TEST(a_signal_has_a_name_with_and_without_its_prefix_and_a_number)
{
	static const char *const words[] = {"INT", "SIGINT", "int", "SigInt", "2"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		int number = 0;

		assert_int_equal(stop_signal_read(words[i], &number, NULL), 0);
		assert_int_equal(number, SIGINT);
	}
}

TEST(what_is_no_signal_is_answered_with_the_usual_ones)
{
	static const char *const words[] = {"", "SIG", "STOPP", "0", "-2", "65", "2x", " INT"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		struct err err = {0};
		int number = -1;

		assert_int_equal(stop_signal_read(words[i], &number, &err), ERR_INVALID);
		assert_int_equal(number, -1);
		assert_non_null(strstr(err.text, "TERM, INT, HUP"));
	}
}

TEST(a_signal_is_written_as_images_have_it)
{
	char *named CLEANUP(mem_free_text) = stop_signal_format(SIGUSR1);
	char *unnamed CLEANUP(mem_free_text) = stop_signal_format(SIGRTMIN + 1);

	assert_string_equal(named, "SIGUSR1");
	assert_int_equal(atoi(unnamed), SIGRTMIN + 1);
}

TEST(a_stop_is_term_and_ctrl_c_int_unless_the_job_says_otherwise)
{
	struct job job = {0};

	assert_int_equal(stop_signal_of(&job), SIGTERM);
	job.stop_reason = stop_reason_words[STOP_REQUESTED];
	assert_int_equal(stop_signal_of(&job), SIGTERM);
	job.stop_reason = stop_reason_words[STOP_INTERRUPTED];
	assert_int_equal(stop_signal_of(&job), SIGINT);
	job.stop_reason = stop_reason_words[STOP_HANGUP];
	assert_int_equal(stop_signal_of(&job), SIGTERM);
	job.elastic_id = "1";
	assert_int_equal(stop_signal_of(&job), SIGHUP);
	job.stop_reason = stop_reason_words[stop_signal_reason(SIGUSR2)];
	assert_int_equal(stop_signal_of(&job), SIGUSR2);
	assert_int_equal(stop_reason_exit_code(job.stop_reason), 128 + SIGUSR2);
	job.stop_signal = SIGUSR1;
	assert_int_equal(stop_signal_of(&job), SIGUSR1);
}
