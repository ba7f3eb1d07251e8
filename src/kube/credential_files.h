/* The parts of a login that are, or may be, files. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "kube/config.h"
#include "kube/login.h"

/* Reads what stands in the config and in the files that it names: the credential but for a
 * plug-in's, and the cluster's authority. ERR_INVALID names the user and the file. */
int kube_credential_read(const struct kube_config *config, struct kube_credential *ret_credential,
			 char **ret_authority, struct err *err) MUST_USE;
/* Whether any of it is a file, which may change. */
bool kube_credential_has_files(const struct kube_config *config);
