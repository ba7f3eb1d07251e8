#include "cli/run_here.h"

#include "base/exit_code.h"
#include "base/mem.h"
#include "cli/detached.h"
#include "cli/lookup.h"
#include "cli/output.h"
#include "engine/supervisor.h"

int run_here(const struct options *options, const char *state_folder,
	     const struct supervisor_request *request)
{
	char *words CLEANUP(mem_free_text) = lookup_words(options, NULL, request->job->name);
	struct console_options console CLEANUP(console_options_done) = {0};
	char *copies CLEANUP(mem_free_text) = NULL;
	struct supervisor_request whole = *request;
	int exit_code = EXIT_OWN_FAULT;
	struct err err = {0};

	if (console_options_read(options, request->job, &console, &err) < 0 ||
	    console_options_prepare_copies(options, request->job, &copies, &err) < 0) {
		output_say("%s", err.text);
		return EXIT_WRONG_USE;
	}
	whole.base.job_words = words;
	whole.base.state_folder = state_folder;
	whole.base.is_detached = option_flag(options, "detach");
	whole.base.prints_json = option_text(options, "output") != NULL;
	whole.base.style = console.style;
	whole.base.copy_pattern = copies;
	whole.replaces_finished = option_flag(options, "replace");
	if (supervisor_run(&whole, &exit_code, &err) < 0) {
		output_say("%s", err.text);
		return err.code == ERR_EXISTS ? EXIT_WRONG_USE : EXIT_OWN_FAULT;
	}
	return whole.base.is_detached ? detached_tell(options, NULL, request->job->name)
				      : exit_code;
}
