/* The Lease (coordination.k8s.io/v1) that says which muster supervises a job: JOB.job, as the
 * ConfigMap that owns it. The object, and what it says; when it may be written is
 * reconcile/lease.h's.
 *
 * To know only whether a job is supervised: kube_lease_is_held and
 * kube_lease_holder. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/own.h"
#include "kube/request.h"
#include "reconcile/lease.h"
#include "spec/job.h"

#include <stdbool.h>
#include <sys/types.h>

/* The text by which a Lease names its holder: a process of a machine, so that a muster that looks
 * from that machine knows at once whether it is still there.
 *
 *     HOST_PID_START_SPACE_BOOT_RANDOM, as in laptop_4711_88122_4026531836_6c5e…-…_9f03a1c2
 *
 * START, SPACE and BOOT are those of io/process.h. This one is of the calling process; another one
 * with each call. Caller frees. */
int lease_holder_new(char **ret_text, struct err *err) MUST_USE;
/* Its process was one of this machine, as this process sees it, and is no more; or is. What cannot
 * be judged from here (another machine, another container), or stands still, is unknown. */
enum lease_fate lease_holder_fate(const char *text);
/* "muster on laptop (process 4711)"; of what is none of ours the text itself, without characters
 * that a terminal would obey. Caller frees. */
char *lease_holder_describe(const char *text) MUST_USE;

#define KUBE_UID_SIZE 64

struct kube_lease {
	struct lease_record record; /* its fate is that of a process of this machine */
	char uid[KUBE_UID_SIZE];
	char owner_uid[KUBE_UID_SIZE]; /* of the job's ConfigMap; "": it has no owner */
	msec renewed_at; /* by the holder's clock; MSEC_UNSET */
	msec written_at; /* by the server's, in whole seconds; MSEC_UNSET where it does not say */
	int64_t n_transitions;
};

/* ERR_INVALID for an object that is no Lease. */
int kube_lease_read(const struct json *object, struct kube_lease *ret_lease,
		    struct err *err) MUST_USE;

/* The Lease of this name with this holder: of a job, which has its uid and owns it, or of nobody
 * (NULL). Caller frees, as all below. */
struct json *kube_lease_new(const char *name, const struct job *job, const char *holder,
			    msec now) MUST_USE;
/* A merge patch that makes this holder the one of the Lease as it was read, and is refused (409)
 * where it has changed since. */
struct json *kube_lease_hold(const struct kube_lease *lease, const char *holder, msec now) MUST_USE;
/* A JSON patch (RFC 6902) that leaves it to anybody, and is refused (422) where another holds it.
 */
struct json *kube_lease_release(const char *holder) MUST_USE;

/* Whether the job of this Lease is supervised (NULL: there is none). `now` is the server's
 * clock (kube_api_server_now). A holder that was on this machine and is no more
 * supervises nothing, however fresh the Lease is. */
bool kube_lease_is_held(const struct json *object, msec now);
/* Its last holder: "muster on laptop (process 4711)"; NULL: nobody. */
char *kube_lease_holder(const struct json *object) MUST_USE;
