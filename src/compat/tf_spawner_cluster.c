/* The program muster-kubernetes: what TF-Spawner did with Kubernetes' Python client.
 *
 * It supervises nothing: its users follow the objects with kubectl, as before. */
#include "compat/on_cluster.h"

#include "base/line_text.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/kube_cluster.h"
#include "cli/replica_pod.h"
#include "command/command.h"
#include "command/output.h"
#include "kube/mirror.h"
#include "kube/tf_spawner.h"
#include "kube/wait.h"

#include <stdio.h>

/* What creating and deleting a training of TF-Spawner share: its kinds of objects, and the
 * connection to the cluster. */

/* In TF-Spawner's order of deletion. */
enum spawner_kind_id { SPAWNER_SERVICE, SPAWNER_CONFIG_MAP, SPAWNER_POD, SPAWNER_COUNT };

struct spawner_kind {
	const char *spoken;
	const struct kube_resource *resource;
};
struct spawner_session {
	struct cluster_connection cluster;
	char *selector; /* "training_attempt=TAG" */
};

static const struct spawner_kind spawner_kinds[SPAWNER_COUNT] = {
	[SPAWNER_SERVICE] = {"service", &kube_services},
	[SPAWNER_CONFIG_MAP] = {"config map", &kube_config_maps},
	[SPAWNER_POD] = {"pod", &kube_pods},
};

/* NULL for any other kind. */
static const struct spawner_kind *spawner_kind_of(const struct json *object)
{
	for (enum spawner_kind_id id = 0; id < SPAWNER_COUNT; id++)
		if (spawner_kinds[id].resource == kube_resource_of(object))
			return &spawner_kinds[id];
	return NULL;
}

/* `old` are the options that select the cluster. Returns the errors of kube_cluster_read_config and
 * of its login; close the session even after an error. */
static int spawner_session_open(const struct options *old, const char *tag,
				struct spawner_session *session, struct err *err)
{
	struct kube_config *config CLEANUP(kube_config_cleanup) = NULL;

	if (kube_cluster_read_config(old, &config, err) ||
	    cluster_connect(old, &session->cluster, err))
		return err->code;
	kube_cluster_warn(config);
	session->selector = mem_format(TF_SPAWNER_LABEL "=%s", tag);
	return 0;
}

static void spawner_session_close(struct spawner_session *session)
{
	cluster_disconnect(&session->cluster);
	free(session->selector);
}

/* Prints TF-Spawner's message, and flushes it. */
static void spawner_print_removing(const struct spawner_kind *kind, const char *name)
{
	struct text text CLEANUP(text_done) = {0};

	text_add(&text, "removing '");
	line_text_add_sentence(&text, name, strlen(name));
	text_addf(&text, "' %s\n", kind->spoken);
	output_add(&text);
	output_flush();
}

/* Creates the objects of a training: Services before the Pods that look them up, all of a kind at
 * the same time, and all or none. */

static const char *text_in_metadata(const struct json *object, const char *key)
{
	return json_as_string(json_get_path(object, "metadata", key, NULL), "");
}

/* "muster compat tf-spawner -d -n lab -t mine" */
static void add_delete_command(struct text *text, const struct options *old, const char *tag)
{
	const char *namespace_name = option_text(old, "namespace");

	text_add(text, "muster compat tf-spawner -d");
	if (namespace_name)
		text_addf(text, " -n %s", namespace_name);
	text_addf(text, " -t %s\n", tag);
}

/* The objects, and the cluster's answer for each request. */
struct creation {
	struct spawner_session session;
	const struct json *objects;
	struct kube_answer *answers; /* one for each object */
};

static void creation_done(struct creation *creation)
{
	kube_answers_free(creation->answers, json_count(creation->objects));
	spawner_session_close(&creation->session);
}

static int check_kinds(const struct json *objects, struct err *err)
{
	for (size_t i = 0; i < json_count(objects); i++)
		if (!spawner_kind_of(json_at(objects, i)))
			return err_set(err, ERR_INVALID,
				       "the template of '%s' is of kind '%s': it has to be a Pod, "
				       "or a Service",
				       text_in_metadata(json_at(objects, i), "name"),
				       json_get_string(json_at(objects, i), "kind", ""));
	return 0;
}

/* A training with this tag has a ConfigMap. */
static int find_same_tag_training(struct spawner_session *session, bool *ret_is_there,
				  struct err *err)
{
	struct json *list CLEANUP(json_cleanup) = NULL;
	const struct kube_parameter parameters[] = {
		{"labelSelector", session->selector}, {"limit", "1"}, {0}};
	const struct kube_request request = {
		.verb = KUBE_LIST,
		.resource = &kube_config_maps,
		.parameters = parameters,
	};
	int rc = kube_wait(session->cluster.api, &request, &list, err);

