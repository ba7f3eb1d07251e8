#include "reconcile/failure_text.h"

#include "base/line_text.h"
#include "base/own.h"
#include "base/shell_word.h"
#include "status/failure_words.h"
#include "status/replica_names.h"

#include <stdbool.h>
#include <string.h>

#define PORT_IN_USE                                                                                \
	"another process has the port, perhaps another replica of this job: let the script use a " \
	"different port in each replica; a script that starts its own processes needs -w 1"

/* Each was seen with TensorFlow 2.21, JAX 0.10 or Python 3.11, and the advice helped. */
static const struct known_cause {
	const char *words; /* in one of the last output lines */
	const char *advice;
} known_causes[] = {
	{"distribute.values.PerReplica'>) to a Tensor",
	 "fit() of Keras 3 does not support MultiWorkerMirroredStrategy; use Keras 2: pip install "
	 "tf-keras, and muster run --env TF_USE_LEGACY_KERAS=1"},
	{"Could not start gRPC server",
	 "the port is in use; if the script sets TF_CONFIG, remove that: muster sets it, and a "
	 "fixed value gives every process the same identity"},
	{"Collective ops must be configured at program startup",
	 "create the tf.distribute strategy before any other TensorFlow code runs"},
	{"Could not apply FILE based sharding",
	 "the dataset has fewer files than workers: set its "
	 "options().experimental_distribute.auto_shard_policy to DATA"},
	{"There must be at least one ps.",
	 "ParameterServerStrategy needs a chief and a parameter server: muster run --chief --ps 1"},
	{"ValueError: Number of processes must be defined.",
	 "jax.distributed.initialize reads only the coordinator's address from the environment; "
	 "pass num_processes=int(os.environ['JAX_NUM_PROCESSES']) and "
	 "process_id=int(os.environ['JAX_PROCESS_ID'])"},
	{"EOFError: EOF when reading a line", "replicas have no standard input: run with --stdin "
					      "worker-0 to type into worker-0, or pass "
					      "values as arguments or with --env"},
	{"bdb.BdbQuit",
	 "replicas have no standard input, so a debugger ends at once: run with --stdin worker-0"},
	{"No module named 'tensorflow'",
	 "this Python has no TensorFlow: activate the virtual environment that has it ('muster "
	 "doctor' helps to find it)"},
	{"No module named ",
	 "the Python that ran the script does not have this module: activate the virtual "
	 "environment that has it ('muster doctor' shows which Python is used), or, on a cluster, "
	 "choose an --image that has it; for a package in the current directory: muster run -m "
	 "PACKAGE.MODULE"},
	{": can't open file '",
	 "a relative path begins in the directory in which muster was started, not in that of the "
	 "job file or the script"},
	{"EADDRINUSE", PORT_IN_USE},
	{"Address already in use", PORT_IN_USE},
	{"environment variable RANK expected, but not set",
	 "parameter servers and evaluators have no RANK: PyTorch needs neither --ps nor "
	 "--evaluator"},
	{"requires at least one CUDA device",
	 "this replica sees no GPU; on CPUs: init_process_group(\"gloo\")"},
	{" expected type 0 and data_type ",
	 "the workers did not run the same steps: give each the same number of batches, or use "
	 "repeat() and steps_per_epoch"},
	{"KeyError: 'evaluator'",
	 "an evaluator runs the script too, but not MultiWorkerMirroredStrategy: it evaluates the "
	 "checkpoints of the others (TF_CONFIG says its type)"},
	{"module 'tensorflow' has no attribute 'estimator'",
	 "TensorFlow has no Estimator since 2.16: use Keras, or an older version"},
	{"name 'get_ipython' is not defined",
	 "the script was a notebook: remove the lines with get_ipython()"},
};

static const char *advice_for(const char *line)
{
	for (size_t i = 0; i < ARRAY_LEN(known_causes); i++)
		if (strstr(line, known_causes[i].words))
			return known_causes[i].advice;
	return NULL;
}

/* Advice for a cause recognized in the exception or the last lines; NULL: none. */
static const char *known_cause_advice(const struct failure *failure)
{
	if (text_equals(failure->reason, "OOMKilled"))
		return "use smaller batches, fewer workers on one machine, or, on a cluster, more "
		       "--memory";
	const char *advice = advice_for(failure->exception ? failure->exception : "");

	for (size_t i = failure->n_last_lines; !advice && i-- > 0;)
		advice = advice_for(failure->last_lines[i]);
	return advice;
}

/* Row heads are as wide as the longest one plus two spaces. */
#define ROW "  %-14s"
#define FURTHER_ROW "                "

/* A program's output may contain terminal escape sequences. */
static void add_failure_row(struct text *text, const char *head, const char *content)
{
	if (!content)
		return;
	text_addf(text, ROW, head);
	line_text_add_safe(text, content, strlen(content));
	text_add_char(text, '\n');
}

static void add_failure_time(const struct failure *failure, int offset, struct text *text)
{
	if (failure->time == MSEC_UNSET)
		return;
	text_addf(text, ROW, "at");
	text_add_time_ahead(text, failure->time, offset);
	text_add_char(text, '\n');
}

