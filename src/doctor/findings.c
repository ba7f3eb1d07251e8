/* Makes the rows of the report from facts, in order. machine_findings.c has those of the machine.
 */
#include "doctor/doctor.h"

#include "base/mem.h"
#include "base/names.h"
#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const doctor_state_words[3] = {"ok", "warning", "missing"};

/* Evaluates Python, the frameworks in it, TensorFlow's C library and the packages that TensorFlow
 * needs in addition. */

/* From this version on tf.keras is Keras 3, which supports none of the multi-process strategies. */
#define MINOR_OF_KERAS_3 16

/* Of "2.21.0": 21; -1 when it cannot be read. */
static int minor_of(const char *version)
{
	const char *dot = version ? strchr(version, '.') : NULL;

	return dot && isdigit((unsigned char) dot[1]) ? (int) strtol(dot + 1, NULL, 10) : -1;
}

static const char *pip_install(const struct doctor_report *report, const char *packages)
{
	const struct doctor_python *python = &report->facts->python;

	if (!python->interpreter || python->is_managed)
		return arena_format(report->arena,
				    "python3 -m venv ~/.venv && . ~/.venv/bin/activate && "
				    "pip install %s",
				    packages);
	struct text interpreter CLEANUP(text_done) = {0};

	shell_word_add(&interpreter, python->interpreter);
	return arena_format(report->arena, "%s -m pip install %s", text_of(&interpreter), packages);
}

/* TensorFlow is missing: the environment of the demo has it, else pip installs it. */
static const char *tensorflow_fix_command(const struct doctor_report *report)
{
	const char *prepared = report->facts->python.prepared;
	struct text activation CLEANUP(text_done) = {0};

	if (prepared && !report->facts->tensorflow.is_installed) {
		shell_word_add(&activation, prepared);
		return arena_format(report->arena, ". %s", text_of(&activation));
	}
	return pip_install(report,
			   report->facts->gpu.driver ? "'tensorflow[and-cuda]'" : "tensorflow-cpu");
}

static void evaluate_python(struct doctor_report *report)
{
	const struct doctor_python *python = &report->facts->python;
	const char *version = python->version ? python->version : "version unknown";

	if (!python->interpreter)
		finding_add(report, "python", DOCTOR_MISSING,
			    "sudo apt-get install python3 python3-venv", "%s",
			    python->fault ? python->fault : "python3 not found in PATH");
	else if (python->virtual_env && !python->is_virtual_env)
		finding_add(report, "python", DOCTOR_WARNING, "unset VIRTUAL_ENV",
			    "%s, %s; VIRTUAL_ENV is %s, which has no Python", version,
			    python->interpreter, python->virtual_env);
	else
		finding_add(report, "python", DOCTOR_OK, NULL, "%s, %s%s", version,
			    python->interpreter,
			    python->is_virtual_env ? " (virtual environment)" : "");
}

static void evaluate_tensorflow(struct doctor_report *report)
{
	const struct doctor_tensorflow *tensorflow = &report->facts->tensorflow;
	const char *prepared = report->facts->python.prepared;

	if (!tensorflow->is_installed)
		finding_add(report, "tensorflow", DOCTOR_MISSING, tensorflow_fix_command(report),
			    "not installed in this Python%s",
			    prepared ? "; the environment of script/demo has it" : "");
	else
		finding_add(report, "tensorflow", DOCTOR_OK, NULL, "%s, %s in %s",
			    tensorflow->version ? tensorflow->version : "version unknown",
			    tensorflow->package ? tensorflow->package : "tensorflow",
			    tensorflow->folder);
}

/* Only `muster server` and `muster check` need it: Python has its own copy. */
static void evaluate_library(struct doctor_report *report)
{
	const struct doctor_library *library = &report->facts->library;
	const char *fix = tensorflow_fix_command(report);

	if (library->path)
		finding_add(report, "libtensorflow", DOCTOR_OK, NULL, "%s, %s (%s)",
			    library->version ? library->version : "version unknown", library->path,
			    library->origin);
	else if (!report->facts->tensorflow.is_installed)
		finding_add(report, "libtensorflow", DOCTOR_WARNING, fix,
			    "part of TensorFlow; muster server and muster check need it");
	else
		finding_add(report, "libtensorflow", DOCTOR_WARNING, fix,
			    "muster server and muster check cannot run: %s", library->fault);
}

