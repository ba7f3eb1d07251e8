/* muster probe: lists the tasks and devices of TensorFlow servers, and tests whether operations
 * run. */
#include "base/mem.h"
#include "check/probe.h"
#include "cli/commands.h"
#include "command/options.h"
#include "command/output.h"
#include "command/table.h"
#include "tensorflow/library_find.h"
#include "tensorflow/library_guard.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define LONGEST_TIMEOUT (MSEC_PER_SECOND * 3600)
#define HANG_LIMIT (30 * MSEC_PER_SECOND)
#define LOADING_LIMIT 300 /* seconds; half a gigabyte from a slow file server */

enum column { COLUMN_TASK, COLUMN_DEVICES, COLUMN_ANSWERED, COLUMN_RAN, N_COLUMNS };

struct probe_call {
	const struct options *options;
	const struct check_server *servers;
	size_t n_servers;
	struct library_place *library;
	struct library_guard guard;
	struct json *answered, *ran; /* by task: events, for the table */
	struct arena *arena;
};

static void probe_call_done(struct probe_call *call)
{
	library_place_free(call->library);
	json_free(call->answered);
	json_free(call->ran);
	arena_free(call->arena);
}

static void store_probe_task_event(struct json *events, const struct json *event)
{
	json_set(events, json_as_string(json_get(event, "task"), ""), json_new_copy(event));
}

/* Programs get each event immediately; users get a table at the end, and errors immediately. */
static void on_probe_event(const struct json *event, void *data)
{
	struct probe_call *call = data;
	const char *kind = json_as_string(json_get(event, "muster"), "");

	if (option_text(call->options, "output"))
		output_add_event(event);
	if (text_equals(kind, "error"))
		output_print_message("%s", json_as_string(json_get(event, "message"), ""));
	else
		store_probe_task_event(text_equals(kind, "ran") ? call->ran : call->answered,
				       event);
}

static char *join_devices(const struct json *devices)
{
	struct text text CLEANUP(text_done) = {0};

	for (size_t i = 0; i < json_count(devices); i++)
		text_addf(&text, "%s%s", i ? "," : "", json_as_string(json_at(devices, i), ""));
	return text_take(&text);
}

static void add_probe_time(struct table *table, const struct json *event)
{
	struct text text CLEANUP(text_done) = {0};
	double seconds = json_as_real(json_get(event, "seconds"), 0);

	if (event)
		text_add_duration(&text, (msec) (seconds * MSEC_PER_SECOND + 0.5));
	table_add(table, text_of(&text));
}

static void print_table(const struct probe_call *call)
{
	static const char *const headings[N_COLUMNS] = {"TASK", "DEVICES", "ANSWERED", "RAN"};
	struct table table CLEANUP(table_done) = {.n_columns = N_COLUMNS};
	struct text text CLEANUP(text_done) = {0};
	struct json *event;
	const char *task;

	table_add_row(&table, headings);
	for (task = NULL; json_next(call->answered, &task, &event);) {
		char *devices CLEANUP(mem_free_text) = join_devices(json_get(event, "devices"));

		table_add(&table, task);
		table_add(&table, devices);
		add_probe_time(&table, event);
		add_probe_time(&table, json_get(call->ran, task));
	}
	if (json_count(call->answered) == 0)
		return;
	table_write(&table, &text);
	output_add(&text);
}

static msec timeout_of(const struct probe_call *call)
{
	return option_duration(call->options, "timeout", 10 * MSEC_PER_SECOND);
}

static int open_library(struct library **ret_library, void *data, struct err *err)
{
	struct probe_call *call = data;

	alarm(LOADING_LIMIT);
	return library_guard_load(&call->guard, option_flag(call->options, "verbose"), ret_library,
				  err);
}

/* Every call of TensorFlow has its own limit. A call that exceeds it twice, once for the request
 * and once for closing the session, hangs; the signal leaves the rest to the outer process. */
static void on_session_call_begin(const char *doing, void *data)
{
	struct probe_call *call = data;
	msec limit = 2 * timeout_of(call) + HANG_LIMIT;

	library_guard_note(&call->guard, doing);
	alarm((unsigned int) msec_to_whole_seconds(limit));
}

