#include "jobs/record.h"

#include "reconcile/compact_status.h"

#include <inttypes.h>

static int read_json(const char *text, struct json **ret_value, struct err *err)
{
	return json_read(text, strlen(text), ret_value, err);
}

/* Like job_read, with all faults in the sentence. */
static int read_job_with_faults(const struct json *root, const char *name,
				enum job_strictness strictness, struct job **ret_job,
				struct err *err)
{
	struct faults faults CLEANUP(faults_done) = {0};
	struct text text CLEANUP(text_done) = {0};
	int rc = job_read(root, NULL, strictness, &faults, ret_job);

	if (rc == 0)
		return 0;
	faults_describe(&faults, name, &text);
	return err_set(err, rc, "%s", text_of(&text));
}

static int read_job_document(const struct store_record *record, struct job **ret_job,
			     struct err *err)
{
	struct json *root CLEANUP(json_cleanup) = NULL;
	int rc = read_json(record->document, &root, err);

	return rc < 0 ? rc : read_job_with_faults(root, record->name, JOB_LENIENT, ret_job, err);
}

/* Names and labels, the job's manager, and its time to live. */
static struct json *bare_document(const struct json *document)
{
	static const char *const members[] = {"apiVersion", "kind", "metadata"};
	static const char *const of_policy[] = {"managedBy", "ttlSecondsAfterFinished", "suspend"};
	const struct json *policy = json_get_path(document, "spec", "runPolicy", NULL);
	struct json *bare = json_new_object();
	struct json *spec = json_object_at(bare, "spec");
	struct json *bare_policy = json_object_at(spec, "runPolicy");

	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		json_copy_member(bare, document, members[i]);
	json_object_at(spec, "tfReplicaSpecs");
	for (size_t i = 0; i < ARRAY_LEN(of_policy); i++)
		json_copy_member(bare_policy, policy, of_policy[i]);
	return bare;
}

int record_read_bare_job(const struct store_record *record, struct job **ret_job, struct err *err)
{
	struct json *root CLEANUP(json_cleanup) = NULL;
	int rc = read_json(record->document, &root, err);

	if (rc < 0)
		return rc;
	struct json *bare CLEANUP(json_cleanup) = bare_document(root);

	rc = read_job_with_faults(bare, record->name, JOB_LENIENT, ret_job, err);
	if (rc == 0)
		job_set_uid(*ret_job, record->uid);
	return rc;
}

int record_read_job(const struct store_record *record, struct job **ret_job, struct err *err)
{
	struct job *job;
	int rc = read_job_document(record, &job, err);

	if (rc < 0) {
		err_prefix(err, "job '%s' cannot be read", record->name);
		return rc;
	}
	job_set_uid(job, record->uid);
	*ret_job = job;
	return 0;
}

/* As status_write writes it, in whichever form it is stored. */
static int read_status_json(const struct store_record *record, struct json **ret_status,
			    struct err *err)
{
	struct json *status = NULL;
	int rc = read_json(record->status, &status, err);

	if (rc == 0)
		rc = compact_status_unfold(status, err);
	if (rc < 0) {
		json_free(status);
		err_prefix(err, "the status of job '%s' cannot be read", record->name);
		return rc;
	}
	*ret_status = status;
	return 0;
}

int record_read_status(const struct store_record *record, struct arena *arena,
		       struct status *ret_status, struct err *err)
{
	struct json *root CLEANUP(json_cleanup) = NULL;
	int rc = read_status_json(record, &root, err);

	if (rc < 0)
		return rc;
	rc = status_read(root, arena, ret_status, err);
	return rc < 0 ? err_prefix(err, "the status of job '%s' cannot be read", record->name) : 0;
}

int record_read(const struct store_record *record, struct arena *arena, struct job **ret_job,
		struct status *ret_status, struct err *err)
{
	int rc = record_read_status(record, arena, ret_status, err);

	return rc < 0 ? rc : record_read_job(record, ret_job, err);
}

void record_add_metadata(struct json *tfjob, const char *uid, msec created, int64_t version)
{
	struct json *metadata = json_object_at(tfjob, "metadata");
	char *version_text CLEANUP(mem_free_text) = mem_format("%lld", (long long) version);

	json_set_string(metadata, "uid", uid);
	json_set_time(metadata, "creationTimestamp", created);
	json_set_string(metadata, "resourceVersion", version_text);
}

