/* All kubeconfig files of a call, in the order in which they win. */
#pragma once

#include "kube/config.h"
#include "kube/config_file.h"

struct kube_config_files {
	struct kube_config_file *list[KUBE_CONFIG_FILES_LIMIT];
	size_t count;
	struct text tried; /* the files that were looked for, for sentences */
};

/* Finds and reads the files of the search; malformed ones have faults. ERR_INVALID: the file that a
 * call names is not there, one cannot be read, or there are too many. */
int kube_config_files_read(const struct kube_config_search *search, struct kube_config_files *files,
			   struct err *err) MUST_USE;
void kube_config_files_done(struct kube_config_files *files);

/* ERR_INVALID when any file has faults: the first is in the sentence, each is added to `faults`
 * (may be NULL). */
int kube_config_files_judge(const struct kube_config_files *files, struct text *faults,
			    struct err *err) MUST_USE;

/* Of the first file that has it. */
const char *kube_config_files_text(const struct kube_config_files *files, const char *key);
struct kube_config_entry kube_config_files_find(const struct kube_config_files *files,
						enum kube_config_list list, const char *name);