/* The inner process. It leaves by _exit: TensorFlow's work at exit fails while its threads are
 * running. When the outer process exits, it is killed. */
static NORETURN void probe(struct probe_call *call)
{
	const struct probe_request request = {
		.servers = call->servers,
		.n_servers = call->n_servers,
		.timeout = timeout_of(call),
		.open_library = open_library,
		.on_begin = on_session_call_begin,
		.tell = on_probe_event,
		.data = call,
	};
	struct err err = {0};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGALRM, SIG_DFL);
	call->answered = json_new_object();
	call->ran = json_new_object();
	int failure = probe_run(&request, &err);
	int exit_code = failure ? EXIT_NOT_REACHED : EXIT_DONE;

	if (failure && failure != ERR_UNREACHABLE)
		exit_code = output_fail(&err);
	if (!option_text(call->options, "output"))
		print_table(call);
	_exit(output_finish(exit_code));
}

static int run_guarded(struct probe_call *call)
{
	struct err err = {0};

	if (library_guard_fork(&call->guard, "muster probe", call->library->path, &err))
		return output_fail(&err);
	if (call->guard.guard.is_inner)
		probe(call);
	if (!call->guard.guard.was_lost || library_guard_was_asked_to_end(&call->guard))
		return call->guard.guard.exit_code;
	library_guard_explain(&call->guard, &err);
	return output_fail(&err);
}

/* False on an error, which is printed. */
static bool read_probe_call(struct probe_call *call)
{
	struct text faults CLEANUP(text_done) = {0};
	const char *servers = option_text(call->options, "servers");

	if (timeout_of(call) <= 0 || timeout_of(call) > LONGEST_TIMEOUT) {
		output_print_message("--timeout: must be more than 0 and at most 1h");
		return false;
	}
	call->servers = check_servers_read(servers ? servers : "", call->arena,
					   "--servers: ", &faults, &call->n_servers);
	if (!call->n_servers && !faults.len)
		text_add(&faults, "missing --servers (expected for example grpc://host:2222)\n");
	output_print_messages(&faults);
	return !faults.len;
}

static int probe_command_run(const struct options *options)
{
	struct probe_call call CLEANUP(probe_call_done) = {.options = options,
							   .arena = arena_new()};
	struct library_search search = library_search_here(option_text(options, "libtensorflow"));
	struct err err = {0};

	if (!read_probe_call(&call))
		return EXIT_USAGE;
	if (!library_find(&search, &call.library, NULL, &err))
		return run_guarded(&call);
	output_print_message("%s", err.text);
	return EXIT_NOT_REACHED;
}

static const struct option_row rows_of_probe[] = {
	{.name = "servers",
	 .other_name = "server",
	 .kind = OPTION_TEXT,
	 .value_name = "URL[,URL...]",
	 .one_line = "servers of one cluster, for example grpc://host:2222"},
	{.name = "timeout",
	 .kind = OPTION_DURATION,
	 .value_name = "TIME",
	 .otherwise = "10s",
	 .one_line = "time that each task may take to answer"},
	{.name = "libtensorflow",
	 .kind = OPTION_TEXT,
	 .value_name = "PATH",
	 .one_line = "TensorFlow's C library, or a directory that contains it (default: search)"},
	{.name = "verbose", .kind = OPTION_FLAG, .one_line = "print TensorFlow's own log"},
	{.name = "output",
	 .letter = 'o',
	 .kind = OPTION_WORD,
	 .words = "json",
	 .one_line = "print events on stdout, one JSON object per line"},
	{0},
};

const struct command command_probe = {
	.name = "probe",
	.group = "TensorFlow",
	.arguments = "--servers URL[,URL...] [OPTIONS]",
	.one_line = "list the devices of TensorFlow servers and run an operation on each",
	.examples = "  muster probe --servers grpc://localhost:2222\n"
		    "  muster probe --servers grpc://a:2222,grpc://b:2222 --timeout 30s -o json\n",
	.options = rows_of_probe,
	.run = probe_command_run,
};