int record_read_tfjob(const struct store_record *record, struct json **ret_tfjob, struct err *err)
{
	struct json *tfjob CLEANUP(json_cleanup) = NULL;
	struct json *status = NULL;
	int rc = read_json(record->document, &tfjob, err);

	if (rc == 0 && !json_is(tfjob, JSON_OBJECT))
		rc = err_set(err, ERR_INVALID, "it is not an object");
	if (rc < 0) {
		err_prefix(err, "job '%s' cannot be read", record->name);
		return rc;
	}
	rc = read_status_json(record, &status, err);
	if (rc < 0)
		return rc;
	record_add_metadata(tfjob, record->uid, record->created, record->version);
	json_set(tfjob, "status", status);
	*ret_tfjob = TAKE(tfjob);
	return 0;
}

bool record_is_untouched(const struct store_record *record)
{
	return text_equals(record->status, "null");
}

void record_read_summary(const struct store_record *record, struct arena *arena,
			 struct summary *ret_summary)
{
	struct json *json CLEANUP(json_cleanup) = NULL;
	struct job *job CLEANUP(job_cleanup) = NULL;
	struct status status;
	/* Else no summary was written so far, or the store keeps none. */
	bool has_summary = record->summary && !text_equals(record->summary, "null");

	if (!has_summary && record_read(record, arena, &job, &status, NULL) == 0) {
		summary_create(job, &status, arena, ret_summary);
		return;
	}
	/* An unreadable one is empty. */
	(void) !read_json(record->summary ? record->summary : "", &json, NULL);
	summary_read(json, arena, ret_summary);
}

bool record_is_finished(const struct store_record *record)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct summary summary;

	record_read_summary(record, arena, &summary);
	return summary.is_finished;
}

static char *status_text_of(const struct status *status, bool is_small)
{
	struct json *value CLEANUP(json_cleanup) =
		is_small ? compact_status_write(status) : status_write(status);

	return json_compact_text(value);
}

char *record_tfjob_status_text(const struct status *status)
{
	const struct status counts = {.roles = status->roles, .n_roles = status->n_roles};
	struct json *small CLEANUP(json_cleanup) = compact_status_write(status);
	struct json *counted CLEANUP(json_cleanup) = status_write(&counts);

	json_copy_member(small, counted, "replicaStatuses");
	return json_compact_text(small);
}

static char *summary_text_of(const struct job *job, const struct status *status)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct summary summary;

	summary_create(job, status, arena, &summary);
	struct json *value CLEANUP(json_cleanup) = summary_write(&summary);
	return json_compact_text(value);
}

struct store_record record_new(const struct job *job, const struct status *status, bool is_small,
			       const char *supervisor, msec now)
{
	return (struct store_record){
		.name = mem_copy_text(job->name),
		.uid = mem_copy_text(job->uid),
		.document = json_compact_text(job->document),
		.status = status_text_of(status, is_small),
		.summary = summary_text_of(job, status),
		.supervisor = mem_copy_text(supervisor),
		.created = now,
	};
}

struct store_change record_change(const struct store *store, const struct job *job,
				  const struct status *status, struct arena *arena)
{
	char *status_text CLEANUP(mem_free_text) =
		store->is_of_tfjobs ? record_tfjob_status_text(status)
				    : status_text_of(status, store->is_small);
	char *summary_text CLEANUP(mem_free_text) =
		store->is_of_tfjobs ? NULL : summary_text_of(job, status);

	return (struct store_change){
		.status = arena_copy_text(arena, status_text),
		.summary = arena_copy_text(arena, summary_text),
		/* Processes end with the machine's power in any case; but the end of a job has to
		 * stay known after a power failure. */
		.is_lasting = status_is_finished(status),
	};
}

int record_write(struct store *store, const struct job *job, bool is_document_new, int64_t version,
		 const struct status *status, const char *supervisor, int64_t *ret_version,
		 struct err *err)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	char *document CLEANUP(mem_free_text) =
		is_document_new ? json_compact_text(job->document) : NULL;
	struct store_change change = record_change(store, job, status, arena);

	change.document = document;
	change.supervisor = supervisor;
	return store->functions->change(store, job->name, version, &change, ret_version, err);
}

void record_set_status(struct store_record *record, const struct job *job,
		       const struct status *status, const char *supervisor)
{
	free(record->status);
	free(record->summary);
	free(record->supervisor);
	record->status = status_text_of(status, false);
	record->summary = summary_text_of(job, status);
	record->supervisor = mem_copy_text(supervisor);
}

/* The caller frees the patched job. */
static int apply_patch(const struct store_record *record, const struct json *patch,
		       struct job **ret_job, struct err *err)
{
	struct json *document CLEANUP(json_cleanup) = NULL;
	struct job *job CLEANUP(job_cleanup) = NULL;
	int rc = read_json(record->document, &document, err);

