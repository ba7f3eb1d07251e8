/* Turns entries of kubeconfig files into a cluster and a user, validated as client-go does before
 * its requests (tools/clientcmd/validation.go). */
#pragma once

#include "kube/config.h"
#include "kube/config_file.h"

/* Errors become faults of the entry's file. Texts are in the arena. */
void kube_config_resolve_cluster(const struct kube_config_entry *entry, struct arena *arena,
				 struct kube_cluster *ret_cluster);
void kube_config_resolve_user(const struct kube_config_entry *entry, struct arena *arena,
			      struct kube_user *ret_user);
/* True for https, the only scheme for which client-go sends a credential. */
bool kube_server_is_secure(const char *server);
