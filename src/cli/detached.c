#include "cli/detached.h"

#include "base/mem.h"
#include "cli/lookup.h"
#include "command/command.h"
#include "command/output.h"
#include "jobs/process_mark.h"
#include "spec/tf_cluster.h"

#include <stdlib.h>

static int print_detached_object(const struct options *options, const char *namespace_name,
				 const char *name)
{
	struct lookup *lookup CLEANUP(lookup_cleanup) = lookup_new(options);
	struct json *object CLEANUP(json_cleanup) = NULL;
	struct client *client;
	struct err err = {0};

	if ((namespace_name ? lookup_on_cluster(lookup, namespace_name, &client, &err)
			    : lookup_here(lookup, &client, &err)) ||
	    client->functions->get(client, name, &object, &err))
		return output_fail(&err);
	output_add_object(object, option_text(options, "output"));
	return EXIT_DONE;
}

/* When a job ends, muster kills all processes that its processes have started, also another muster
 * process in the background. */
static void print_follow_hint(const char *words)
{
	const char *above = getenv(JOB_NAME_VARIABLE);

	if (getenv(ENVIRONMENT_JOB_MARK) && above)
		output_print_message(
			"the job runs in the background until job '%s', which started it, ends; "
			"to follow its output: muster logs -f %s",
			above, words);
	else
		output_print_message(
			"the job runs in the background; to follow its output: muster logs -f %s",
			words);
}

int detached_report(const struct options *options, const char *namespace_name, const char *name)
{
	struct text line CLEANUP(text_done) = {0};

	if (option_text(options, "output"))
		return print_detached_object(options, namespace_name, name);
	text_addf(&line, "%s\n", name);
	output_add(&line);
	output_flush();
	char *words CLEANUP(mem_free_text) = lookup_words(options, namespace_name, name);

	if (!option_flag(options, "quiet"))
		print_follow_hint(words);
	return EXIT_DONE;
}
