/* Judges Python, the frameworks in it, TensorFlow's C library and the packages that TensorFlow
 * needs in addition. */
#include "doctor/findings.h"

#include "base/shell_word.h"
#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From here on tf.keras is Keras 3, which trains under none of the strategies for several
 * processes. */
#define MINOR_OF_KERAS_3 16

/* Of "2.21.0": 21; -1 when it is not to be read. */
static int minor_of(const char *version)
{
	const char *dot = version ? strchr(version, '.') : NULL;

	return dot && isdigit((unsigned char) dot[1]) ? (int) strtol(dot + 1, NULL, 10) : -1;
}

static const char *pip_install(const struct judgement *judgement, const char *packages)
{
	const struct doctor_python *python = &judgement->facts->python;

	if (!python->interpreter || python->is_managed)
		return arena_format(judgement->arena,
				    "python3 -m venv ~/.venv && . ~/.venv/bin/activate && "
				    "pip install %s",
				    packages);
	struct text interpreter CLEANUP(text_done) = {0};

	shell_word_add(&interpreter, python->interpreter);
	return arena_format(judgement->arena, "%s -m pip install %s", text_of(&interpreter),
			    packages);
}

/* TensorFlow is missing: the environment of the demo has it, else pip brings it. */
static const char *mend_tensorflow(const struct judgement *judgement)
{
	const char *prepared = judgement->facts->python.prepared;
	bool is_installed = judgement->facts->tensorflow.is_installed;

	struct text activation CLEANUP(text_done) = {0};

	if (prepared && !is_installed) {
		shell_word_add(&activation, prepared);
		return arena_format(judgement->arena, ". %s", text_of(&activation));
	}
	return pip_install(judgement, judgement->facts->gpu.driver ? "'tensorflow[and-cuda]'"
								   : "tensorflow-cpu");
}

static void judge_python(struct judgement *judgement)
{
	const struct doctor_python *python = &judgement->facts->python;
	const char *version = python->version ? python->version : "version unknown";

	if (!python->interpreter)
		judgement_add(judgement, "python", DOCTOR_MISSING,
			      "sudo apt-get install python3 python3-venv", "%s",
			      python->fault ? python->fault : "python3 not found in PATH");
	else if (python->virtual_env && !python->is_virtual_env)
		judgement_add(judgement, "python", DOCTOR_WARNING, "unset VIRTUAL_ENV",
			      "%s, %s; VIRTUAL_ENV is %s, which has no Python", version,
			      python->interpreter, python->virtual_env);
	else
		judgement_add(judgement, "python", DOCTOR_OK, NULL, "%s, %s%s", version,
			      python->interpreter,
			      python->is_virtual_env ? " (virtual environment)" : "");
}

static void judge_tensorflow(struct judgement *judgement)
{
	const struct doctor_tensorflow *tensorflow = &judgement->facts->tensorflow;
	const char *prepared = judgement->facts->python.prepared;

	if (!tensorflow->is_installed)
		judgement_add(judgement, "tensorflow", DOCTOR_MISSING, mend_tensorflow(judgement),
			      "not installed in this Python%s",
			      prepared ? "; the environment of script/demo has it" : "");
	else
		judgement_add(judgement, "tensorflow", DOCTOR_OK, NULL, "%s, %s in %s",
			      tensorflow->version ? tensorflow->version : "version unknown",
			      tensorflow->package ? tensorflow->package : "tensorflow",
			      tensorflow->folder);
}

/* Only `muster server` and `muster check` need it: Python has its own way in. */
static void judge_library(struct judgement *judgement)
{
	const struct doctor_library *library = &judgement->facts->library;

	const char *fix = mend_tensorflow(judgement);

	if (library->path)
		judgement_add(judgement, "libtensorflow", DOCTOR_OK, NULL, "%s, %s (%s)",
			      library->version ? library->version : "version unknown",
			      library->path, library->origin);
	else if (!judgement->facts->tensorflow.is_installed)
		judgement_add(judgement, "libtensorflow", DOCTOR_WARNING, fix,
			      "part of TensorFlow; muster server and muster check need it");
	else
		judgement_add(judgement, "libtensorflow", DOCTOR_WARNING, fix,
			      "muster server and muster check cannot run: %s", library->fault);
}

static void judge_tf_keras(struct judgement *judgement)
{
	const struct doctor_tensorflow *tensorflow = &judgement->facts->tensorflow;
	int minor = minor_of(tensorflow->version);
	char package[64] = "tf-keras";

	if (minor >= 0 && minor < MINOR_OF_KERAS_3) {
		judgement_add(judgement, "tf-keras", DOCTOR_OK, NULL,
			      "not needed: TensorFlow %s has Keras 2", tensorflow->version);
		return;
	}
	if (minor >= 0)
		snprintf(package, sizeof(package), "'tf-keras==2.%d.*'", minor);
	if (!tensorflow->tf_keras)
		judgement_add(judgement, "tf-keras", DOCTOR_WARNING,
			      pip_install(judgement, package),
			      "not installed; Keras models need it to train on several processes "
			      "(TF_USE_LEGACY_KERAS=1)");
	else if (minor >= 0 && minor_of(tensorflow->tf_keras) != minor)
		judgement_add(judgement, "tf-keras", DOCTOR_WARNING,
			      pip_install(judgement, package),
			      "%s is not compatible with TensorFlow %s", tensorflow->tf_keras,
			      tensorflow->version);
	else
		judgement_add(judgement, "tf-keras", DOCTOR_OK, NULL, "%s", tensorflow->tf_keras);
}

static void judge_scikit_learn(struct judgement *judgement)
{
	const char *version = judgement->facts->tensorflow.scikit_learn;

	if (version)
		judgement_add(judgement, "scikit-learn", DOCTOR_OK, NULL, "%s", version);
	else
		judgement_add(judgement, "scikit-learn", DOCTOR_WARNING,
			      pip_install(judgement, "scikit-learn"),
			      "not installed; the examples use its handwritten digits");
}

static void judge_others(struct judgement *judgement)
{
	const struct doctor_frameworks *others = &judgement->facts->frameworks;

	if (others->torch)
		judgement_add(judgement, "pytorch", DOCTOR_OK, NULL, "%s", others->torch);
	if (others->jax)
		judgement_add(judgement, "jax", DOCTOR_OK, NULL, "%s", others->jax);
}

void judge_software(struct judgement *judgement)
{
	const struct doctor_frameworks *others = &judgement->facts->frameworks;
	bool has_tensorflow = judgement->facts->tensorflow.is_installed;

	judge_python(judgement);
	judge_others(judgement);
	if (!has_tensorflow && (others->torch || others->jax))
		return; /* a Python for another framework lacks nothing */
	if (judgement->facts->python.interpreter)
		judge_tensorflow(judgement);
	judge_library(judgement);
	if (!has_tensorflow)
		return;
	judge_tf_keras(judgement);
	judge_scikit_learn(judgement);
}
