/* Which fields a kubeconfig has and of which types they are (client-go's tools/clientcmd/api/v1).
 */
#pragma once

#include "base/yaml.h"
#include "core/job.h"

/* Adds a fault for every known field of a wrong type, every name that stands twice in a list, and a
 * kind that is another one. Unknown fields are passed over, and null is nothing. */
void kube_config_check(const struct document *document, struct faults *faults);
/* Adds a fault with its place. The sentence shows no value of the file: it may be a secret. */
void kube_config_refuse(const struct document *document, struct faults *faults, const char *path,
			const char *sentence);
