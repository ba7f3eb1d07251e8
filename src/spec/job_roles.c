/* The roles of a job: converts keys in any case and the older list to tfReplicaSpecs, and reads
 * each replica spec.
 *
 * A role is read where the user wrote it, under the user's spelling, so that faults name the text
 * of the file. Rules of the keys: setTypeNamesToCamelCase in training-operator v1.9,
 * pkg/apis/kubeflow.org/v1/tensorflow_defaults.go. */
#include "base/names.h"
#include "base/text.h"
#include "spec/job_field.h"
#include "spec/limits.h"

#include <ctype.h>

/* The spelling in tfReplicaSpecs; by enum role_kind. */
static const char *const role_titles[ROLE_OTHER] = {
	[ROLE_CHIEF] = "Chief", [ROLE_EVALUATOR] = "Evaluator", [ROLE_MASTER] = "Master",
	[ROLE_PS] = "PS",       [ROLE_WORKER] = "Worker",
};

/* The last one only in an element of the older list. */
static const char *const replica_spec_words[] = {"replicas", "restartPolicy", "template",
						 "tfReplicaType"};

/* One role of the file. */
struct entry {
	struct field spec;
	const char *written; /* "WORKER" */
	const char *title; /* "Worker" */
	enum role_kind kind;
};

/* All roles of a file, in the order of enum role_kind, in which success and failure are evaluated;
 * equal kinds are in the order of the file. */
struct entries {
	struct field container; /* tfReplicaSpecs or replicaSpecs */
	bool is_list;
	struct entry list[LIMIT_ROLES];
	size_t count;
};

static bool is_canonical(const struct entry *entry)
{
	return text_equals(entry->written, entry->title);
}

/* A role written twice is a fault in a file. In the old operator the uncanonical spelling won. */
static void add_entry(struct field_reader *reader, struct entries *entries,
		      const struct field *spec, const struct field *name, const char *written)
{
	int found = name_find_word_ignoring_case(role_titles, ROLE_OTHER, written);
	enum role_kind kind = found < 0 ? ROLE_OTHER : (enum role_kind) found;
	struct entry entry = {
		.spec = *spec,
		.written = written,
		.title = kind == ROLE_OTHER ? written : role_titles[kind],
		.kind = kind,
	};
	size_t at = entries->count;

	if (kind == ROLE_OTHER && reader_is_strict(reader))
		field_refuse_word(reader, name, written, role_titles, ROLE_OTHER);
	for (size_t i = 0; i < entries->count; i++) {
		struct entry *there = &entries->list[i];

		if (!text_equals_ignoring_case(there->title, entry.title))
			continue;
		if (reader_is_strict(reader))
			field_refuse(reader, spec,
				     "Duplicate value: \"%s\": this role is there as \"%s\"",
				     written, there->written);
		else if (is_canonical(there))
			*there = entry;
		return;
	}
	if (entries->count == LIMIT_ROLES) {
		field_refuse(reader, &entries->container, "Too many: must have at most %d roles",
			     LIMIT_ROLES);
		return;
	}
	for (; at > 0 && kind < entries->list[at - 1].kind; at--)
		entries->list[at] = entries->list[at - 1];
	entries->list[at] = entry;
	entries->count++;
}

/* An object called replicaSpecs is a probable typing error; its roles are read too. */
static void collect(struct field_reader *reader, const struct field *spec, struct entries *entries)
{
	struct field map = field_member(spec, "tfReplicaSpecs");
	struct field list = field_member(spec, "replicaSpecs");
	struct json *value;
	bool is_slip = reader_is_strict(reader) && json_is(list.value, JSON_OBJECT);

	entries->is_list = field_is_set(&list) && !field_is_set(&map) && !is_slip;
	entries->container = field_is_set(&map) || !field_is_set(&list) ? map : list;
	if (field_is_set(&list) && field_is_set(&map) && reader_is_strict(reader))
		field_refuse(reader, &list,
			     "Forbidden: is the older form of tfReplicaSpecs, which is there too");
	if (is_slip && !field_is_set(&map))
		field_refuse_unknown(reader, &list, &map.key, 1);
	size_t count = entries->is_list ? field_count(reader, &entries->container) : 0;

	for (size_t i = 0; i < count; i++) {
		const struct field *role = FIELD_ELEMENT(&entries->container, i);
		const struct field *type = FIELD_MEMBER(role, "tfReplicaType");

		add_entry(reader, entries, role, type,
			  field_text(reader, type, role_titles[ROLE_CHIEF]));
	}
	if (entries->is_list)
		return;
	if (!field_is_set(&entries->container))
		field_refuse(reader, &map, "Required value: must be required");
	else if (!field_is_object(reader, &entries->container))
		return;
	/* The API server drops keys without a value before an operator sees them. */
	for (const char *key = NULL; json_next(entries->container.value, &key, &value);) {
		const struct field *role = FIELD_MAP_ENTRY(&entries->container, key);

		if (reader_is_strict(reader) || field_is_set(role))
			add_entry(reader, entries, role, role, key);
	}
}