static void evaluate_tf_keras(struct doctor_report *report)
{
	const struct doctor_tensorflow *tensorflow = &report->facts->tensorflow;
	int minor = minor_of(tensorflow->version);
	char package[64] = "tf-keras";

	if (minor >= 0 && minor < MINOR_OF_KERAS_3) {
		finding_add(report, "tf-keras", DOCTOR_OK, NULL,
			    "not needed: TensorFlow %s has Keras 2", tensorflow->version);
		return;
	}
	if (minor >= 0)
		snprintf(package, sizeof(package), "'tf-keras==2.%d.*'", minor);
	if (!tensorflow->tf_keras)
		finding_add(report, "tf-keras", DOCTOR_WARNING, pip_install(report, package),
			    "not installed; Keras models need it to train on several processes "
			    "(TF_USE_LEGACY_KERAS=1)");
	else if (minor >= 0 && minor_of(tensorflow->tf_keras) != minor)
		finding_add(report, "tf-keras", DOCTOR_WARNING, pip_install(report, package),
			    "%s is not compatible with TensorFlow %s", tensorflow->tf_keras,
			    tensorflow->version);
	else
		finding_add(report, "tf-keras", DOCTOR_OK, NULL, "%s", tensorflow->tf_keras);
}

/* Python, TensorFlow and its packages. */
static void evaluate_software(struct doctor_report *report)
{
	const struct doctor_frameworks *others = &report->facts->frameworks;
	bool has_tensorflow = report->facts->tensorflow.is_installed;
	const char *scikit_learn = report->facts->tensorflow.scikit_learn;

	evaluate_python(report);
	if (others->torch)
		finding_add(report, "pytorch", DOCTOR_OK, NULL, "%s", others->torch);
	if (others->jax)
		finding_add(report, "jax", DOCTOR_OK, NULL, "%s", others->jax);
	if (!has_tensorflow && (others->torch || others->jax))
		return; /* a Python with another framework lacks nothing */
	if (report->facts->python.interpreter)
		evaluate_tensorflow(report);
	evaluate_library(report);
	if (!has_tensorflow)
		return;
	evaluate_tf_keras(report);
	finding_add(report, "scikit-learn", scikit_learn ? DOCTOR_OK : DOCTOR_WARNING,
		    pip_install(report, "scikit-learn"), "%s",
		    scikit_learn ? scikit_learn
				 : "not installed; the examples use its handwritten digits");
}

/* Ports, loopback, the machine's name. */

/* A few jobs of some replicas use up fewer ports than this. */
#define PORTS_ADVISED 100

static void evaluate_ports(struct doctor_report *report)
{
	const struct doctor_network *network = &report->facts->network;
	const char *fix = "sudo sysctl -w net.ipv4.ip_local_port_range='32768 60999'";

	if (network->port_fault)
		finding_add(report, "ports", DOCTOR_MISSING, fix, "%s", network->port_fault);
	else if (network->high_port - network->low_port + 1 < PORTS_ADVISED)
		finding_add(report, "ports", DOCTOR_WARNING, fix,
			    "only %d to %d are available; the kernel's ephemeral port range uses "
			    "the others",
			    network->low_port, network->high_port);
	else
		finding_add(report, "ports", DOCTOR_OK, NULL, "%d to %d", network->low_port,
			    network->high_port);
}

/* Jobs on this machine use 127.0.0.1; programs that look up their own host name fail all the
 * same. */
