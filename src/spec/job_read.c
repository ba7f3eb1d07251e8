/* Reads a TFJob document into a job: its kind, its metadata, its policies. spec/job_roles.c and
 * spec/job_container.c read roles and containers. */
#include "base/mem.h"
#include "base/names.h"
#include "base/text.h"
#include "spec/job.h"
#include "spec/job_field.h"

#include <inttypes.h>

#define API_VERSION "kubeflow.org/v1"
#define KIND "TFJob"
#define DEFAULT_GRACE_SECONDS 30 /* Kubernetes' terminationGracePeriodSeconds */

/* apimachinery's IsDNS1035Label, word for word. */
#define DNS1035_RULE                                                                               \
	"a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with "  \
	"an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "    \
	"'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"

static const char *const root_words[] = {"apiVersion", "kind", "metadata", "spec", "status"};

/* Those that a server adds to an object belong to that object, and to no copy of it. */
#define FIRST_WORD_OF_SERVER 7
static const char *const metadata_words[] = {
	/* of its author */
	"name", "namespace", "labels", "annotations", "generateName", "ownerReferences",
	"finalizers",
	/* of a server */
	"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
	"deletionGracePeriodSeconds", "managedFields", "selfLink"};

static const char *const spec_words[] = {"tfReplicaSpecs", "replicaSpecs",        "runPolicy",
					 "successPolicy",  "enableDynamicWorker", "elasticPolicy"};

static const char *const run_policy_words[] = {
	/* of training-operator */
	"cleanPodPolicy", "ttlSecondsAfterFinished", "activeDeadlineSeconds", "backoffLimit",
	"schedulingPolicy", "suspend", "managedBy",
	/* ours */
	"restartScope", "gracePeriodSeconds", "stopSignal"};

static const char *const scheduling_policy_words[] = {"minAvailable", "queue", "minResources",
						      "priorityClass", "scheduleTimeoutSeconds"};

static const char *const managed_by_words[] = {"kubeflow.org/training-operator",
					       "kueue.x-k8s.io/multikueue"};

#define INSTEAD "; to run its command: muster run -w N -- COMMAND"

/* Files of other tools, told by a member. False if it is none. */
static bool refuse_other_file(struct field_reader *reader, const struct field *root)
{
	static const char *const others[][2] = {
		{"services", "a compose file" INSTEAD},
		{"num_nodes", "a task of SkyPilot" INSTEAD},
		{"setup", "a task of SkyPilot" INSTEAD},
		{"run", "a task of SkyPilot" INSTEAD},
	};
	const char *key = NULL, *what = NULL;
	bool are_commands = json_count(root->value) > 0;
	struct json *value;

	for (size_t i = 0; i < ARRAY_LEN(others) && !what; i++)
		if (json_get(root->value, others[i][0]))
			what = others[i][1];
	while (json_next(root->value, &key, &value))
		are_commands &= json_is(value, JSON_STRING);
	if (!what && are_commands)
		what = "a Procfile; start each of its processes with muster run -- COMMAND";
	if (what)
		field_refuse(reader, root, "expected a " KIND ", and this is %s", what);
	return what != NULL;
}

/* Kubeflow's other kinds, whose jobs a TFJob can express, and kinds that are no such jobs. */
static bool refuse_other_kind(struct field_reader *reader, const struct field *kind)
{
	static const char *const unlike[] = {"JobSet", "TrainJob", "Job",       "MPIJob",
					     "RayJob", "Pod",      "Deployment"};
	static const char *const others[][2] = {
		{"PyTorchJob", "pytorchReplicaSpecs"},
		{"JAXJob", "jaxReplicaSpecs"},
	};
	const char *word = json_as_string(kind->value, "");

	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		if (!text_equals(word, others[i][0]))
			continue;
		field_refuse(reader, kind,
			     "Unsupported value: \"%s\": supported values: \"" KIND
			     "\"; to run it, set kind to " KIND ", rename spec.%s to "
			     "spec.tfReplicaSpecs, and name the training container tensorflow",
			     word, others[i][1]);
		return true;
	}
	if (name_find_word(unlike, ARRAY_LEN(unlike), word) < 0)
		return false;
	field_refuse(reader, kind,
		     "Unsupported value: \"%s\": supported values: \"" KIND "\"" INSTEAD
		     " (with --on kubernetes --image IMAGE: in Pods)",
		     word);
	return true;
}

