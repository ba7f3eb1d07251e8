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
	struct kube_api *api;
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

	if (kube_cluster_read_config(old, &config, err) || cluster_connect(old, &session->api, err))
		return err->code;
	kube_cluster_warn(config);
	session->selector = mem_format(TF_SPAWNER_LABEL "=%s", tag);
	return 0;
}

static void spawner_session_close(struct spawner_session *session)
{
	kube_api_free(session->api);
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
	int rc = kube_wait(session->api, &request, &list, err);

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

	if (kube_wait(session->api, &request, &script, NULL))
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
		kube_wait_all(creation->session.api, requests + from, n_same,
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
		if (kube_wait(creation->session.api, &request, NULL, &err))
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

static bool take_all(const struct kube_mirror *mirror, void *data)
{
	struct json *object;
	const void *place = NULL;

	while ((object = mirror_table_next(&mirror->table, &place)))
		json_append(data, json_ref(object));
	return true;
}

static bool is_none(const struct kube_mirror *mirror, void *data)
{
	(void) data;
	return mirror->table.count == 0;
}

/* Watches the objects of a kind that have the label. */
static int watch_kind(const struct spawner_session *session, enum spawner_kind_id kind,
		      bool (*is_enough)(const struct kube_mirror *mirror, void *data), void *data,
		      struct err *err)
{
	const struct kube_mirror_settings about = {.resource = spawner_kinds[kind].resource,
						   .label_selector = session->selector};

	return kube_mirror_wait(session->api, &about, is_enough, data, MSEC_NEVER, err);
}

static int delete_objects(const struct spawner_session *session, const struct spawner_kind *kind,
			  const struct json *objects, struct err *err)
{
	size_t count = json_count(objects);
	struct json *bodies CLEANUP(json_cleanup) = json_new_array();
	struct kube_request *requests CLEANUP(mem_free_any) =
		mem_new_array(count, sizeof(*requests));

	for (size_t i = 0; i < count; i++) {
		const struct json *object = json_at(objects, i);
		const char *name = text_in_metadata(object, "name");

		json_append(bodies, kube_delete_options_new(text_in_metadata(object, "uid")));
		requests[i] = (struct kube_request){.verb = KUBE_DELETE,
						    .resource = kind->resource,
						    .name = name,
						    .body = json_at(bodies, i)};
		spawner_print_removing(kind, name);
	}
	return kube_wait_deleted(session->api, requests, count, err);
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
	struct spawner_session session CLEANUP(spawner_session_close) = {0};
	struct json *lists CLEANUP(json_cleanup) = json_new_array();
	struct err err = {0};
	int rc = spawner_session_open(old, tag, &session, &err);

	if (rc == 0 && !is_confirmed(tag))
		return EXIT_DONE;
	/* All are listed before the first is deleted. */
	for (enum spawner_kind_id kind = 0; rc == 0 && kind < SPAWNER_COUNT; kind++) {
		json_append(lists, json_new_array());
		rc = watch_kind(&session, kind, take_all, json_at(lists, kind), &err);
	}
	for (enum spawner_kind_id kind = 0; rc == 0 && kind < SPAWNER_COUNT; kind++)
		rc = delete_objects(&session, &spawner_kinds[kind], json_at(lists, kind), &err);
	for (enum spawner_kind_id kind = 0; rc == 0 && kind < SPAWNER_COUNT; kind++)
		rc = watch_kind(&session, kind, is_none, NULL, &err);
	return rc < 0 ? output_fail(&err) : EXIT_DONE;
}

static const struct tf_spawner_cluster functions = {spawner_create, spawner_remove};
const struct tf_spawner_cluster *const tf_spawner_cluster = &functions;
