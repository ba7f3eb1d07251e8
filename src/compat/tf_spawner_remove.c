/* Deletes all objects with the label of a training, and waits until the names are free again. */
#include "base/mem.h"
#include "base/text.h"
#include "command/command.h"
#include "command/output.h"
#include "compat/tf_spawner_session.h"
#include "kube/mirror.h"

#include <stdio.h>

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

static bool is_all_seen(const struct removal *removal)
{
	for (enum spawner_kind_id kind = 0; kind < SPAWNER_COUNT; kind++)
		if (!kube_mirror_is_synced(removal->mirrors[kind]))
			return false;
	return true;
}

static bool are_all_objects_gone(const struct removal *removal)
{
	for (enum spawner_kind_id kind = 0; kind < SPAWNER_COUNT; kind++)
		if (kube_mirror_count(removal->mirrors[kind]) > 0)
			return false;
	return true;
}

static void stop_removal_when_gone(struct removal *removal)
{
	bool is_failed = removal->err.code != 0;

	if (removal->has_started && removal->n_calls == 0 &&
	    (is_failed || are_all_objects_gone(removal)))
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
	stop_removal_when_gone(removal);
}

static void delete_kind(struct removal *removal, enum spawner_kind_id kind)
{
	const struct json *metadata;

	for (size_t place = 0;
	     (metadata = kube_mirror_next(removal->mirrors[kind], &place)) != NULL;) {
		const char *name = json_as_string(json_get(metadata, "name"), "");
		struct json *body CLEANUP(json_cleanup) =
			kube_delete_options_new(json_as_string(json_get(metadata, "uid"), ""));
		const struct kube_request request =
			spawner_deletion(&spawner_kinds[kind], name, body);

		spawner_print_removing(&spawner_kinds[kind], name);
		removal->n_calls++;
		kube_call_new(removal->session.api, &request, on_deleted, removal);
	}
}

static void on_seen(void *data)
{
	struct removal *removal = data;

	if (removal->has_started || !is_all_seen(removal))
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
	loop_stop(removal->session.loop);
}

static void watch_removed_kind(struct removal *removal, enum spawner_kind_id kind)
{
	const struct kube_mirror_settings settings = {
		.resource = spawner_kinds[kind].resource,
		.label_selector = removal->session.selector,
		.project = copy_object_metadata,
		.release = free_object_metadata,
		.on_change = on_removal_change,
		.on_synced = on_seen,
		.on_trouble = on_removal_trouble,
		.data = removal,
	};

	removal->mirrors[kind] = kube_mirror_new(removal->session.api, &settings);
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

int spawner_remove(const struct options *old, const char *tag)
{
	struct removal removal CLEANUP(removal_done) = {0};
	struct err err = {0};

	if (spawner_session_open(old, tag, &removal.session, &err))
		return output_fail(&err);
	if (!is_confirmed(tag))
		return EXIT_DONE;
	for (enum spawner_kind_id kind = 0; kind < SPAWNER_COUNT; kind++)
		watch_removed_kind(&removal, kind);
	loop_run(removal.session.loop);
	return removal.err.code ? output_fail(&removal.err) : EXIT_DONE;
}
