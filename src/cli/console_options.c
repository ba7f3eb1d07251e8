#include "cli/console_options.h"

#include "base/mem.h"
#include "cli/replica_name.h"
#include "logs/output_copies.h"
#include "spec/output_path.h"

#include <stdlib.h>
#include <string.h>

/* The names of one value, "worker-0,ps-1". */
static int add_names(struct console_options *console_options, size_t *capacity, const char *value,
		     struct err *err)
{
	char *names CLEANUP(mem_free_text) = mem_copy_text(value);
	char *rest = names;

	for (char *name; (name = strsep(&rest, ","));) {
		size_t count = console_options->style.n_only;
		struct log_name replica;

		if (replica_name_take_log_name(name, &replica, err) < 0)
			return err_prefix(err, "--only");
		mem_grow(&console_options->only, capacity, count, sizeof(replica));
		console_options->only[count] = replica;
		console_options->style.n_only++;
	}
	return 0;
}

int console_options_read(const struct options *options, const struct job *job,
			 struct console_options *console_options, struct err *err)
{
	size_t capacity = 0, count;
	const char *const *values = option_list(options, "only", &count);
	int rc = 0;

	*console_options = (struct console_options){
		.style = {.color = option_text(options, "color"),
			  .is_quiet = option_flag(options, "quiet"),
			  .hides_names = !option_flag(options, "prefix"),
			  .shows_times = option_flag(options, "timestamps"),
			  .is_local = times_are_local(options)}};
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = add_names(console_options, &capacity, values[i], err);
	for (size_t i = 0; job && i < console_options->style.n_only && rc == 0; i++) {
		/* A job may get more replicas of a role while it runs, but no other role. */
		if (!job_role(job, console_options->only[i].role))
			rc = err_set(err, ERR_INVALID, "--only: job '%s' has no role '%s'",
				     job->name, console_options->only[i].role);
	}
	console_options->style.only = console_options->only;
	return rc;
}

int console_options_prepare_copies(const struct options *options, const struct job *job,
				   char **ret_pattern, struct err *err)
{
	const char *path = option_text(options, "output-dir");
	char *pattern CLEANUP(mem_free_text) = NULL;

	if (!path)
		return 0;
	int rc = output_path_read(path, &pattern, err);

	if (rc == 0)
		rc = output_copies_check(pattern, job, err);
	if (rc < 0)
		return err_prefix(err, "--output-dir");
	*ret_pattern = TAKE(pattern);
	return 0;
}

void console_options_done(struct console_options *console_options)
{
	free(console_options->only);
}
