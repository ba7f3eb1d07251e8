/* Creates the objects of a training: Services before the Pods that look them up, all of a kind at
 * the same time, and all or none. */
#include "base/mem.h"
#include "base/text.h"
#include "command/command.h"
#include "command/output.h"
#include "compat/tf_spawner_session.h"
#include "kube/tf_spawner.h"
#include "kube/wait.h"

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
	for (size_t i = 0; i < json_count(objects); i++) {
		const struct json *object = json_at(objects, i);

		if (!spawner_kind_of(object))
			return err_set(err, ERR_INVALID,
				       "the template of '%s' is of kind '%s': it has to be a Pod, "
				       "or a Service",
				       text_in_metadata(object, "name"),
				       json_as_string(json_get(object, "kind"), ""));
	}
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

/* Creates the objects from `from` up to `to`, exclusive, at the same time. */
static int make_some(struct creation *creation, size_t from, size_t to, struct err *err)
{
	size_t count = to - from;
	struct kube_request *requests CLEANUP(mem_free_any) =
		mem_new_array(count, sizeof(*requests));

	for (size_t i = 0; i < count; i++) {
		const struct json *object = json_at(creation->objects, from + i);

		requests[i] = (struct kube_request){
			.verb = KUBE_CREATE,
			.resource = kube_resource_of(object),
			.body = object,
		};
	}
	kube_wait_all(creation->session.api, requests, count, creation->answers + from);
	return kube_answers_error(creation->answers + from, count, err);
}

/* Creates one kind after the other, in list order. */
static int make_all(struct creation *creation, struct err *err)
{
	size_t count = json_count(creation->objects), to;
	int rc = 0;

	for (size_t from = 0; from < count && rc == 0; from = to) {
		const struct spawner_kind *row = spawner_kind_of(json_at(creation->objects, from));

		for (to = from + 1; to < count; to++)
			if (spawner_kind_of(json_at(creation->objects, to)) != row)
				break;
		rc = make_some(creation, from, to, err);
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
		const struct kube_request request = spawner_deletion(row, name, body);
		struct err err = {0};

		spawner_print_removing(row, name);
		if (kube_wait(creation->session.api, &request, NULL, &err))
			output_print_message("%s", err.text);
	}
}

static int fail_to_create(struct creation *creation, const struct options *old,
			  const struct err *err)
{
	bool is_taken = err->code == ERR_EXISTS && !creation->answers[0].object;

	output_print_message("deployment failed, cleaning up");
	delete_created_objects(creation);
	if (is_taken)
		print_other_tag_hint(&creation->session, old);
	return output_fail(err);
}

static int print_created_label(const char *tag)
{
	struct text text CLEANUP(text_done) = {0};

	text_addf(&text, "generated with label " TF_SPAWNER_LABEL "=%s\n", tag);
	output_add(&text);
	return EXIT_DONE;
}

int spawner_create(const struct options *old, const char *tag, const struct json *objects)
{
	struct creation creation CLEANUP(creation_done) = {.objects = objects};
	struct err err = {0};
	bool is_there;

	creation.answers = mem_new_array(json_count(objects), sizeof(*creation.answers));
	if (check_kinds(objects, &err) || spawner_session_open(old, tag, &creation.session, &err) ||
	    find_same_tag_training(&creation.session, &is_there, &err))
		return output_fail(&err);
	if (is_there)
		return refuse_same_tag(old, tag);
	if (make_all(&creation, &err))
		return fail_to_create(&creation, old, &err);
	return print_created_label(tag);
}
