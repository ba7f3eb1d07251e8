/* The Lease (coordination.k8s.io/v1) that names the supervisor of a job: JOB.job, like the
 * ConfigMap that owns it. This file builds and reads the object; reconcile/lease.h decides when it
 * may be written.
 *
 * Callers that only need to know whether a job is supervised use kube_lease_read_held. */
#pragma once

#include "base/json.h"
#include "reconcile/lease.h"
#include "spec/job.h"

#include <sys/types.h>

/* The text by which a Lease names its holder: a process of a machine. A muster on that machine can
 * thus tell immediately whether the holder is still running.
 *
 *     HOST_PID_START_SPACE_BOOT_RANDOM, as in laptop_4711_88122_4026531836_6c5e…-…_9f03a1c2
 *
 * START, SPACE and BOOT are as in io/process.h. The text names the calling process and differs with
 * each call. Caller frees. */
int lease_holder_new(char **ret_text, struct err *err) MUST_USE;
/* Whether the holder's process is still running, if it was visible to this process on this machine.
 * A holder on another machine, in another container or in a paused process is unknown. */
enum lease_fate lease_holder_fate(const char *text);
/* Formats a holder: "muster on laptop (process 4711)". Another program's text is returned
 * unchanged, except for terminal control characters. Caller frees. */
char *lease_holder_describe(const char *text) MUST_USE;

#define KUBE_UID_SIZE 64

struct kube_lease {
	struct lease_record record; /* its fate comes from the processes of this machine */
	char uid[KUBE_UID_SIZE];
	char owner_uid[KUBE_UID_SIZE]; /* of the job's ConfigMap; "": no owner */
	msec renewed_at; /* by the holder's clock; MSEC_UNSET */
	msec written_at; /* by the server's clock, in whole seconds; MSEC_UNSET if absent */
	int64_t n_transitions;
};

/* Returns ERR_INVALID if the object is no Lease. */
int kube_lease_read(const struct json *object, struct kube_lease *ret_lease,
		    struct err *err) MUST_USE;

/* A Lease of this name with this holder. `job`, with its uid, becomes the owner; NULL: no owner.
 * Caller frees, as in all functions below. */
struct json *kube_lease_new(const char *name, const struct job *job, const char *holder,
			    msec now) MUST_USE;
/* A merge patch that makes this the holder of the Lease. The server rejects it (409) if the Lease
 * has changed since it was read. */
struct json *kube_lease_hold(const struct kube_lease *lease, const char *holder, msec now) MUST_USE;
/* A JSON patch (RFC 6902) that clears the holder. Rejected (422) if another has the Lease. */
struct json *kube_lease_release(const char *holder) MUST_USE;

/* Reads the Lease (NULL: none) if it is held, so that its job is supervised. `now` is the server's
 * clock (kube_api_server_now). A holder whose process on this machine has exited does not count,
 * however fresh the Lease is. */
bool kube_lease_read_held(const struct json *object, msec now,
			  struct kube_lease *ret_lease) MUST_USE;