	if (rc < 0)
		return rc;
	struct json *patched CLEANUP(json_cleanup) = json_patched(document, patch);
	rc = read_job_with_faults(patched, record->name, JOB_STRICT, &job, err);
	if (rc == 0 && !text_equals(job->name, record->name))
		rc = err_set(err, ERR_INVALID, "the name of job '%s' cannot change", record->name);
	if (rc == 0)
		*ret_job = TAKE(job);
	return rc;
}

int record_check_patch(const struct store_record *record, const struct json *patch, struct err *err)
{
	struct job *job CLEANUP(job_cleanup) = NULL;

	return apply_patch(record, patch, &job, err);
}

static int patch_once(struct store *store, const struct store_record *record,
		      const struct json *patch, struct err *err)
{
	struct job *job CLEANUP(job_cleanup) = NULL;
	int64_t version;
	int rc = apply_patch(record, patch, &job, err);

	if (rc < 0 || !job)
		return rc;
	char *text CLEANUP(mem_free_text) = json_compact_text(job->document);
	const struct store_change change = {.document = text};
	return store->functions->change(store, record->name, record->version, &change, &version,
					err);
}

int record_patch(struct store *store, const char *name, const struct json *patch, struct err *err)
{
	for (;;) {
		struct store_record record CLEANUP(store_record_done) = {0};
		int rc = store->functions->get(store, name, &record, err);

		if (rc == 0)
			rc = patch_once(store, &record, patch, err);
		if (rc != ERR_CONFLICT)
			return rc;
	}
}

/* A grace period of an earlier request in the document does not apply to this one. */
static struct json *stop_patch_new(const char *reason, msec grace)
{
	struct json *patch = json_new_object();
	struct json *annotations = json_object_at(json_object_at(patch, "metadata"), "annotations");
	char *seconds CLEANUP(mem_free_text) = mem_format("%" PRId64, msec_to_whole_seconds(grace));

	if (reason) {
		json_set_string(annotations, JOB_ANNOTATION_STOP, reason);
		json_set(annotations, JOB_ANNOTATION_STOP_GRACE, json_new_null());
	}
	if (grace >= 0)
		json_set_string(annotations, JOB_ANNOTATION_STOP_GRACE, seconds);
	return patch;
}

int record_stop_patch(const struct store_record *record, const char *reason, msec grace,
		      struct json **ret_patch, struct err *err)
{
	struct job *job CLEANUP(job_cleanup) = NULL;
	int rc = read_job_document(record, &job, err);

	if (rc != 0)
		return rc;
	bool is_asked = job->stop_reason != NULL;

	*ret_patch = is_asked && grace < 0 ? NULL : stop_patch_new(is_asked ? NULL : reason, grace);
	return 0;
}

int record_add_stop(struct store_record *record, const char *reason, msec grace,
		    bool *ret_is_changed, struct err *err)
{
	struct json *document CLEANUP(json_cleanup) = NULL;
	struct json *patch CLEANUP(json_cleanup) = NULL;
	int rc = record_stop_patch(record, reason, grace, &patch, err);

	if (rc == 0)
		rc = read_json(record->document, &document, err);
	if (rc != 0)
		return rc;
	*ret_is_changed = patch != NULL;
	if (!patch)
		return 0;
	struct json *patched CLEANUP(json_cleanup) = json_patched(document, patch);

	free(record->document);
	record->document = json_compact_text(patched);
	return 0;
}

int record_request_stop(struct store *store, const char *name, const char *reason, msec grace,
			struct err *err)
{
	for (;;) {
		struct store_record record CLEANUP(store_record_done) = {0};
		bool is_changed = false;
		int64_t version;
		int rc = store->functions->get(store, name, &record, err);

		if (rc == 0)
			rc = record_add_stop(&record, reason, grace, &is_changed, err);
		const struct store_change change = {.document = record.document};

		if (rc == 0 && is_changed)
			rc = store->functions->change(store, name, record.version, &change,
						      &version, err);
		if (rc != ERR_CONFLICT)
			return rc;
	}
}

int record_set_supervisor(struct store *store, const char *name, const char *uid,
			  const char *supervisor, struct err *err)
{
	const struct store_change change = {.supervisor = supervisor};

	for (;;) {
		struct store_record record CLEANUP(store_record_done) = {0};
		int64_t version;
		int rc = store->functions->get(store, name, &record, err);

		if (rc == 0 && !text_equals(record.uid, uid))
			rc = err_set(err, ERR_NOT_FOUND, "job '%s' was replaced", name);
		if (rc == 0)
			rc = store->functions->change(store, name, record.version, &change,
						      &version, err);
		if (rc != ERR_CONFLICT)
			return rc;
	}
}
