/* From entries of kubeconfig files to a cluster and a user, judged as client-go judges them before
 * it calls (tools/clientcmd/validation.go). */
#pragma once

#include "kube/config.h"
#include "kube/config_file.h"

/* What is wrong becomes faults of the entry's file. Texts live in the arena. */
void kube_config_resolve_cluster(const struct kube_config_entry *entry, struct arena *arena,
				 struct kube_cluster *ret_cluster);
void kube_config_resolve_user(const struct kube_config_entry *entry, struct arena *arena,
			      struct kube_user *ret_user);
/* True for https, the only way on which client-go shows a credential. */
bool kube_server_is_secure(const char *server);