	if (rc == 0)
		*ret_is_there = json_count(json_get(list, "items")) > 0;
	return rc;
}

static int refuse_same_tag(const struct options *old, const char *tag)
{
	struct text command CLEANUP(text_done) = {0};

	output_print_message(
		"error: a job with label %s exists already; either use a different tag (-t) or "
		"use a random one with -r; you can delete the job that is running with:",
		tag);
	add_delete_command(&command, old, tag);
	output_add(&command);
	return EXIT_REFUSED;
}

/* Names are the same in every training of TF-Spawner, so a namespace can hold only one. */
static void print_other_tag_hint(struct spawner_session *session, const struct options *old)
{
	struct json *script CLEANUP(json_cleanup) = NULL;
	struct text command CLEANUP(text_done) = {0};
	const struct kube_request request = {
		.verb = KUBE_GET,
		.resource = &kube_config_maps,
		.name = TF_SPAWNER_SCRIPT,
	};

	if (kube_wait(session->cluster.api, &request, &script, NULL))
		return;
	const char *tag = json_as_string(
		json_get_path(script, "metadata", "labels", TF_SPAWNER_LABEL, NULL), NULL);

	if (!tag)
		return;
	add_delete_command(&command, old, tag);
	output_print_message(
		"one namespace has room for one training with these names, and that is '%s'; "
		"delete it (%.*s), take another namespace (-n), or 'muster run --on kubernetes', "
		"whose jobs have names of their own",
		tag, (int) (command.len - 1), text_of(&command));
}

/* Creates one kind after the other, in list order: those of a kind at the same time. */
static int make_all(struct creation *creation, struct err *err)
{
	size_t count = json_count(creation->objects), n_same;
	struct kube_request *requests CLEANUP(mem_free_any) =
		mem_new_array(count, sizeof(*requests));
	int rc = 0;

	for (size_t i = 0; i < count; i++) {
		const struct json *object = json_at(creation->objects, i);

		requests[i] = (struct kube_request){
			.verb = KUBE_CREATE,
			.resource = kube_resource_of(object),
			.body = object,
		};
	}
	for (size_t from = 0; from < count && rc == 0; from += n_same) {
		for (n_same = 1; from + n_same < count; n_same++)
			if (requests[from + n_same].resource != requests[from].resource)
				break;
		kube_wait_all(creation->session.cluster.api, requests + from, n_same,
			      creation->answers + from);
		rc = kube_answers_error(creation->answers + from, n_same, err);
	}
	return rc;
}

/* Deletes what was created, not other objects with the label. */
static void delete_created_objects(struct creation *creation)
{
	for (size_t i = 0; i < json_count(creation->objects); i++) {
		const struct json *made = creation->answers[i].object;

		if (!made)
			continue;
		const struct spawner_kind *row = spawner_kind_of(json_at(creation->objects, i));
		const char *name = text_in_metadata(made, "name");
		struct json *body CLEANUP(json_cleanup) =
			kube_delete_options_new(text_in_metadata(made, "uid"));
		const struct kube_request request = {
			.verb = KUBE_DELETE, .resource = row->resource, .name = name, .body = body};
		struct err err = {0};

		spawner_print_removing(row, name);
		if (kube_wait(creation->session.cluster.api, &request, NULL, &err))
			output_print_message("%s", err.text);
	}
}

/* The two functions of tf_spawner_cluster. */
static int spawner_create(const struct options *old, const char *tag, const struct json *objects)
{
	struct creation creation CLEANUP(creation_done) = {.objects = objects};
	struct text label CLEANUP(text_done) = {0};
	struct err err = {0};
	bool is_there;

	creation.answers = mem_new_array(json_count(objects), sizeof(*creation.answers));
	if (check_kinds(objects, &err) || spawner_session_open(old, tag, &creation.session, &err) ||
	    find_same_tag_training(&creation.session, &is_there, &err))
		return output_fail(&err);
	if (is_there)
		return refuse_same_tag(old, tag);
	if (make_all(&creation, &err)) {
		bool is_taken = err.code == ERR_EXISTS && !creation.answers[0].object;

		output_print_message("deployment failed, cleaning up");
		delete_created_objects(&creation);
		if (is_taken)
			print_other_tag_hint(&creation.session, old);
		return output_fail(&err);
	}
	text_addf(&label, "generated with label " TF_SPAWNER_LABEL "=%s\n", tag);
	output_add(&label);
	return EXIT_DONE;
}

/* Deletes all objects with the label of a training, and waits until the names are free again. */

/* The objects with the label, as observed. */
struct removal {
	struct spawner_session session;
	struct kube_mirror *mirrors[SPAWNER_COUNT];
	bool has_started; /* all were listed, and their deletion was requested */
	size_t n_calls;
	struct err err; /* the first error of a deletion */
};

