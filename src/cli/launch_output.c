#include "cli/launch_output.h"

#include "base/mem.h"
#include "cli/rendezvous_endpoint.h"
#include "io/file.h"
#include "io/folder.h"
#include "io/random.h"
#include "io/sink.h"
#include "spec/limits.h"

#define PREFIX_VARIABLE "TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE"
#define NO_FILES "/dev/null" /* as --log-dir */
#define SUFFIX_LENGTH 8 /* random characters behind the run's id */

void launch_output_done(struct launch_output *output)
{
	free(output->rules);
	free(output->pattern);
}

/* "3", or "0:3,1:0": streams of local ranks, 0 for the ranks that are not named. */
static int read_entry(const char *entry, int n_processes, int *streams, struct err *err)
{
	const char *colon = strchr(entry, ':');
	char *rank CLEANUP(mem_free_text) =
		mem_copy_bytes(entry, colon ? (size_t) (colon - entry) : 0);
	int64_t number = 0, streams_of_rank = 0;
	int rc = colon ? text_read_int(rank, 0, LIMIT_PROCESSES - 1, &number, err) : 0;

	if (rc == 0)
		rc = text_read_int(colon ? colon + 1 : entry, 0, STREAM_BOTH, &streams_of_rank,
				   err);
	if (rc < 0)
		return colon ? err_prefix(err, "'%s'", entry) : rc;
	for (int i = 0; i < n_processes; i++)
		if (!colon || i == number)
			streams[i] = (int) streams_of_rank;
	return 0;
}

static int *read_streams(const struct options *options, const char *name, int n_processes,
			 struct text *faults)
{
	int *streams = mem_new_array((size_t) n_processes, sizeof(*streams));
	const char *word = rendezvous_option(options, name);
	char *entries CLEANUP(mem_free_text) = mem_copy_text(word ? word : "");
	char *rest = word ? entries : NULL, *entry;
	struct err err;

	while ((entry = strsep(&rest, ",")))
		if (read_entry(entry, n_processes, streams, &err) < 0)
			text_addf(faults, "--%s: %s\n", name, err.text);
	return streams;
}

/* The local ranks of --local-ranks-filter; NULL: all. */
static bool *read_filter(const struct options *options, int n_processes, struct text *faults)
{
	const char *word = rendezvous_option(options, "local-ranks-filter");
	char *ranks CLEANUP(mem_free_text) = mem_copy_text(word ? word : "");
	char *rest = ranks, *rank;
	int64_t number = 0;
	struct err err;

	if (!word || !*word)
		return NULL;
	bool *is_in = mem_new_array((size_t) n_processes, sizeof(*is_in));

	while ((rank = strsep(&rest, ","))) {
		if (text_read_int(rank, 0, LIMIT_PROCESSES - 1, &number, &err) < 0)
			text_addf(faults, "--local-ranks-filter: %s\n", err.text);
		else if (number < n_processes)
			is_in[number] = true;
	}
	return is_in;
}

/* Without a log directory there is nothing to redirect to: torchrun then prints all, unmarked. */
static bool has_no_files(const struct launch_output *output)
{
	return output->folder && text_equals(output->folder, NO_FILES);
}

/* A teed stream is redirected as well; one that is neither goes to our own, and into no file of a
 * log directory. */
static void read_rules(const struct options *options, int n_processes, struct launch_output *output,
		       struct text *faults)
{
	int *redirects CLEANUP(mem_free_any) =
		read_streams(options, "redirects", n_processes, faults);
	int *tee CLEANUP(mem_free_any) = read_streams(options, "tee", n_processes, faults);
	bool *filter CLEANUP(mem_free_any) = read_filter(options, n_processes, faults);

	output->rules = mem_new_array((size_t) n_processes, sizeof(*output->rules));
	output->is_quiet = true;
	for (int i = 0; i < n_processes; i++) {
		int shown = (STREAM_BOTH & ~redirects[i]) | tee[i];

		if (has_no_files(output)) {
			shown = STREAM_BOTH;
			tee[i] = redirects[i] = 0;
		}
		output->rules[i] = (struct stream_rule){
			.shown = !filter || filter[i] ? shown : 0,
			.marked = tee[i],
			.copied = output->folder ? redirects[i] | tee[i] : STREAM_BOTH,
		};
		output->is_quiet = output->is_quiet && output->rules[i].shown == 0;
	}
}

/* Whether the rules, or our own stdout and stderr, tell one stream of a process from the other. On
 * one terminal they stay together, in the order of arrival. */
static bool tells_streams_apart(const struct launch_output *output, int n_processes)
{
	for (int i = 0; i < n_processes; i++) {
		const struct stream_rule *rule = &output->rules[i];

		if ((rule->shown != 0 && rule->shown != STREAM_BOTH) ||
		    (rule->marked != 0 && rule->marked != STREAM_BOTH) ||
		    (output->folder && rule->copied))
			return true;
	}
	return !sink_is_same(STDOUT_FILENO, STDERR_FILENO);
}

void launch_output_read(const struct options *options, int n_processes, const char *role_name,
			struct launch_output *output, struct text *faults)
{
	static const char *const filters[] = {"duplicate-stdout-filters",
					      "duplicate-stderr-filters"};
	const char *folder = rendezvous_option(options, "log-dir");
	const char *prefix = rendezvous_option(options, "log-line-prefix-template");

	*output = (struct launch_output){.folder = folder && *folder ? folder : NULL};
	read_rules(options, n_processes, output, faults);
	for (size_t i = 0; i < ARRAY_LEN(filters); i++)
		if (rendezvous_option(options, filters[i]))
			text_addf(faults,
				  "--%s: not supported; the lines are in the output: muster logs "
				  "JOB | grep -F WORD\n",
				  filters[i]);
	output->streams = (struct streams){
		.are_apart = tells_streams_apart(output, n_processes),
		.rules = output->rules,
		.n_rules = (size_t) n_processes,
		.prefix = prefix ? prefix : getenv(PREFIX_VARIABLE),
		.role_name = role_name,
	};
	if (folder && option_text(options, "output-dir"))
		text_add(faults, "--log-dir: cannot be used with --output-dir\n");
}

int launch_output_make_folder(struct launch_output *output, const char *run_id, struct err *err)
{
	if (!output->folder)
		return 0;
	if (has_no_files(output)) {
		output->pattern = mem_copy_text(NO_FILES);
		return 0;
	}
	char *token CLEANUP(mem_free_text) = random_token();
	char *name CLEANUP(mem_free_text) = mem_format("%s_%.*s", run_id, SUFFIX_LENGTH, token);
	char *folder CLEANUP(mem_free_text) = mem_format("%s/%s", output->folder, name);
	struct text pattern CLEANUP(text_done) = {0};
	int fd CLEANUP(file_close) = -1;
	int rc = folder_open_shared(output->folder, &fd, err);

	if (rc == 0)
		rc = folder_check_lasting(fd, output->folder, err);
	if (rc == 0 && mkdirat(fd, name, 0700) < 0)
		rc = err_set_errno(err, errno, "cannot create directory '%s'", folder);
	if (rc < 0)
		return err_prefix(err, "--log-dir");
	/* A percent sign in the name of a directory is no variable. */
	for (const char *at = folder; *at; at++)
		text_add(&pattern, *at == '%' ? "%%" : (char[]){*at, '\0'});
	text_add(&pattern, "/attempt_%g/%i/stdout.log");
	output->pattern = text_take(&pattern);
	return 0;
}