/* The API server checks the kind of what it sends to the operator; a file may have any. False when
 * the rest is not worth reading, because it is of another kind. */
static bool read_kind(struct field_reader *reader, const struct field *root)
{
	static const char *const kinds[] = {KIND, JOB_OLDEST_KIND};
	static const char *const versions[] = {API_VERSION};
	const struct field *kind = FIELD_MEMBER(root, "kind");
	const struct field *version = FIELD_MEMBER(root, "apiVersion");
	bool is_oldest = text_equals(json_as_string(version->value, ""), JOB_OLDEST_VERSION);
	size_t n_refused = reader->n_refused;

	if (!reader_is_strict(reader))
		return true;
	if (!field_is_set(kind) && !field_is_set(version) && refuse_other_file(reader, root))
		return false;
	if (!field_is_set(kind))
		field_refuse(reader, kind, "Required value: must be " KIND);
	if (!refuse_other_kind(reader, kind))
		field_word(reader, kind, kinds, is_oldest ? 2 : 1, 0, 0);
	if (field_is_set(kind) && reader->n_refused > n_refused)
		return false;
	if (!field_is_set(version))
		field_refuse(reader, version, "Required value: must be " API_VERSION);
	else if (!reader->is_older)
		field_word(reader, version, versions, ARRAY_LEN(versions), 0, 0);
	return true;
}

/* Its letters are checked whatever its length is: two faults of a name are reported as two. */
static void check_dns1035_name(struct field_reader *reader, const struct field *field,
			       const char *name)
{
	size_t len = strlen(name);
	bool is_long = len > DNS_LABEL_MAX;
	bool has_letters = name[0] >= 'a' && strspn(name, NAME_LOWER NAME_DIGITS "-") == len &&
			   name[len - 1] != '-';

	if (is_long || !has_letters)
		field_refuse_value(reader, field, "should match: %s%s%s",
				   is_long ? "must be no more than 63 characters" : "",
				   is_long && !has_letters ? "," : "",
				   has_letters ? "" : DNS1035_RULE);
}

/* Labels and annotations are texts. */
static void check_texts(struct field_reader *reader, const struct field *map)
{
	const char *key = NULL;
	struct json *value;

	if (!field_is_object(reader, map))
		return;
	while (json_next(map->value, &key, &value))
		(void) field_text(reader, FIELD_MAP_ENTRY(map, key), NULL);
}

/* An invalid value isolates the job, as the default does. */
static void read_choices(struct field_reader *reader, const struct field *annotations,
			 struct job *job)
{
	static const char *const flag_words[] = {"false", "true"};
	static const char *const policy_words[] = {JOB_NETWORK_POLICY_NONE, "job"};
	static const char *const gpus_words[] = {"replica", JOB_VISIBLE_GPUS_OF_JOB};
	static const char *const grace_words[] = {"second", JOB_GRACE_AFTER_FAILURE_WHOLE};

	job->has_private_network =
		field_word(reader, FIELD_MAP_ENTRY(annotations, JOB_ANNOTATION_PRIVATE_NETWORK),
			   flag_words, 2, 0, 1);
	job->waits_for_gpus =
		field_word(reader, FIELD_MAP_ENTRY(annotations, JOB_ANNOTATION_WAIT_FOR_GPU),
			   flag_words, 2, 0, 1);
	job->has_network_policy =
		field_word(reader, FIELD_MAP_ENTRY(annotations, JOB_ANNOTATION_NETWORK_POLICY),
			   policy_words, 2, 1, 1);
	job->has_common_gpus =
		field_word(reader, FIELD_MAP_ENTRY(annotations, JOB_ANNOTATION_VISIBLE_GPUS),
			   gpus_words, 2, 0, 0);
	job->survivors_may_save =
		field_word(reader, FIELD_MAP_ENTRY(annotations, JOB_ANNOTATION_GRACE_AFTER_FAILURE),
			   grace_words, 2, 0, 0);
	job->services = field_word(reader, FIELD_MAP_ENTRY(annotations, JOB_ANNOTATION_SERVICES),
				   job_services_words, 2, SERVICES_COUNT, SERVICES_COUNT);
}