static void removal_done(struct removal *removal)
{
	for (enum spawner_kind_id kind = 0; kind < SPAWNER_COUNT; kind++)
		kube_mirror_free(removal->mirrors[kind]);
	spawner_session_close(&removal->session);
}

/* The mirror stores a copy of an object's metadata. */
static void *copy_object_metadata(const struct json *object, void *before, void *data)
{
	(void) data;
	json_free(before);
	return json_new_copy(json_get(object, "metadata"));
}

static void free_object_metadata(void *kept, void *data)
{
	(void) data;
	json_free(kept);
}

static void stop_removal_when_gone(struct removal *removal)
{
	size_t n_left = 0;

	for (enum spawner_kind_id kind = 0; kind < SPAWNER_COUNT; kind++)
		n_left += removal->mirrors[kind]->table.count;
	if (removal->has_started && removal->n_calls == 0 && (removal->err.code || n_left == 0))
		loop_stop(removal->session.cluster.loop);
}

static void on_deleted(const struct kube_result *result, void *data)
{
	struct removal *removal = data;
	const struct err *err = result->err;
	bool is_gone = err && (err->code == ERR_NOT_FOUND || err->code == ERR_CONFLICT);

	removal->n_calls--;
	if (err && !is_gone && !removal->err.code)
		removal->err = *err;
	stop_removal_when_gone(removal);
}

static void delete_kind(struct removal *removal, enum spawner_kind_id kind)
{
	const struct json *metadata;
	const void *place = NULL;

	while ((metadata = mirror_table_next(&removal->mirrors[kind]->table, &place))) {
		const char *name = json_get_string(metadata, "name", "");
		struct json *body CLEANUP(json_cleanup) =
			kube_delete_options_new(json_get_string(metadata, "uid", ""));
		const struct kube_request request = {.verb = KUBE_DELETE,
						     .resource = spawner_kinds[kind].resource,
						     .name = name,
						     .body = body};

		spawner_print_removing(&spawner_kinds[kind], name);
		removal->n_calls++;
		kube_call_start(NULL, removal->session.cluster.api, &request, on_deleted, removal);
	}
}

static void on_seen(void *data)
{
	struct removal *removal = data;

	for (enum spawner_kind_id kind = 0; kind < SPAWNER_COUNT; kind++)
		if (removal->has_started || !removal->mirrors[kind]->reflection.is_synced)
			return;
	removal->has_started = true;
	for (enum spawner_kind_id kind = 0; kind < SPAWNER_COUNT; kind++)
		delete_kind(removal, kind);
	stop_removal_when_gone(removal);
}

static void on_removal_change(const char *name, void *data)
{
	(void) name;
	stop_removal_when_gone(data);
}

/* The mirror keeps retrying. That helps during the deletion, but not before the first list or
 * without permission. */
static void on_removal_trouble(const struct err *err, void *data)
{
	struct removal *removal = data;
	bool is_hopeless = err->code == ERR_REFUSED || err->code == ERR_INVALID ||
			   (err->code == ERR_UNREACHABLE && !removal->has_started);

	if (!is_hopeless || removal->err.code)
		return;
	removal->err = *err;
	loop_stop(removal->session.cluster.loop);
}

/* TF-Spawner's own question, and the only answer that it accepts as yes. */
static bool is_confirmed(const char *tag)
{
	struct text question CLEANUP(text_done) = {0};
	char answer[8] = "";

	text_addf(&question, "This will delete the resources tagged with: %s. Confirm with y/[n]\n",
		  tag);
	output_add(&question);
	return output_flush() && fgets(answer, sizeof(answer), stdin) &&
	       (text_equals(answer, "y\n") || text_equals(answer, "y"));
}

static int spawner_remove(const struct options *old, const char *tag)
{
	struct removal removal CLEANUP(removal_done) = {0};
	struct err err = {0};

	if (spawner_session_open(old, tag, &removal.session, &err))
		return output_fail(&err);
	if (!is_confirmed(tag))
		return EXIT_DONE;
	for (enum spawner_kind_id kind = 0; kind < SPAWNER_COUNT; kind++) {
		const struct kube_mirror_settings settings = {
			.resource = spawner_kinds[kind].resource,
			.label_selector = removal.session.selector,
			.project = copy_object_metadata,
			.release = free_object_metadata,
			.on_change = on_removal_change,
			.on_synced = on_seen,
			.on_trouble = on_removal_trouble,
			.data = &removal,
		};

		removal.mirrors[kind] = kube_mirror_new(removal.session.cluster.api, &settings);
	}
	loop_run(removal.session.cluster.loop);
	return removal.err.code ? output_fail(&removal.err) : EXIT_DONE;
}

static const struct tf_spawner_cluster functions = {spawner_create, spawner_remove};
const struct tf_spawner_cluster *const tf_spawner_cluster = &functions;
