/* The security of Pods by https://kubernetes.io/docs/concepts/security/pod-security-standards/:
 * settings, each of which fills only the fields that a template omits, and privileges. */
#pragma once

#include "base/json.h"
#include "base/text.h"
#include "spec/job.h"

/* What any image can live with, for a Pod whose user its image chooses: the run-time's seccomp
 * profile, for each container no new privileges, and no service account token unless a service
 * account is named; capabilities only if they are not dropped. A privileged container stays. */
void pod_confine(struct json *spec, bool drops_capabilities);

/* Makes a Pod comply with Pod Security's level "restricted": pod_confine() without capabilities,
 * and user and group 1000 (also as fsGroup, so that volumes are writable), not root. A template
 * that chooses its user (runAsUser, runAsGroup or runAsNonRoot of the Pod or of the training
 * container), or requests privileges, keeps its user.
 *
 * The chosen user gets an empty /tmp, which is also HOME. The root file system stays writable,
 * because images write where they like. `container` is the training container of `spec`. */
void pod_harden(struct json *spec, struct json *container);

/* Adds each privilege of a job's Pods beyond computing on its own line, once for all roles; nothing
 * without any. These are what Pod Security's level `baseline` rejects; and what that level permits
 * although it uses permissions of the user who creates the Pod: service accounts, Secrets, volumes
 * with others' data, the node, and every field that is not known to be harmless. The Secret of the
 * job's own variables (spec/job_files.h) does not count. */
void pod_privileges_describe(const struct job *job, struct text *lines);
