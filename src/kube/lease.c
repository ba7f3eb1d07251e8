/* Reads a Lease and builds the bodies of its writes. */
#include "kube/lease.h"

#include "io/process.h"
#include "io/random.h"
#include "kube/objects.h"

#include <limits.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Fields are read from the end, because a host's name may contain any character. */

#define SEPARATOR '_'

int lease_holder_new(char **ret_text, struct err *err)
{
	struct process_identity own;
	struct utsname names = {.nodename = ""};
	uint32_t number;
	int rc = process_identify(getpid(), &own, err);

	if (rc < 0)
		return rc;
	uname(&names);
	random_bytes(&number, sizeof(number));
	*ret_text = mem_format("%.100s_%d_%llu_%llu_%s_%08x", names.nodename, (int) own.pid,
			       (unsigned long long) own.start_time,
			       (unsigned long long) own.pid_space, own.boot_id, number);
	return 0;
}

/* The rest of `text` is the host. */
static bool read_fields(char *text, struct process_identity *ret_identity)
{
	const char *fields[5]; /* the last first */
	int64_t pid, start_time, pid_space;

	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		char *separator = strrchr(text, SEPARATOR);

		if (!separator)
			return false;
		*separator = '\0';
		fields[i] = separator + 1;
	}
	if (text_read_int(fields[2], 0, INT64_MAX, &pid_space, NULL) < 0 ||
	    text_read_int(fields[3], 0, INT64_MAX, &start_time, NULL) < 0 ||
	    text_read_int(fields[4], 0, INT_MAX, &pid, NULL) < 0)
		return false;
	ret_identity->pid = (pid_t) pid;
	ret_identity->start_time = (uint64_t) start_time;
	ret_identity->pid_space = (uint64_t) pid_space;
	snprintf(ret_identity->boot_id, sizeof(ret_identity->boot_id), "%s", fields[1]);
	return true;
}

enum lease_fate lease_holder_fate(const char *text)
{
	char *fields CLEANUP(mem_free_text) = mem_copy_text(text);
	struct process_identity holder = {0}, own;

	if (!read_fields(fields, &holder) || process_identify(getpid(), &own, NULL) < 0 ||
	    !text_equals(holder.boot_id, own.boot_id) || holder.pid_space != own.pid_space)
		return LEASE_FATE_UNKNOWN;
	if (!process_find(&holder))
		return LEASE_FATE_GONE;
	return process_is_stopped(holder.pid) ? LEASE_FATE_UNKNOWN : LEASE_FATE_ALIVE;
}

char *lease_holder_describe(const char *text)
{
	char *fields CLEANUP(mem_free_text) = mem_copy_text(text);
	struct process_identity holder = {0};
	struct err plain = {0};

	if (read_fields(fields, &holder))
		err_set(&plain, ERR_EXISTS, "muster on %s (process %d)", fields, (int) holder.pid);
	else
		err_set(&plain, ERR_EXISTS, "%s", text);
	return mem_copy_text(plain.text);
}

/* A read Lease is late by a round trip, and its times may be cut to whole seconds. */
#define SLACK (5 * MSEC_PER_SECOND)

/* The server records the time of each writer's last change. */
static msec written_at(const struct json *metadata)
{
	const struct json *writers = json_get(metadata, "managedFields");
	msec last = MSEC_UNSET;

	for (size_t i = 0; i < json_count(writers); i++) {
		msec at = json_as_time(json_get(json_at(writers, i), "time"));

		last = at > last ? at : last;
	}
	return last;
}

static void copy_uid(char uid[KUBE_UID_SIZE], const struct json *object)
{
	snprintf(uid, KUBE_UID_SIZE, "%s", json_get_string(object, "uid", ""));
}

int kube_lease_read(const struct json *object, struct kube_lease *ret_lease, struct err *err)
{
	const struct json *metadata = json_get(object, "metadata");
	const struct json *spec = json_get(object, "spec");
	const char *version = json_get_string(metadata, "resourceVersion", "");
	int64_t n_transitions = json_as_integer(json_get(spec, "leaseTransitions"), 0);
	struct kube_lease lease = {.record = {.is_there = true}};
	struct lease_record *record = &lease.record;

	if (!spec || text_read_int(version, 0, INT64_MAX, &record->version, NULL) < 0)
		return err_set(err, ERR_INVALID, "not a Lease: it has no spec or no version");
	snprintf(record->holder, sizeof(record->holder), "%s",
		 json_get_string(spec, "holderIdentity", ""));
	record->duration =
		msec_of_seconds(json_as_integer(json_get(spec, "leaseDurationSeconds"), 0));
	record->fate = lease_holder_fate(record->holder);
	/* The server's range: 0 to 2^31 - 1, so that adding one does not overflow. */
	lease.n_transitions = n_transitions > 0 && n_transitions < INT32_MAX ? n_transitions : 0;
	lease.renewed_at = json_as_time(json_get(spec, "renewTime"));
	lease.written_at = written_at(metadata);
	copy_uid(lease.uid, metadata);
	copy_uid(lease.owner_uid, json_at(json_get(metadata, "ownerReferences"), 0));
	*ret_lease = lease;
	return 0;
}

/* Kubernetes' MicroTime requires all six digits. */
static void set_time(struct json *spec, const char *key, msec time)
{
	struct text micro CLEANUP(text_done) = {0};

	text_add_line_time(&micro, time, 0);
	micro.len--;
	text_add(&micro, "000Z");
	json_set_string(spec, key, text_of(&micro));
}

static void set_holder(struct json *spec, const char *holder, msec now)
{
	json_set_string(spec, "holderIdentity", holder);
	json_set_integer(spec, "leaseDurationSeconds", LEASE_DURATION / MSEC_PER_SECOND);
	set_time(spec, "renewTime", now);
}

static struct json *metadata_new(const char *name, const struct job *job)
{
	if (job)
		return objects_metadata_new(job, name, job->uid);
	struct json *metadata = json_new_texts("name", name, NULL);

	json_set(metadata, "labels",
		 json_new_texts(OBJECTS_LABEL_MANAGED_BY, OBJECTS_MANAGED_BY, NULL));
	return metadata;
}

struct json *kube_lease_new(const char *name, const struct job *job, const char *holder, msec now)
{
	struct json *object =
		json_new_texts("apiVersion", "coordination.k8s.io/v1", "kind", "Lease", NULL);

	json_set(object, "metadata", metadata_new(name, job));
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

struct json *kube_lease_release(const char *holder)
{
	struct json *patch = json_new_array();

	json_patch_add_step(patch, "test", "/spec/holderIdentity", json_new_string(holder));
	json_patch_add_step(patch, "replace", "/spec/holderIdentity", json_new_string(""));
	json_patch_add_step(patch, "replace", "/spec/leaseDurationSeconds", json_new_integer(1));
	return patch;
}

bool kube_lease_read_held(const struct json *object, msec now, struct kube_lease *ret_lease)
{
	if (!object || kube_lease_read(object, ret_lease, NULL) < 0 ||
	    !ret_lease->record.holder[0] || ret_lease->record.fate == LEASE_FATE_GONE)
		return false;
	msec last =
		ret_lease->written_at != MSEC_UNSET ? ret_lease->written_at : ret_lease->renewed_at;

	return now < last + ret_lease->record.duration + SLACK;
}
