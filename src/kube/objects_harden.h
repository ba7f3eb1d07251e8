/* Security settings that a Pod gets where its template is silent. */
#pragma once

#include "base/json.h"

/* Makes a Pod what Pod Security's level "restricted" lets in, field by field, where the template
 * says nothing itself: user and group 1000 (also as fsGroup, so that volumes can be written), no
 * root, the run-time's seccomp profile, and for each container no new privileges and no
 * capabilities; no token of a service account unless one is named. Where a template says itself who
 * runs (runAsUser, runAsGroup or runAsNonRoot of the Pod or of the container that trains), or asks
 * for privileges, it is left to that.
 *
 * The user that was chosen gets an empty /tmp, which is HOME too. The root file system stays
 * writable, because images write where they like. Source:
 * https://kubernetes.io/docs/concepts/security/pod-security-standards/. */
void objects_harden(struct json *spec, struct json *container);
