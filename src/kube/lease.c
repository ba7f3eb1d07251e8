/* Reads a Lease and makes the bodies of what is written to it. */
#include "kube/lease.h"

#include "base/mem.h"
#include "base/text.h"
#include "kube/lease_holder.h"
#include "kube/objects.h"

#include <stdio.h>

/* A look at a Lease is late by a round trip, and its times may be cut to whole seconds. */
#define SLACK (5 * MSEC_PER_SECOND)

static msec read_time(const struct json *time)
{
	msec read;

	return text_read_time(json_as_string(time, ""), &read, NULL) == 0 ? read : MSEC_UNSET;
}

/* The server notes when it took the last change of each who writes. */
static msec written_at(const struct json *metadata)
{
	const struct json *writers = json_get(metadata, "managedFields");
	msec last = MSEC_UNSET;

	for (size_t i = 0; i < json_count(writers); i++) {
		msec at = read_time(json_get(json_at(writers, i), "time"));

		last = at > last ? at : last;
	}
	return last;
}

static void copy_uid(char uid[KUBE_UID_SIZE], const struct json *object)
{
	snprintf(uid, KUBE_UID_SIZE, "%s", json_as_string(json_get(object, "uid"), ""));
}

/* As the server has them: from 0 to 2^31 - 1, so that one more is a number still. */
static int64_t count_of(const struct json *number)
{
	int64_t count = json_as_integer(number, 0);

	return count > 0 && count < INT32_MAX ? count : 0;
}

int kube_lease_read(const struct json *object, struct kube_lease *ret_lease, struct err *err)
{
	const struct json *metadata = json_get(object, "metadata");
	const struct json *spec = json_get(object, "spec");
	const char *version = json_as_string(json_get(metadata, "resourceVersion"), "");
	struct kube_lease lease = {.record = {.is_there = true}};
	struct lease_record *record = &lease.record;

	if (!spec || text_read_int(version, 0, INT64_MAX, &record->version, NULL) < 0)
		return err_set(err, ERR_INVALID, "this is no Lease: it has no spec or no version");
	snprintf(record->holder, sizeof(record->holder), "%s",
		 json_as_string(json_get(spec, "holderIdentity"), ""));
	record->duration =
		msec_of_seconds(json_as_integer(json_get(spec, "leaseDurationSeconds"), 0));
	record->fate = lease_holder_fate(record->holder);
	lease.n_transitions = count_of(json_get(spec, "leaseTransitions"));
	lease.renewed_at = read_time(json_get(spec, "renewTime"));
	lease.written_at = written_at(metadata);
	copy_uid(lease.uid, metadata);
	copy_uid(lease.owner_uid, json_at(json_get(metadata, "ownerReferences"), 0));
	*ret_lease = lease;
	return 0;
}

/* Kubernetes' MicroTime wants all six digits. */
static void set_time(struct json *spec, const char *key, msec time)
{
	struct text seconds CLEANUP(text_done) = {0};

	text_add_time(&seconds, time - time % MSEC_PER_SECOND);
	char *micro CLEANUP(mem_free_text) =
		mem_format("%.*s.%03d000Z", (int) seconds.len - 1, text_of(&seconds),
			   (int) (time % MSEC_PER_SECOND));

	json_set_string(spec, key, micro);
}

static void set_holder(struct json *spec, const char *holder, msec now)
{
	json_set_string(spec, "holderIdentity", holder);
	json_set_integer(spec, "leaseDurationSeconds", LEASE_DURATION / MSEC_PER_SECOND);
	set_time(spec, "renewTime", now);
}

struct json *kube_lease_new(const struct job *job, const char *holder, msec now)
{
	char *name CLEANUP(mem_free_text) = objects_owner_name(job->name);
	struct json *object = json_new_object();

	json_set_string(object, "apiVersion", "coordination.k8s.io/v1");
	json_set_string(object, "kind", "Lease");
	json_set(object, "metadata", objects_metadata_new(job, name, job->uid));
	struct json *spec = json_object_at(object, "spec");

	set_holder(spec, holder, now);
	set_time(spec, "acquireTime", now);
	json_set_integer(spec, "leaseTransitions", 0);
	return object;
}

struct json *kube_lease_hold(const struct kube_lease *lease, const char *holder, msec now)
{
	struct json *patch = json_new_object();
	struct json *spec = json_object_at(patch, "spec");
	char *version CLEANUP(mem_free_text) =
		mem_format("%lld", (long long) lease->record.version);

	json_set_string(json_object_at(patch, "metadata"), "resourceVersion", version);
	set_holder(spec, holder, now);
	if (!text_equals(lease->record.holder, holder)) {
		set_time(spec, "acquireTime", now);
		json_set_integer(spec, "leaseTransitions", lease->n_transitions + 1);
	}
	return patch;
}

static struct json *step_new(const char *word, const char *path)
{
	struct json *step = json_new_object();

	json_set_string(step, "op", word);
	json_set_string(step, "path", path);
	return step;
}

struct json *kube_lease_release(const char *holder)
{
	struct json *patch = json_new_array();
	struct json *test = step_new("test", "/spec/holderIdentity");
	struct json *empty = step_new("replace", "/spec/holderIdentity");
	struct json *brief = step_new("replace", "/spec/leaseDurationSeconds");

	json_set_string(test, "value", holder);
	json_set_string(empty, "value", "");
	json_set_integer(brief, "value", 1);
	json_append(patch, test);
	json_append(patch, empty);
	json_append(patch, brief);
	return patch;
}

bool kube_lease_is_watched(const struct json *object, msec now)
{
	struct kube_lease lease = {0};

	if (!object || kube_lease_read(object, &lease, NULL) < 0 || !lease.record.holder[0] ||
	    lease.record.fate == LEASE_FATE_GONE)
		return false;
	msec last = lease.written_at != MSEC_UNSET ? lease.written_at : lease.renewed_at;

	return now < last + lease.record.duration + SLACK;
}

char *kube_lease_watcher(const struct json *object)
{
	struct kube_lease lease = {0};

	if (!object || kube_lease_read(object, &lease, NULL) < 0 || !lease.record.holder[0])
		return NULL;
	return lease_holder_describe(lease.record.holder);
}
