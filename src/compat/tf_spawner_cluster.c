/* The program muster-kubernetes: what TF-Spawner did by Kubernetes' Python client.
 *
 * It sees nothing through: what it has made is followed with kubectl, as its users are used to.
 * What it lifts: Services come before the Pods that look for them, objects of a kind are made all
 * at once, and who deletes waits until names are free again. */
#include "compat/tf_spawner_cluster.h"

#include "base/mem.h"
#include "base/text.h"
#include "cli/cluster.h"
#include "cli/command.h"
#include "cli/output.h"
#include "kube/mirror.h"
#include "kube/resources.h"
#include "kube/tf_spawner.h"
#include "kube/wait.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In the order in which TF-Spawner deletes them. */
enum kind { KIND_SERVICE, KIND_CONFIG_MAP, KIND_POD, KIND_COUNT };

static const struct kind_row {
	const char *spoken;
	const struct kube_resource *resource;
} kinds[KIND_COUNT] = {
	[KIND_SERVICE] = {"service", &kube_services},
	[KIND_CONFIG_MAP] = {"config map", &kube_config_maps},
	[KIND_POD] = {"pod", &kube_pods},
};

/* NULL for any other kind. */
static const struct kind_row *kind_of(const struct json *object)
{
	for (enum kind kind = 0; kind < KIND_COUNT; kind++)
		if (kinds[kind].resource == kube_resource_of(object))
			return &kinds[kind];
	return NULL;
}

static const char *text_in_metadata(const struct json *object, const char *key)
{
	return json_as_string(json_get_path(object, "metadata", key, NULL), "");
}

/* The cluster for as long as this call takes. */
struct session {
	struct loop *loop;
	struct kube_api *api;
	char *selector; /* "training_attempt=TAG" */
};

static int session_open(const struct options *old, const char *tag, struct session *session,
			struct err *err)
{
	struct kube_config *config CLEANUP(kube_config_cleanup) = NULL;

	if (cluster_read_config(old, &config, err) || loop_new(&session->loop, err) ||
	    kube_api_connect(session->loop, cluster_log_in, (void *) old, &session->api, err))
		return err->code;
	cluster_warn(config);
	session->selector = mem_format(TF_SPAWNER_LABEL "=%s", tag);
	return 0;
}

