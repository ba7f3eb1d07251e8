#include "cli/log_selection.h"

#include "base/text.h"
#include "io/loop.h"
#include "logs/folder.h"

#include <ctype.h>

/* A time, or a duration before now. */
static int read_since(const char *text, msec *ret_since, struct err *err)
{
	msec ago;

	if (text_read_duration(text, &ago, NULL) == 0) {
		*ret_since = loop_now() - ago;
		return 0;
	}
	if (text_read_time(text, ret_since, NULL) == 0)
		return 0;
	return err_set(err, ERR_INVALID,
		       "--since '%s': not a duration (10m) or a time (2026-01-02T03:04:05Z)", text);
}

int log_selection_read(const struct options *options, struct log_selection *ret_selection,
		       struct err *err)
{
	const char *since = option_text(options, "since");

	*ret_selection = (struct log_selection){
		.role = option_text(options, "role"),
		.index = (int) option_number(options, "index", -1),
		.attempt = (int) option_number(options, "attempt", -1),
		.is_previous = option_flag(options, "previous"),
		.tail = option_number(options, "tail", -1),
		.since = MSEC_UNSET,
		.pattern = option_text(options, "grep"),
	};
	if (ret_selection->is_previous && ret_selection->attempt >= 0)
		return err_set(err, ERR_INVALID, "--previous: cannot be used with --attempt");
	return since ? read_since(since, &ret_selection->since, err) : 0;
}

static bool has_wanted_log(const struct log_selection *selection, const struct log_folder *folder)
{
	for (size_t i = 0; i < folder->count; i++) {
		bool has_previous =
			i > 0 && log_name_same_stream(&folder->names[i - 1], &folder->names[i]);

		if (log_selection_has(selection, &folder->names[i]) &&
		    (has_previous || !selection->is_previous))
			return true;
	}
	return false;
}

/* The selection as a name: "worker-7", "worker", "attempt 3 of worker-7". */
static void describe_wanted(const struct log_selection *selection, struct text *text)
{
	if (selection->attempt >= 0)
		text_addf(text, "attempt %d of ", selection->attempt);
	text_add(text, selection->role ? selection->role : "any role");
	if (selection->index >= 0)
		text_addf(text, "-%d", selection->index);
}

static int refuse_log_selection(const struct log_selection *selection,
				const struct logs_there *there, const struct log_folder *folder,
				struct err *err)
{
	struct text wanted CLEANUP(text_done) = {0};
	struct text others CLEANUP(text_done) = {0};
	bool is_narrow = selection->role || selection->index >= 0 || selection->attempt >= 0;

	if (folder->count == 0 && there->is_fetched && is_narrow) {
		describe_wanted(selection, &wanted);
		return err_set(err, ERR_NOT_FOUND, "job '%s' has no log of %s", there->name,
			       text_of(&wanted));
	}
	if (folder->count == 0)
		return err_set(err, ERR_NOT_FOUND, "job '%s' has no logs%s", there->name,
			       there->is_over ? "" : " so far; -f waits for them");
	log_folder_describe_replicas(folder, &others);
	if (selection->is_previous)
		return err_set(err, ERR_NOT_FOUND,
			       "none of these replicas was started more than once; job '%s' has "
			       "logs of %s",
			       there->name, text_of(&others));
	describe_wanted(selection, &wanted);
	return err_set(err, ERR_NOT_FOUND, "job '%s' has no log of %s: it has %s", there->name,
		       text_of(&wanted), text_of(&others));
}

static int check_one(const struct log_selection *selection, const struct logs_there *there,
		     struct err *err)
{
	struct log_folder folder CLEANUP(log_folder_done);
	bool is_changed;

	log_folder_init(&folder, there->folder);
	int rc = log_folder_read(&folder, &is_changed, err);

	if (rc < 0 || has_wanted_log(selection, &folder))
		return rc;
	/* The job has a selected replica, so its log may still appear. */
	for (size_t i = 0; there->is_followed && i < there->job->n_roles; i++) {
		const struct role *role = &there->job->roles[i];

		if ((!selection->role || strcmp(selection->role, role->name) == 0) &&
		    selection->index < role->replicas)
			return 0;
	}
	return refuse_log_selection(selection, there, &folder, err);
}

int log_selection_check(const struct log_selection *selection, const struct logs_there *there,
			struct err *err)
{
	struct log_selection one = *selection;
	int rc = 0;

	if (selection->n_replicas == 0)
		return check_one(selection, there, err);
	one.n_replicas = 0;
	for (size_t i = 0; rc == 0 && i < selection->n_replicas; i++) {
		one.role = selection->replicas[i].role;
		one.index = selection->replicas[i].index;
		rc = check_one(&one, there, err);
	}
	return rc;
}

/* Only TensorFlow's roles, as everywhere in a job. */
bool log_selection_read_replica(const char *word, struct log_name *ret_name)
{
	static const char *const roles[] = {"chief", "master", "worker", "ps", "evaluator"};
	const char *dash = strrchr(word, '-');
	size_t len = dash ? (size_t) (dash - word) : 0;
	int64_t index;

	if (!dash || !isdigit((unsigned char) dash[1]) ||
	    text_read_int(dash + 1, 0, INT32_MAX, &index, NULL))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(roles); i++)
		if (strlen(roles[i]) == len && strncmp(roles[i], word, len) == 0) {
			*ret_name = (struct log_name){.index = (int) index};
			memcpy(ret_name->role, roles[i], len);
			return true;
		}
	return false;
}