static void evaluate_host_name(struct doctor_report *report)
{
	const struct doctor_network *network = &report->facts->network;
	struct text fix CLEANUP(text_done) = {0};
	char *line CLEANUP(mem_free_text) = mem_format("127.0.1.1 %s", network->host_name);

	text_add(&fix, "echo ");
	shell_word_add(&fix, line);
	text_add(&fix, " | sudo tee -a /etc/hosts");
	finding_add(report, "host name", network->host_fault ? DOCTOR_WARNING : DOCTOR_OK,
		    text_of(&fix), "%s%s%s", network->host_name, network->host_fault ? ": " : "",
		    network->host_fault ? network->host_fault : "");
}

/* The cluster, which is optional. */

#define EDIT "${EDITOR:-vi} \"${KUBECONFIG:-$HOME/.kube/config}\""
#define CHOOSE "kubectl config get-contexts"

static const char *whose(const struct doctor_report *report)
{
	const struct doctor_kubernetes *kubernetes = &report->facts->kubernetes;

	if (!kubernetes->context)
		return "the service account of this Pod";
	return arena_format(report->arena, "context '%s'%s%s%s", kubernetes->context,
			    kubernetes->user ? " as '" : "",
			    kubernetes->user ? kubernetes->user : "", kubernetes->user ? "'" : "");
}

static void evaluate_kubernetes(struct doctor_report *report)
{
	const struct doctor_kubernetes *kubernetes = &report->facts->kubernetes;

	if (kubernetes->fault)
		finding_add(report, "kubernetes", DOCTOR_WARNING,
			    kubernetes->is_malformed ? EDIT : CHOOSE, "%s", kubernetes->fault);
	else if (!kubernetes->server)
		finding_add(report, "kubernetes", DOCTOR_OK, NULL,
			    "no kubeconfig; jobs can run on this machine only");
	else if (kubernetes->skips_verify)
		finding_add(report, "kubernetes", DOCTOR_WARNING, EDIT,
			    "%s, %s, whose certificate is not verified (insecure-skip-tls-verify)",
			    kubernetes->server, whose(report));
	else
		finding_add(report, "kubernetes", DOCTOR_OK, NULL, "%s, %s, namespace '%s'",
			    kubernetes->server, whose(report), kubernetes->namespace_name);
}

void doctor_evaluate(const struct doctor_facts *facts, struct arena *arena,
		     struct doctor_report *ret_report)
{
	const char *loopback_fault = facts->network.loopback_fault;
	const char *private_fault = facts->network.private_fault;

	*ret_report = (struct doctor_report){.facts = facts, .arena = arena};
	evaluate_software(ret_report);
	finding_add(ret_report, "loopback", loopback_fault ? DOCTOR_MISSING : DOCTOR_OK,
		    "sudo ip link set lo up", "%s",
		    loopback_fault ? loopback_fault : "127.0.0.1 answers");
	evaluate_ports(ret_report);
	evaluate_host_name(ret_report);
	/* Few users need one, so it is no fault if there is none. */
	finding_add(ret_report, "private net", DOCTOR_OK, NULL, "%s%s",
		    private_fault ? "none: " : "",
		    private_fault ? private_fault : "available: muster run --private-network");
	evaluate_machine(ret_report);
	evaluate_kubernetes(ret_report);
}

size_t doctor_count(const struct doctor_report *report, enum doctor_state state)
{
	size_t count = 0;

	for (size_t i = 0; i < report->n_rows; i++)
		count += report->rows[i].state == state;
	return count;
}

struct json *doctor_report_json(const struct doctor_report *report)
{
	struct json *object = json_new_object();
	struct json *rows = json_new_array();

	for (size_t i = 0; i < report->n_rows; i++) {
		const struct doctor_row *row = &report->rows[i];

		/* "mend" is the former name of "fix". */
		json_append(rows,
			    json_new_texts("name", row->name, "state",
					   doctor_state_words[row->state], "found", row->found,
					   "fix", row->fix, "mend", row->fix, NULL));
	}
	json_set_bool(object, "ready", doctor_count(report, DOCTOR_MISSING) == 0);
	json_set(object, "rows", rows);
	return object;
}
