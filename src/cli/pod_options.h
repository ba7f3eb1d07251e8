/* The options for the Pods of a job, shared by `run` and `render`; spec/pod_build.h writes them
 * into the job's document. And the files that go into the Pods, and come from them. */
#pragma once

#include "base/json.h"
#include "base/text.h"
#include "base/yaml.h"
#include "cli/sync_folder.h"
#include "command/options.h"
#include "spec/job_files.h"
#include "spec/pod_build.h"

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
		       "cores of each replica (2, 500m): CPU request of a Pod; threads and CPU "   \
		       "limit on this machine",                                                    \
		       .group = OPTIONS_OF_PROCESSES),                                             \
		OPTION("memory", TEXT, "BYTES", NULL, "memory limit of each replica (4Gi)",        \
		       .group = OPTIONS_OF_PROCESSES),                                             \
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

/* The destinations of --fetch ROLE-INDEX:/PATH[:DEST], in the order given. Zero it to begin. */
struct fetch_places {
	char **list; /* absolute paths of this machine; NULL: no destination was given */
	size_t count;
};

/* Reads the option into places, and into a TFJob document, where it replaces the fetches of the
 * document. Each error, also a missing parent of a destination, is a line of `faults`. */
void fetch_options_add(const struct options *options, struct json *document,
		       struct fetch_places *places, struct text *faults);
void fetch_places_done(struct fetch_places *places);

/* The command to start in a Pod, and the script to copy into it. Zero it to begin. */
struct pod_files {
	const char *
		*command; /* NULL-terminated; its words are borrowed, except the script's path */
	char *script_path; /* "/muster/files/train.py"; NULL without a script */
	struct job_file *files; /* the script, or the directory in parts */
	size_t n_files;
	bool is_module; /* set by the caller: the first word is a Python module, not a file */
	bool is_folder;
	struct text bytes; /* of the files */
};

void pod_files_done(struct pod_files *pod_files);

/* Makes the command from the plain arguments of a command line. With `is_program` ("--" precedes
 * them) they are a program of the image. Otherwise a first word that ends in .py or .pyz, or has a
 * slash, is a file of this machine and is copied into the Pod; the image's python3 runs a .py or
 * .pyz file with -u, another file is executed. Any other word is a program of the image.
 * ERR_INVALID, or the errors of input_read.
 *
 * With a `folder` (NULL: none), the whole directory is packed and copied, and the command runs in
 * its copy; a script is in it. ERR_NOT_FOUND or ERR_INVALID: no such directory, or a script outside
 * it; or the errors of sync_folder_pack. */
int pod_files_find(const char *const *arguments, bool is_program, const char *folder,
		   sync_folder_pack_fn pack, struct pod_files *pod_files, struct err *err) MUST_USE;