static void read_annotations(struct field_reader *reader, const struct field *metadata,
			     struct job *job)
{
	const struct field *annotations = FIELD_MEMBER(metadata, "annotations");
	const struct field *server = FIELD_MAP_ENTRY(annotations, JOB_ANNOTATION_POD_SERVER);
	const struct field *fetches = FIELD_MAP_ENTRY(annotations, JOB_ANNOTATION_FETCH);
	const struct field *nice = FIELD_MAP_ENTRY(annotations, JOB_ANNOTATION_NICE);
	const char *server_port = json_as_string(server->value, NULL);
	const char *nice_text = json_as_string(nice->value, "0");
	struct err err = {0};
	int64_t port = 0, nice_number = 0;

	check_texts(reader, FIELD_MEMBER(metadata, "labels"));
	check_texts(reader, annotations);
	job->stop_reason = json_get_string(annotations->value, JOB_ANNOTATION_STOP, NULL);
	job->elastic_id = json_get_string(annotations->value, JOB_ANNOTATION_ELASTIC, NULL);
	job->after = json_get_string(annotations->value, JOB_ANNOTATION_AFTER, NULL);
	job->after_any = json_get_string(annotations->value, JOB_ANNOTATION_AFTER_ANY, NULL);
	read_choices(reader, annotations, job);
	if (server_port && text_read_int(server_port, 1, 65535, &port, &err) < 0)
		field_refuse_value(reader, server, "%s", err.text);
	job->pod_server_port = (int) port;
	if (text_read_int(nice_text, 0, NICE_MOST, &nice_number, &err) < 0)
		field_refuse_value(reader, nice, "%s", err.text);
	job->nice = (int) nice_number;
	if (fetch_read_all(json_as_string(fetches->value, NULL), job->arena, &job->fetches,
			   &job->n_fetches, &err) < 0 &&
	    reader_is_strict(reader))
		field_refuse(reader, fetches, "Invalid value: %s", err.text);
}

static void read_metadata(struct field_reader *reader, const struct field *root, struct job *job)
{
	const struct field *metadata = FIELD_MEMBER(root, "metadata");
	const struct field *name = FIELD_MEMBER(metadata, "name");
	const struct json *annotations = json_get(metadata->value, "annotations");
	bool is_local = json_get(annotations, JOB_ANNOTATION_ELASTIC) ||
			json_get(annotations, JOB_ANNOTATION_LOCAL_NAME);

	field_check_members(reader, metadata, metadata_words, ARRAY_LEN(metadata_words));
	job->name = field_text(reader, name, "");
	if (!field_is_set(name))
		field_refuse(reader, name, "Required value: a job needs a name");
	else if (json_is(name->value, JSON_STRING) &&
		 !(is_local && job->name[0] && name_is_label_value(job->name)))
		check_dns1035_name(reader, name, job->name);
	job->name_space = field_text(reader, FIELD_MEMBER(metadata, "namespace"), "");
	if (job->name_space[0] == '\0')
		job->name_space = "default";
	read_annotations(reader, metadata, job);
}

/* Also accepts a number, as in an image's STOPSIGNAL. */
static void read_stop_signal(struct field_reader *reader, const struct field *run_policy,
			     struct job *job)
{
	const struct field *field = FIELD_MEMBER(run_policy, "stopSignal");
	bool is_number = json_is(field->value, JSON_INTEGER);
	const char *word =
		is_number ? arena_format(job->arena, "%" PRId64, json_as_integer(field->value, 0))
			  : field_text(reader, field, NULL);
	struct err err = {0};