static void session_close(struct session *session)
{
	kube_api_free(session->api);
	loop_free(session->loop);
	free(session->selector);
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

/* Deleting. */

static struct kube_request deletion_of(const struct kind_row *row, const char *name,
				       struct json *body)
{
	return (struct kube_request){
		.verb = KUBE_DELETE, .resource = row->resource, .name = name, .body = body};
}

static void tell_removing(const struct kind_row *row, const char *name)
{
	struct text text CLEANUP(text_done) = {0};

	text_addf(&text, "removing '%s' %s\n", name, row->spoken);
	output_add(&text);
	output_flush();
}

/* Whatever has the label, as it is seen to come and go. */
struct removal {
	struct session session;
	struct kube_mirror *mirrors[KIND_COUNT];
	bool has_begun; /* all was seen, and its deletion was asked for */
	size_t n_calls;
	struct err err; /* the first that could not be deleted */
};

static void removal_done(struct removal *removal)
{
	for (enum kind kind = 0; kind < KIND_COUNT; kind++)
		kube_mirror_free(removal->mirrors[kind]);
	session_close(&removal->session);
}

/* What is kept of an object is a copy of its metadata. */
static void *keep_metadata(const struct json *object, void *before, void *data)
{
	(void) data;
	json_free(before);
	return json_new_copy(json_get(object, "metadata"));
}

static void forget_metadata(void *kept, void *data)
{
	(void) data;
	json_free(kept);
}

static bool is_all_seen(const struct removal *removal)
{
	for (enum kind kind = 0; kind < KIND_COUNT; kind++)
		if (!kube_mirror_is_synced(removal->mirrors[kind]))
			return false;
	return true;
}

static bool is_all_gone(const struct removal *removal)
{
	for (enum kind kind = 0; kind < KIND_COUNT; kind++)
		if (kube_mirror_count(removal->mirrors[kind]) > 0)
			return false;
	return true;
}

static void end_when_gone(struct removal *removal)
{
	bool is_failed = removal->err.code != 0;

	if (removal->has_begun && removal->n_calls == 0 && (is_failed || is_all_gone(removal)))
		loop_stop(removal->session.loop);
}

static void on_deleted(struct json *object, const struct kube_status *status, const struct err *err,
		       void *data)
{
	struct removal *removal = data;
	bool is_gone = err && (err->code == ERR_NOT_FOUND || err->code == ERR_CONFLICT);

	(void) object, (void) status;
	removal->n_calls--;
	if (err && !is_gone && !removal->err.code)
		removal->err = *err;
	end_when_gone(removal);
}

static void delete_kind(struct removal *removal, enum kind kind)
{
	const struct json *metadata;

	for (size_t place = 0;
	     (metadata = kube_mirror_next(removal->mirrors[kind], &place)) != NULL;) {
		const char *name = json_as_string(json_get(metadata, "name"), "");
		struct json *body CLEANUP(json_cleanup) =
			kube_delete_options_new(json_as_string(json_get(metadata, "uid"), ""));
		const struct kube_request request = deletion_of(&kinds[kind], name, body);

		tell_removing(&kinds[kind], name);
		removal->n_calls++;
		kube_call_new(removal->session.api, &request, on_deleted, removal);
	}
}

static void on_seen(void *data)
{
	struct removal *removal = data;

	if (removal->has_begun || !is_all_seen(removal))
		return;
	removal->has_begun = true;
	for (enum kind kind = 0; kind < KIND_COUNT; kind++)
		delete_kind(removal, kind);
	end_when_gone(removal);
}

static void on_change(const char *name, void *data)
{
	(void) name;
	end_when_gone(data);
}

/* The mirror goes on trying. That is of use while things go, and not where nothing was seen yet or
 * nobody may look. */
static void on_trouble(const struct err *err, void *data)
{
	struct removal *removal = data;
	bool is_hopeless = err->code == ERR_REFUSED || err->code == ERR_INVALID ||
			   (err->code == ERR_UNREACHABLE && !removal->has_begun);

	if (!is_hopeless || removal->err.code)
		return;
	removal->err = *err;
	loop_stop(removal->session.loop);
}

static void watch(struct removal *removal, enum kind kind)
{
	const struct kube_mirror_settings settings = {
		.resource = kinds[kind].resource,
		.label_selector = removal->session.selector,
		.project = keep_metadata,
		.release = forget_metadata,
		.on_change = on_change,
		.on_synced = on_seen,
		.on_trouble = on_trouble,
		.data = removal,
	};

	removal->mirrors[kind] =
		kube_mirror_new(removal->session.loop, removal->session.api, &settings);
}

/* TF-Spawner's own question, and the only answer that it takes for a yes. */
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

static int remove_labelled(const struct options *old, const char *tag)
{
	struct removal removal CLEANUP(removal_done) = {0};
	struct err err = {0};

	if (session_open(old, tag, &removal.session, &err))
		return output_fail(&err);
	if (!is_confirmed(tag))
		return EXIT_DONE;
	for (enum kind kind = 0; kind < KIND_COUNT; kind++)
		watch(&removal, kind);
	loop_run(removal.session.loop);
	return removal.err.code ? output_fail(&removal.err) : EXIT_DONE;
}

/* Creating. */

/* Objects of the list, and what the cluster answered for each that was asked for. */
struct creation {
	struct session session;
	const struct json *objects;
	struct kube_answer *answers; /* as many as objects */
};

static void creation_done(struct creation *creation)
{
	kube_answers_free(creation->answers, json_count(creation->objects));
	session_close(&creation->session);
}

static int check_kinds(const struct json *objects, struct err *err)
{
	for (size_t i = 0; i < json_count(objects); i++) {
		const struct json *object = json_at(objects, i);

		if (!kind_of(object))
			return err_set(err, ERR_INVALID,
				       "the template of '%s' is of kind '%s': it has to be a Pod, "
				       "or a Service",
				       text_in_metadata(object, "name"),
				       json_as_string(json_get(object, "kind"), ""));
	}
	return 0;
}

/* A training of this tag has a ConfigMap. */
static int look_for_same_tag(struct session *session, bool *ret_is_there, struct err *err)
{
	struct json *list CLEANUP(json_cleanup) = NULL;
	const struct kube_parameter parameters[] = {
		{"labelSelector", session->selector}, {"limit", "1"}, {0}};
	const struct kube_request request = {
		.verb = KUBE_LIST,
		.resource = &kube_config_maps,
		.parameters = parameters,
	};
	int rc = kube_wait(session->loop, session->api, &request, &list, err);

	if (rc == 0)
		*ret_is_there = json_count(json_get(list, "items")) > 0;
	return rc;
}

static int refuse_same_tag(const struct options *old, const char *tag)
{
	struct text command CLEANUP(text_done) = {0};

	output_say("error: a job with label %s exists already; either use a different tag (-t) or "
		   "use a random one with -r; you can delete the job that is running with:",
		   tag);
	add_delete_command(&command, old, tag);
	output_add(&command);
	return EXIT_REFUSED;
}

/* Names are the same in every training of TF-Spawner, so that one namespace has room for one. */
static void tell_of_other_tag(struct session *session, const struct options *old)
{
	struct json *script CLEANUP(json_cleanup) = NULL;
	struct text command CLEANUP(text_done) = {0};
	const struct kube_request request = {
		.verb = KUBE_GET,
		.resource = &kube_config_maps,
		.name = TF_SPAWNER_SCRIPT,
	};

	if (kube_wait(session->loop, session->api, &request, &script, NULL))
		return;
	const char *tag = json_as_string(
		json_get_path(script, "metadata", "labels", TF_SPAWNER_LABEL, NULL), NULL);

	if (!tag)
		return;
	add_delete_command(&command, old, tag);
	output_say(
		"one namespace has room for one training with these names, and that is '%s'; "
		"delete it (%.*s), take another namespace (-n), or 'muster run --on kubernetes', "
		"whose jobs have names of their own",
		tag, (int) (command.len - 1), text_of(&command));
}

/* Makes objects from..to, all at once. */
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
	kube_wait_all(creation->session.loop, creation->session.api, requests, count,
		      creation->answers + from);
	return kube_answers_error(creation->answers + from, count, err);
}

