/* Paths as they stand in a kubeconfig. */
#pragma once

#include "base/mem.h"

/* The path itself where it is absolute, else that below the folder; "." and ".." are resolved by
 * name alone, as Go's filepath.Join does and so kubectl. In the arena. */
const char *kube_config_path(struct arena *arena, const char *folder, const char *path);
/* The folder of a file, absolute: what its relative paths begin at. Caller frees. */
char *kube_config_folder(const char *file) MUST_USE;