	if (word && stop_signal_read(word, &job->stop_signal, &err) < 0 && reader_is_strict(reader))
		field_refuse(reader, field, "Invalid value: %s", err.text);
}

static void read_run_policy(struct field_reader *reader, const struct field *spec, struct job *job)
{
	const struct field *policy = FIELD_MEMBER(spec, "runPolicy");
	const struct field *manager = FIELD_MEMBER(policy, "managedBy");

	field_check_members(reader, policy, run_policy_words, ARRAY_LEN(run_policy_words));
	job->clean_policy = (enum clean_policy) field_word(
		reader, FIELD_MEMBER(policy, "cleanPodPolicy"), clean_policy_words,
		ARRAY_LEN(clean_policy_words), CLEAN_NONE, CLEAN_ALL);
	job->is_suspended = field_bool(reader, FIELD_MEMBER(policy, "suspend"), false);
	job->ttl_after_finished = field_seconds(reader, policy, "ttlSecondsAfterFinished");
	job->active_deadline = field_seconds(reader, policy, "activeDeadlineSeconds");
	job->grace = field_seconds(reader, policy, "gracePeriodSeconds");
	/* The webhook compares exactly, and rejects the empty text too. */
	job->managed_by = field_text(reader, manager, NULL);
	if (job->managed_by &&
	    name_find_word(managed_by_words, ARRAY_LEN(managed_by_words), job->managed_by) < 0)
		field_refuse_word(reader, manager, job->managed_by, managed_by_words,
				  ARRAY_LEN(managed_by_words));
	read_stop_signal(reader, policy, job);
	job->backoff_limit =
		(int) field_integer(reader, FIELD_MEMBER(policy, "backoffLimit"), 0, INT32_MAX, -1);
	job->restart_scope = (enum restart_scope) field_word(
		reader, FIELD_MEMBER(policy, "restartScope"), restart_scope_words,
		ARRAY_LEN(restart_scope_words), RESTART_SCOPE_REPLICA, RESTART_SCOPE_REPLICA);
	field_check_members(reader, FIELD_MEMBER(policy, "schedulingPolicy"),
			    scheduling_policy_words, ARRAY_LEN(scheduling_policy_words));
}

/* Fields of older versions of TFJob were one level higher, and users still write them there. */
static void check_spec_members(struct field_reader *reader, const struct field *spec)
{
	const char *key = NULL;
	struct json *value;

	if (!reader_is_strict(reader))
		return;
	while (json_next(spec->value, &key, &value)) {
		const struct field *member = FIELD_MEMBER(spec, key);

		if (name_find_word(spec_words, ARRAY_LEN(spec_words), key) >= 0)
			continue;
		if (name_find_word(run_policy_words, ARRAY_LEN(run_policy_words), key) >= 0)
			field_refuse(reader, member, "unknown field; it belongs in spec.runPolicy");
		else
			field_refuse_unknown(reader, member, spec_words, ARRAY_LEN(spec_words));
	}
}

static void read_spec(struct field_reader *reader, const struct field *root, struct job *job)
{
	static const char *const success_words[] = {
		[SUCCESS_DEFAULT] = "",
		[SUCCESS_ALL_WORKERS] = "AllWorkers",
	};
	const struct field *spec = FIELD_MEMBER(root, "spec");

	if (field_is_object(reader, spec))
		check_spec_members(reader, spec);
	job->success_policy = (enum success_policy) field_word(
		reader, FIELD_MEMBER(spec, "successPolicy"), success_words,
		ARRAY_LEN(success_words), SUCCESS_DEFAULT, SUCCESS_DEFAULT);
	job->is_dynamic = field_bool(reader, FIELD_MEMBER(spec, "enableDynamicWorker"), false);
	/* Elastic jobs will use it. */
	(void) field_is_object(reader, FIELD_MEMBER(spec, "elasticPolicy"));
	read_run_policy(reader, spec, job);
	job_read_roles(reader, spec, job);
	/* A number that can be waited for, and not a share of what is free at some moment. */
	for (size_t i = 0; i < job->n_roles && job->waits_for_gpus; i++)
		if (job->roles[i].gpus == JOB_GPUS_SHARED && job->roles[i].kind != ROLE_PS)
			job->roles[i].gpus = 1;
	job->waits_for_gpus |= job->after || job->after_any;
}