/* Kind after kind, in the order of the list. */
static int make_all(struct creation *creation, struct err *err)
{
	size_t count = json_count(creation->objects), to;
	int rc = 0;

	for (size_t from = 0; from < count && rc == 0; from = to) {
		const struct kind_row *row = kind_of(json_at(creation->objects, from));

		for (to = from + 1; to < count; to++)
			if (kind_of(json_at(creation->objects, to)) != row)
				break;
		rc = make_some(creation, from, to, err);
	}
	return rc;
}

/* What was made, and nothing else that may have the label. */
static void take_back(struct creation *creation)
{
	for (size_t i = 0; i < json_count(creation->objects); i++) {
		const struct json *made = creation->answers[i].object;

		if (!made)
			continue;
		const struct kind_row *row = kind_of(json_at(creation->objects, i));
		const char *name = text_in_metadata(made, "name");
		struct json *body CLEANUP(json_cleanup) =
			kube_delete_options_new(text_in_metadata(made, "uid"));
		const struct kube_request request = deletion_of(row, name, body);
		struct err err = {0};

		tell_removing(row, name);
		if (kube_wait(creation->session.loop, creation->session.api, &request, NULL, &err))
			output_say("%s", err.text);
	}
}

static int fail_to_create(struct creation *creation, const struct options *old,
			  const struct err *err)
{
	bool is_taken = err->code == ERR_EXISTS && !creation->answers[0].object;

	output_say("deployment failed, cleaning up");
	take_back(creation);
	if (is_taken)
		tell_of_other_tag(&creation->session, old);
	return output_fail(err);
}

static int tell_created(const char *tag)
{
	struct text text CLEANUP(text_done) = {0};

	text_addf(&text, "generated with label " TF_SPAWNER_LABEL "=%s\n", tag);
	output_add(&text);
	return EXIT_DONE;
}

static int create(const struct options *old, const char *tag, const struct json *objects)
{
	struct creation creation CLEANUP(creation_done) = {.objects = objects};
	struct err err = {0};
	bool is_there;

	creation.answers = mem_new_array(json_count(objects), sizeof(*creation.answers));
	if (check_kinds(objects, &err) || session_open(old, tag, &creation.session, &err) ||
	    look_for_same_tag(&creation.session, &is_there, &err))
		return output_fail(&err);
	if (is_there)
		return refuse_same_tag(old, tag);
	if (make_all(&creation, &err))
		return fail_to_create(&creation, old, &err);
	return tell_created(tag);
}

static const struct tf_spawner_cluster functions = {create, remove_labelled};
const struct tf_spawner_cluster *const tf_spawner_cluster = &functions;
