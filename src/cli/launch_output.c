#include "cli/launch_output.h"

#include "base/mem.h"
#include "cli/rendezvous_endpoint.h"
#include "spec/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BOTH_STREAMS 3 /* torchrun's Std.ALL */
#define WORKER "worker"

void launch_output_done(struct launch_output *output)
{
	free(output->shown);
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
		rc = text_read_int(colon ? colon + 1 : entry, 0, BOTH_STREAMS, &streams_of_rank,
				   err);
	if (rc < 0)
		return rc;
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

static void check_redirects(const int *redirects, int n_processes, struct text *faults)
{
	for (int i = 0; i < n_processes; i++) {
		if (redirects[i] == 0 || redirects[i] == BOTH_STREAMS)
			continue;
		text_addf(faults,
			  "--redirects: '%d' is not supported, because muster keeps both streams "
			  "of a process together (expected 0 or 3)\n",
			  redirects[i]);
		return;
	}
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

static void read_shown(const struct options *options, int n_processes, struct launch_output *output,
		       struct text *faults)
{
	int *redirects CLEANUP(mem_free_any) =
		read_streams(options, "redirects", n_processes, faults);
	int *tee CLEANUP(mem_free_any) = read_streams(options, "tee", n_processes, faults);
	bool *filter CLEANUP(mem_free_any) = read_filter(options, n_processes, faults);

	check_redirects(redirects, n_processes, faults);
	output->shown = mem_new_array((size_t) n_processes, sizeof(*output->shown));
	for (int i = 0; i < n_processes; i++) {
		if ((redirects[i] && !tee[i]) || (filter && !filter[i]))
			continue;
		struct log_name *name = &output->shown[output->n_shown++];

		snprintf(name->role, sizeof(name->role), WORKER);
		name->index = i;
	}
	output->is_quiet = output->n_shown == 0;
	if (output->n_shown == (size_t) n_processes)
		output->n_shown = 0;
}

/* As torchrun names them, whose attempts start at 0: DIR/ID/attempt_0/LOCAL_RANK/stdout.log. */
static char *pattern_of(const char *folder)
{
	struct text pattern = {0};

	for (const char *at = folder; *at; at++)
		text_add(&pattern, *at == '%' ? "%%" : (char[]){*at, '\0'});
	text_add(&pattern, "/%j/attempt_%g/%i/stdout.log");
	return text_take(&pattern);
}

void launch_output_read(const struct options *options, int n_processes,
			struct launch_output *output, struct text *faults)
{
	const char *folder = rendezvous_option(options, "log-dir");

	*output = (struct launch_output){0};
	read_shown(options, n_processes, output, faults);
	if (folder && *folder && !text_equals(folder, "/dev/null"))
		output->pattern = pattern_of(folder);
	if (folder && option_text(options, "output-dir"))
		text_add(faults, "--log-dir: cannot be used with --output-dir\n");
}