/* That of a stop which was requested with its own, else the job's, else the Pods' grace period on
 * Kubernetes: the longest of its templates. */
static void choose_grace(struct job *job)
{
	const struct json *of_stop = json_get_path(job->document, "metadata", "annotations",
						   JOB_ANNOTATION_STOP_GRACE, NULL);
	bool is_given = job->grace >= 0;
	int64_t seconds;

	for (size_t i = 0; i < job->n_roles && !is_given; i++)
		job->grace = msec_max(job->grace, job->roles[i].grace);
	if (job->grace < 0)
		job->grace = DEFAULT_GRACE_SECONDS * MSEC_PER_SECOND;
	if (job->stop_reason &&
	    text_read_int(json_as_string(of_stop, ""), 0, INT32_MAX, &seconds, NULL) == 0)
		job->grace = seconds * MSEC_PER_SECOND;
}

/* The document that stays with the job: in this version, without members that belonged to another
 * object. The roles were normalized when they were read. */
static void normalise(const struct job *job)
{
	struct json *document = job->document;
	struct json *metadata = json_get(document, "metadata");
	char *stop_signal CLEANUP(mem_free_text) = stop_signal_format(job->stop_signal);

	json_set_string(document, "apiVersion", API_VERSION);
	json_set_string(document, "kind", KIND);
	json_remove(document, "status");
	for (size_t i = FIRST_WORD_OF_SERVER; i < ARRAY_LEN(metadata_words); i++)
		json_remove(metadata, metadata_words[i]);
	if (job->stop_signal)
		json_set_string(json_get_path(document, "spec", "runPolicy", NULL), "stopSignal",
				stop_signal);
}

static void read_root(struct field_reader *reader, struct job *job)
{
	struct field root = {.value = job->document};
	struct text changes CLEANUP(text_done) = {0};

	if (!json_is(root.value, JSON_OBJECT)) {
		field_refuse(reader, &root, "expected a " KIND " object%s",
			     json_is(root.value, JSON_STRING)
				     ? "; to run a script: muster run -- sh FILE"
				     : "");
		return;
	}
	if (!read_kind(reader, &root))
		return;
	if (reader_is_strict(reader))
		job_convert_older(reader, &root, run_policy_words, ARRAY_LEN(run_policy_words),
				  &changes);
	if (changes.len) /* its first two characters are a separator */
		job->changes = arena_copy_text(job->arena, text_of(&changes) + strlen("; "));
	field_check_members(reader, &root, root_words, ARRAY_LEN(root_words));
	read_metadata(reader, &root, job);
	read_spec(reader, &root, job);
	choose_grace(job);
	normalise(job);
}

int job_read(const struct json *root, const struct document *document,
	     enum job_strictness strictness, struct faults *faults, struct job **ret_job)
{
	struct arena *arena = arena_new();
	struct job *job CLEANUP(job_cleanup) = arena_take(arena, sizeof(*job));
	struct field_reader reader = {.document = document,
				      .strictness = strictness,
				      .faults = faults,
				      .is_older = strictness == JOB_STRICT && job_is_older(root)};
	size_t n_before = faults->count;

	*job = (struct job){
		.arena = arena, .uid = "", .document = json_new_copy(root), .n_references = 1};
	read_root(&reader, job);
	if (reader.n_refused > 0) {
		faults_sort(faults, n_before);
		return ERR_INVALID;
	}
	*ret_job = TAKE(job);
	return 0;
}
