/* The options for the Pods of a job, shared by `run` and `render`. spec/pod_build.h writes them
 * into the job's document. */
#pragma once

#include "base/own.h"
#include "base/text.h"
#include "base/yaml.h"
#include "command/options.h"
#include "spec/pod_build.h"

#include <stdbool.h>

/* Zero it to begin; the texts are borrowed from the options. */
struct pod_options {
	struct pod_build build;
	struct document **documents; /* of --pod-template */
	size_t n_documents;
};

/* Reads the options, and the file of --pod-template. False after lines of `faults`: the file cannot
 * be read, has no Pod template, or has misspelled fields. */
bool pod_options_read(const struct options *options, struct pod_options *pod_options,
		      struct text *faults) MUST_USE;
void pod_options_done(struct pod_options *pod_options);

/* The rows of these options, for a command's table. */
#define POD_ROWS                                                                                   \
	OPTION("image", TEXT, "IMAGE", NULL,                                                       \
	       "the container image (default for a script: tensorflow/tensorflow)",                \
	       .group = OPTIONS_OF_KUBERNETES),                                                    \
		OPTION("namespace", TEXT, "NAMESPACE", NULL, "namespace of the Pods",              \
		       .letter = 'n', .group = OPTIONS_OF_KUBERNETES),                             \
		OPTION("cpu", TEXT, "CPU", NULL,                                                   \
		       "cores of each replica (2, 500m): CPU request of a Pod, threads of a "      \
		       "local process",                                                            \
		       .group = OPTIONS_OF_PROCESSES),                                             \
		OPTION("memory", TEXT, "BYTES", NULL,                                              \
		       "memory request and limit of each Pod (4Gi)",                               \
		       .group = OPTIONS_OF_KUBERNETES),                                            \
		OPTION("gpu", TEXT, "N|all|none", NULL,                                            \
		       "GPUs per replica, except ps (default on this machine: equal shares); "     \
		       "Pods: also RESOURCE=N",                                                    \
		       .other_name = "gpus-per-worker", .group = OPTIONS_OF_PROCESSES),            \
		OPTION("pod-template", TEXT, "FILE", NULL,                                         \
		       "Pod template for every field that the job does not set",                   \
		       .group = OPTIONS_OF_KUBERNETES),                                            \
		OPTION("node-selector", LIST, "KEY=VALUE", NULL,                                   \
		       "schedule Pods only on nodes with this label",                              \
		       .group = OPTIONS_OF_KUBERNETES),                                            \
		OPTION("toleration", LIST, "KEY[=VALUE][:EFFECT]", NULL,                           \
		       "tolerate this taint (*: any taint)", .group = OPTIONS_OF_KUBERNETES),      \
		OPTION("volume", LIST, "CLAIM:/PATH[:ro]", NULL,                                   \
		       "mount a PersistentVolumeClaim in every Pod",                               \
		       .group = OPTIONS_OF_KUBERNETES),                                            \
		OPTION("service-account", TEXT, "NAME", NULL, "ServiceAccount of the Pods",        \
		       .group = OPTIONS_OF_KUBERNETES),                                            \
		OPTION("image-pull-secret", LIST, "NAME", NULL,                                    \
		       "Secret with the credentials of the image registry",                        \
		       .group = OPTIONS_OF_KUBERNETES),                                            \
		OPTION("priority", TEXT, "CLASS", NULL, "PriorityClass of the Pods",               \
		       .group = OPTIONS_OF_KUBERNETES)
