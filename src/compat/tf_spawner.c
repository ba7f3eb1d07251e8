/* tf-spawner of CERN: a training script on a cluster, with its object names, labels and variables.
 */
#include "kube/tf_spawner.h"
#include "base/mem.h"
#include "base/names.h"
#include "cli/cluster_support.h"
#include "cli/kube_cluster.h"
#include "command/command.h"
#include "command/input.h"
#include "command/options.h"
#include "command/output.h"
#include "command/variables.h"
#include "compat/call.h"
#include "compat/on_cluster.h"
#include "io/random.h"
#include "spec/job_files.h"
#include "spec/limits.h"

#include <string.h>

#define POD_FILE "pod.yaml"
#define SERVICE_FILE "service.yaml"

/* The contents of files and options. */
struct reading {
	struct text script;
	struct text command;
	struct variables variables;
	struct json *pod;
	struct json *service;
	char *tag;
};

static void spawner_reading_done(struct reading *reading)
{
	text_done(&reading->script);
	text_done(&reading->command);
	variables_done(&reading->variables);
	json_free(reading->pod);
	json_free(reading->service);
	free(reading->tag);
}

/* Reads text that becomes part of an object. */
static int read_object_text(const char *path, struct text *text, struct err *err)
{
	if (input_read(path, JOB_FILES_PART_SIZE, text, err))
		return err->code;
	if (text->len &&
	    (memchr(text->bytes, '\0', text->len) || !text_is_utf8(text->bytes, text->len)))
		return err_set(err, ERR_INVALID, "%s: not a text in UTF-8", path);
	return 0;
}

/* A file that no option names may be missing. */
static int read_object_if_there(const char *path, struct json **ret_object, struct err *err)
{
	if (input_read_object(path, ret_object, err) != ERR_NOT_FOUND)
		return err->code;
	*err = (struct err){0};
	return 0;
}

static int choose_tag(const struct options *old, const char *given, struct reading *reading,
		      struct err *err)
{
	/* Eight hexadecimal digits, as in a uuid. */
	char *token CLEANUP(mem_free_text) = random_token();

	if (option_flag(old, "randomize-tag"))
		reading->tag = mem_copy_bytes(token, 8);
	else
		reading->tag = mem_copy_text(given ? given : option_text(old, "tag"));
	if (reading->tag[0] && name_is_label_value(reading->tag))
		return 0;
	return err_set(err, ERR_INVALID,
		       "'%s' is not a tag: up to 63 letters, digits, '-', '_' and '.', a letter or "
		       "digit at both ends",
		       reading->tag);
}

static int read_files(const struct options *old, const char *script, struct reading *reading,
		      struct err *err)
{
	const char *command = option_text(old, "command");
	const char *env_file = option_text(old, "env-file");
	const char *pod_file = option_text(old, "pod-file");
	const char *slash = strrchr(pod_file, '/');
	int len = slash ? (int) (slash + 1 - pod_file) : 0;
	/* In the directory of the Pods' template. */
	char *service_file CLEANUP(mem_free_text) = mem_format("%.*s" SERVICE_FILE, len, pod_file);
	struct text faults CLEANUP(text_done) = {0};

	if (read_object_text(script, &reading->script, err))
		return err->code;
	if (command && read_object_text(command, &reading->command, err))
		return err->code;
	reading->variables.are_literal = true; /* as the old program reads them */
	if (env_file)
		variables_add_file(&reading->variables, env_file, &faults);
	if (faults.len)
		return err_set(err, ERR_INVALID, "%.*s", (int) strcspn(text_of(&faults), "\n"),
			       text_of(&faults));
	if (option_is_given(old, "pod-file") ? input_read_object(pod_file, &reading->pod, err)
					     : read_object_if_there(pod_file, &reading->pod, err))
		return err->code;
	return read_object_if_there(service_file, &reading->service, err);
}

