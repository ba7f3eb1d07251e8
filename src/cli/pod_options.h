/* The options that shape the Pods of a job: what `run` and `render` have in common. They are
 * written into the job's document by core/pod_build.h. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "base/yaml.h"
#include "cli/options.h"
#include "core/pod_build.h"

/* Zero it to begin; the texts are borrowed from the options. */
struct pod_options {
	struct pod_build build;
	struct document **documents; /* of --pod-template */
	size_t n_documents;
};

/* Reads the options, and the file of --pod-template. The errors of input_read and documents_read;
 * ERR_INVALID where it holds no Pod template. */
int pod_options_read(const struct options *options, struct pod_options *pod_options,
		     struct err *err) MUST_USE;
void pod_options_done(struct pod_options *pod_options);

/* The rows of these options, for a command's table. */
#define POD_ROWS                                                                                   \
	{.name = "image",                                                                          \
	 .kind = OPTION_TEXT,                                                                      \
	 .value_name = "IMAGE",                                                                    \
	 .one_line = "Pods: the container image (default for a script: tensorflow/tensorflow)"},   \
		{.name = "namespace",                                                              \
		 .letter = 'n',                                                                    \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "NAMESPACE",                                                        \
		 .one_line = "Pods: the namespace"},                                               \
		{.name = "cpu",                                                                    \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "CPU",                                                              \
		 .one_line = "Pods: cores set aside for each (2, 500m)"},                          \
		{.name = "memory",                                                                 \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "BYTES",                                                            \
		 .one_line = "Pods: memory of each, also its limit (4Gi)"},                        \
		{.name = "gpu",                                                                    \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "[RESOURCE=]N",                                                     \
		 .one_line = "Pods: GPUs of each but a ps (default RESOURCE: nvidia.com/gpu)"},    \
		{.name = "pod-template",                                                           \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "FILE",                                                             \
		 .one_line = "Pods: what the job does not say is as in this Pod"},                 \
		{.name = "node-selector",                                                          \
		 .kind = OPTION_LIST,                                                              \
		 .value_name = "KEY=VALUE",                                                        \
		 .one_line = "Pods: only on nodes with this label"},                               \
		{.name = "toleration",                                                             \
		 .kind = OPTION_LIST,                                                              \
		 .value_name = "KEY[=VALUE][:EFFECT]",                                             \
		 .one_line = "Pods: also on nodes with this taint (*: with any)"},                 \
		{.name = "volume",                                                                 \
		 .kind = OPTION_LIST,                                                              \
		 .value_name = "CLAIM:/PATH[:ro]",                                                 \
		 .one_line = "Pods: mount a PersistentVolumeClaim"},                               \
		{.name = "service-account",                                                        \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "NAME",                                                             \
		 .one_line = "Pods: the ServiceAccount that they act as"},                         \
		{.name = "image-pull-secret",                                                      \
		 .kind = OPTION_LIST,                                                              \
		 .value_name = "NAME",                                                             \
		 .one_line = "Pods: a Secret that opens the registry of the image"},               \
	{                                                                                          \
		.name = "priority", .kind = OPTION_TEXT, .value_name = "CLASS",                    \
		.one_line = "Pods: their PriorityClass"                                            \
	}
