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
	{.name = "image",                                                                          \
	 .group = OPTIONS_OF_KUBERNETES,                                                           \
	 .kind = OPTION_TEXT,                                                                      \
	 .value_name = "IMAGE",                                                                    \
	 .one_line = "the container image (default for a script: tensorflow/tensorflow)"},         \
		{.name = "namespace",                                                              \
		 .group = OPTIONS_OF_KUBERNETES,                                                   \
		 .letter = 'n',                                                                    \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "NAMESPACE",                                                        \
		 .one_line = "namespace of the Pods"},                                             \
		{.name = "cpu",                                                                    \
		 .group = OPTIONS_OF_PROCESSES,                                                    \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "CPU",                                                              \
		 .one_line = "cores of each replica (2, 500m): CPU request of a Pod, threads of "  \
			     "a local process"},                                                   \
		{.name = "memory",                                                                 \
		 .group = OPTIONS_OF_KUBERNETES,                                                   \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "BYTES",                                                            \
		 .one_line = "memory request and limit of each Pod (4Gi)"},                        \
		{.name = "gpu",                                                                    \
		 .other_name = "gpus-per-worker",                                                  \
		 .group = OPTIONS_OF_PROCESSES,                                                    \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "N|all|none",                                                       \
		 .one_line = "GPUs per replica, except ps (default on this machine: equal "        \
			     "shares); Pods: also RESOURCE=N"},                                    \
		{.name = "pod-template",                                                           \
		 .group = OPTIONS_OF_KUBERNETES,                                                   \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "FILE",                                                             \
		 .one_line = "Pod template for every field that the job does not set"},            \
		{.name = "node-selector",                                                          \
		 .group = OPTIONS_OF_KUBERNETES,                                                   \
		 .kind = OPTION_LIST,                                                              \
		 .value_name = "KEY=VALUE",                                                        \
		 .one_line = "schedule Pods only on nodes with this label"},                       \
		{.name = "toleration",                                                             \
		 .group = OPTIONS_OF_KUBERNETES,                                                   \
		 .kind = OPTION_LIST,                                                              \
		 .value_name = "KEY[=VALUE][:EFFECT]",                                             \
		 .one_line = "tolerate this taint (*: any taint)"},                                \
		{.name = "volume",                                                                 \
		 .group = OPTIONS_OF_KUBERNETES,                                                   \
		 .kind = OPTION_LIST,                                                              \
		 .value_name = "CLAIM:/PATH[:ro]",                                                 \
		 .one_line = "mount a PersistentVolumeClaim in every Pod"},                        \
		{.name = "service-account",                                                        \
		 .group = OPTIONS_OF_KUBERNETES,                                                   \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "NAME",                                                             \
		 .one_line = "ServiceAccount of the Pods"},                                        \
		{.name = "image-pull-secret",                                                      \
		 .group = OPTIONS_OF_KUBERNETES,                                                   \
		 .kind = OPTION_LIST,                                                              \
		 .value_name = "NAME",                                                             \
		 .one_line = "Secret with the credentials of the image registry"},                 \
	{                                                                                          \
		.name = "priority", .group = OPTIONS_OF_KUBERNETES, .kind = OPTION_TEXT,           \
		.value_name = "CLASS", .one_line = "PriorityClass of the Pods"                     \
	}