static void read_role(struct field_reader *reader, const struct entries *entries,
		      const struct entry *entry, struct arena *arena, struct role *role)
{
	const struct field *spec = &entry->spec;
	const struct field *replicas = FIELD_MEMBER(spec, "replicas");
	const struct field *policy = FIELD_MEMBER(spec, "restartPolicy");
	bool is_leader = entry->kind == ROLE_CHIEF || entry->kind == ROLE_MASTER;
	char *name = arena_copy_text(arena, entry->title);

	for (char *at = name; *at; at++)
		*at = (char) tolower((unsigned char) *at);
	field_check_members(reader, spec, replica_spec_words,
			    ARRAY_LEN(replica_spec_words) - !entries->is_list);
	role->kind = entry->kind;
	role->title = arena_copy_text(arena, entry->title);
	role->name = name;
	/* A rejected number counts as one replica, so that the job does not also get the fault that
	 * it has no replicas. */
	size_t n_refused = reader->n_refused;
	int64_t count = field_integer(reader, replicas, 0, INT32_MAX, 1);

	role->replicas = reader->n_refused > n_refused ? 1 : (int) count;
	/* It is part of the names of Pods and files. When strict, only known roles are accepted;
	 * the old webhook accepted any. */
	if (reader->strictness == JOB_LENIENT && !name_is_dns_label(role->name))
		field_refuse(reader, spec,
			     "Invalid value: \"%s\": a role is named with letters, digits and '-'",
			     entry->written);
	/* Training code knows one chief; TensorFlow rejects a cluster with two. */
	if (reader_is_strict(reader) && role->replicas > 1 && is_leader)
		field_refuse_value(reader, replicas, "a job has one %s", role->name);
	/* A server would reject a Pod with any other policy: such a job waits silently for ever
	 * under training-operator, and would train without restarts on this machine. */
	int found = field_word(reader, policy, restart_policy_words,
			       ARRAY_LEN(restart_policy_words), RESTART_NEVER, -1);

	if (found < 0 && reader->strictness == JOB_LENIENT)
		field_refuse_word(reader, policy, json_as_string(policy->value, ""),
				  restart_policy_words, ARRAY_LEN(restart_policy_words));
	role->restart_policy = found < 0 ? RESTART_NEVER : (enum restart_policy) found;
	job_read_template(reader, FIELD_MEMBER(spec, "template"), arena, role);
}

/* The webhook compares keys as written; a job that cannot run is rejected in any spelling. */
static void check_leaders(struct field_reader *reader, const struct entries *entries)
{
	int n_leaders = 0;

	for (size_t i = 0; i < entries->count; i++) {
		const struct entry *entry = &entries->list[i];
		bool is_leader = entry->kind == ROLE_CHIEF || entry->kind == ROLE_MASTER;

		if (is_leader && (reader_is_strict(reader) || is_canonical(entry)))
			n_leaders++;
	}
	if (n_leaders > 1)
		field_refuse(reader, &entries->container,
			     "Forbidden: must not have more than 1 Chief or Master role");
}

static void check_replicas(struct field_reader *reader, const struct entries *entries,
			   const struct job *job)
{
	bool is_readable =
		json_is(entries->container.value, entries->is_list ? JSON_ARRAY : JSON_OBJECT);
	int64_t count = 0;

	for (size_t i = 0; i < job->n_roles; i++)
		count += job->roles[i].replicas;
	if (count > LIMIT_REPLICAS)
		field_refuse(reader, &entries->container,
			     "Too many: %lld replicas: must have at most %d", (long long) count,
			     LIMIT_REPLICAS);
	if (count == 0 && is_readable && reader_is_strict(reader))
		field_refuse(reader, &entries->container,
			     "Required value: at least one role must have one replica or more");
}

void job_read_roles(struct field_reader *reader, const struct field *spec, struct job *job)
{
	struct entries entries = {0};

	collect(reader, spec, &entries);
	check_leaders(reader, &entries);
	job->n_roles = entries.count;
	job->roles = arena_take_array(job->arena, entries.count, sizeof(*job->roles));
	for (size_t i = 0; i < entries.count; i++)
		read_role(reader, &entries, &entries.list[i], job->arena, &job->roles[i]);
	check_replicas(reader, &entries, job);
	if (reader->n_refused > 0)
		return;
	/* The roles are written back as tfReplicaSpecs under their canonical keys. */
	struct json *map = json_new_object();

	for (size_t i = 0; i < entries.count; i++) {
		struct json *value = entries.list[i].spec.value;

		json_remove(value, "tfReplicaType");
		json_set(map, job->roles[i].title, json_ref(value));
	}
	json_remove(spec->value, "replicaSpecs");
	json_set(spec->value, "tfReplicaSpecs", map);
}