static void add_failure_rows(const char *head, const char *before, const char *const *lines,
			     size_t count, struct text *text)
{
	for (size_t i = 0; i < count; i++) {
		if (i == 0)
			text_addf(text, ROW, head);
		else
			text_add(text, FURTHER_ROW);
		text_add(text, before);
		line_text_add_safe(text, lines[i], strlen(lines[i]));
		text_add_char(text, '\n');
	}
}

/* How many consequences from the first on are adjacent replicas that ended alike: sixty-four
 * workers are one row, not sixty-four. */
static size_t count_alike(const struct consequence *first, size_t n_rest)
{
	size_t n = 1;

	while (n < n_rest && text_equals(first[n].role, first->role) &&
	       first[n].index == first[n - 1].index + 1 &&
	       text_equals(first[n].what, first->what) &&
	       text_equals(first[n].machine, first->machine))
		n++;
	return n;
}

static void add_alike(const struct consequence *first, size_t n_alike, struct text *text)
{
	struct text sentence CLEANUP(text_done) = {0};

	replica_names_add_range(&sentence, first->role, first->index, first[n_alike - 1].index);
	if (first->machine)
		text_addf(&sentence, " on %s", first->machine);
	text_addf(&sentence, n_alike > 1 ? ": each %s" : " %s", first->what);
	line_text_add_sentence(text, text_of(&sentence), sentence.len);
	text_add_char(text, '\n');
}

static void add_consequences(const struct failure *failure, struct text *text)
{
	size_t n_alike;

	for (size_t i = 0; i < failure->n_consequences; i += n_alike) {
		const struct consequence *first = &failure->consequences[i];

		n_alike = count_alike(first, failure->n_consequences - i);
		if (i == 0)
			text_addf(text, ROW, "consequences");
		else
			text_add(text, FURTHER_ROW);
		add_alike(first, n_alike, text);
	}
}

/* The log of the failed attempt, if the status still has that attempt. */
static const char *log_of_failure(const struct status *status)
{
	const struct failure *failure = status->failure;
	const struct replica_status *replica =
		failure->machine ? NULL : status_replica(status, failure->role, failure->index);

	return replica && replica->attempt == failure->attempt ? replica->log : NULL;
}

/* A replica that has not started has no output. */
static bool has_started(const struct failure *failure)
{
	return !text_equals(failure->reason, FAILURE_REFUSED) &&
	       !text_equals(failure->reason, FAILURE_START_FAILED) &&
	       !text_equals(failure->reason, FAILURE_INIT_FAILED);
}

static void add_next(const struct failure *failure, const char *job_words, struct text *text)
{
	struct text line CLEANUP(text_done) = {0};

	if (!has_started(failure))
		return;
	if (failure->machine)
		text_addf(&line, "on %s: ", failure->machine);
	text_addf(&line, "muster logs %s --role ",
		  failure->machine_job ? failure->machine_job : job_words);
	shell_word_add(&line, failure->role);
	text_addf(&line, " --index %d --attempt %d", failure->index, failure->attempt);
	add_failure_row(text, "full log", text_of(&line));
}

/* The stacks of the processes before they were asked to stop, if recorded. */
static void add_failure_stacks(const struct failure *failure, struct text *text)
{
	add_failure_rows("stacks", "", failure->stacks, failure->n_stacks, text);
}

static void add_all_stacks(const struct failure *failure, const char *job_words, struct text *text)
{
	char *stacks CLEANUP(mem_free_text) = mem_format("muster stacks %s", job_words);

	if (failure->n_stacks)
		add_failure_row(text, "all stacks", stacks);
}

/* For a job that was not ended by a replica. */
static void add_whereabouts(const struct failure *failure, const char *job_words, struct text *text)
{
	char *logs CLEANUP(mem_free_text) = mem_format("muster logs %s", job_words);

	add_failure_stacks(failure, text);
	add_failure_rows("last output", "", failure->last_lines, failure->n_last_lines, text);
	add_all_stacks(failure, job_words, text);
	if (failure->n_last_lines)
		add_failure_row(text, "full log", logs);
}

void failure_describe(const struct status *status, const char *job_words,
		      const struct failure_style *style, struct text *text)
{
	const struct failure *failure = status->failure;
	const char *what = failure->message ? failure->message : failure->reason;

	line_text_add_sentence(text, what, strlen(what));
	text_add_char(text, '\n');
	if (!failure->role || !failure->role[0]) {
		add_whereabouts(failure, job_words, text); /* of the job: a deadline, a stop */
		return;
	}
	add_failure_row(text, "likely cause", failure->cause);
	add_failure_row(text, "error", failure->exception);
	add_failure_row(text, "advice", known_cause_advice(failure));
	add_failure_time(failure, style->offset, text);
	if (!style->skips_last_lines)
		add_failure_rows("last output", "| ", failure->last_lines, failure->n_last_lines,
				 text);
	add_consequences(failure, text);
	add_failure_stacks(failure, text);
	add_failure_row(text, "log file", log_of_failure(status));
	add_all_stacks(failure, job_words, text);
	add_next(failure, job_words, text);
}