static int spawn(const struct options *old, const char *script)
{
	struct reading reading CLEANUP(spawner_reading_done) = {0};
	struct json *list CLEANUP(json_cleanup) = NULL;
	struct err err = {0};

	if (!script)
		return output_fail_with(EXIT_USAGE, "compat tf-spawner: no script specified");
	if (choose_tag(old, NULL, &reading, &err) || read_files(old, script, &reading, &err))
		return output_fail_with(EXIT_USAGE, "%s", err.text);
	const struct tf_spawner wanted = {
		.n_workers = (int) option_number(old, "workers", 0),
		.port = (int) option_number(old, "port", 0),
		.tag = reading.tag,
		.image = option_text(old, "image"),
		.name_space = option_text(old, "namespace"),
		.script = text_of(&reading.script),
		.command = option_text(old, "command") ? text_of(&reading.command) : NULL,
		.env = reading.variables.list,
		.n_env = reading.variables.count,
		.pod = reading.pod,
		.service = reading.service,
	};

	if (tf_spawner_objects_new(&wanted, &list, &err))
		return output_fail(&err);
	if (!option_flag(old, "dry-run"))
		return tf_spawner_cluster->create(old, reading.tag, list);
	output_add_objects(list, "yaml");
	output_flush();
	output_print_message("objects with the label " TF_SPAWNER_LABEL "=%s", reading.tag);
	return EXIT_DONE;
}

/* A label after -d is the tag, according to TF-Spawner's documentation. */
static int delete_labelled(const struct options *old, const char *label)
{
	struct reading reading CLEANUP(spawner_reading_done) = {0};
	const char *name_space = option_text(old, "namespace");
	struct text text CLEANUP(text_done) = {0};
	struct err err = {0};

	if (choose_tag(old, label, &reading, &err))
		return output_fail(&err);
	if (!option_flag(old, "dry-run"))
		return tf_spawner_cluster->remove(old, reading.tag);
	text_addf(&text, "kubectl delete%s%s services,configmaps,pods -l " TF_SPAWNER_LABEL "=%s\n",
		  name_space ? " -n " : "", name_space ? name_space : "", reading.tag);
	output_add(&text);
	return EXIT_DONE;
}

static int tf_spawner_run(const struct options *old)
{
	const char *argument = options_arguments(old)[0],
		   *name_space = option_text(old, "namespace");

	if (name_space && !name_is_dns_label(name_space))
		return output_fail_with(EXIT_USAGE,
					"--namespace: '%s' is not a valid name of a namespace",
					name_space);
	if (!option_flag(old, "dry-run") && !cluster_support)
		return call_other_program(old);
	return option_flag(old, "delete") ? delete_labelled(old, argument) : spawn(old, argument);
}

static const struct option_row rows_of_tf_spawner[] = {
	FLAG("delete", "delete the objects with this tag (-t, or the argument)", .letter = 'd'),
	OPTION("workers", NUMBER, "N", "2", "number of workers", .letter = 'w', .low = 1,
	       .high = LIMIT_REPLICAS),
	OPTION("namespace", TEXT, "NAMESPACE", NULL, "namespace (default: that of the kubeconfig)",
	       .letter = 'n'),
	OPTION("port", NUMBER, "PORT", "1999", "port on which workers listen", .letter = 'p',
	       .low = 1, .high = 65535),
	OPTION("command", TEXT, "FILE", NULL, "shell script that runs the training script",
	       .letter = 'c'),
	OPTION("pod-file", TEXT, "FILE", POD_FILE,
	       "template of the Pods; that of the Services is " SERVICE_FILE " next to it"),
	OPTION("tag", TEXT, "TAG", "tf-spawner", "value of the label " TF_SPAWNER_LABEL,
	       .letter = 't'),
	FLAG("randomize-tag", "use a random tag instead of -t", .letter = 'r'),
	OPTION("env-file", TEXT, "FILE", NULL,
	       "file with variables for every worker, lines of NAME=VALUE", .letter = 'e'),
	OPTION("image", TEXT, "IMAGE", "tensorflow/tensorflow:2.1.0-py3", "container image",
	       .letter = 'i'),
	FLAG("dry-run", "print the objects, or the command that deletes them, and change nothing"),
	CLUSTER_ROWS,
	{0},
};

const struct command compat_tf_spawner = {
	.name = "compat tf-spawner",
	.arguments = "[OPTIONS] SCRIPT.py\n-d [OPTIONS] [LABEL]",
	.one_line = "run a training script on a cluster as TF-Spawner did",
	.examples = "  muster compat tf-spawner -w 4 mnist.py\n"
		    "  muster compat tf-spawner -d\n"
		    "  muster compat tf-spawner --dry-run -w 4 mnist.py | kubectl create -f -\n",
	.options = rows_of_tf_spawner,
	.most_arguments = 1,
	.run = tf_spawner_run,
};
