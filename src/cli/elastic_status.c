#include "cli/elastic_status.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/names.h"
#include "cli/command.h"
#include "cli/edition.h"
#include "cli/elastic_text.h"
#include "cli/go_on.h"
#include "cli/output.h"
#include "cli/rendezvous_asker.h"
#include "cli/watch.h"
#include "io/loop.h"
#include "io/terminal.h"

#include <stdlib.h>
#include <unistd.h>

#define PERIOD MSEC_PER_SECOND /* between two looks of --watch */

struct look {
	const struct options *options;
	struct rendezvous_endpoint endpoint;
	const char *job; /* NULL: all of them */
	char *path;
	struct loop *loop;
	struct http_asker *asker;
	struct loop_watch *timer;
	struct text last; /* what was shown before */
	bool is_loss_told;
	int exit_code;
};

static void look_done(struct look *look)
{
	if (look->asker)
		look->asker->functions->free(look->asker);
	loop_watch_free(look->timer);
	if (look->loop)
		loop_free(look->loop);
	rendezvous_endpoint_done(&look->endpoint);
	text_done(&look->last);
	free(look->path);
}

static void end(struct look *look, int exit_code)
{
	look->exit_code = exit_code;
	loop_stop(look->loop);
}

static void ask(void *data)
{
	struct look *look = data;

	look->asker->functions->ask(look->asker, look->path, NULL, 0);
}

static bool show_again(struct look *look, const struct json *job)
{
	bool is_over = elastic_text_is_over(job);
	struct text text CLEANUP(text_done) = {0}, screen CLEANUP(text_done) = {0};

	if (!terminal_understands_escapes(STDOUT_FILENO)) {
		elastic_text_add_line(job, &text);
		return output_add_changed(&text, output_add, &look->last) || is_over;
	}
	elastic_text_add(job, times_are_local(look->options), &text);
	redraw_add(text_of(&text), is_over, &screen);
	return output_add_changed(&screen, output_add_screen, &look->last) || is_over;
}

static void show_once(const struct look *look, const struct json *object)
{
	const char *format = option_text(look->options, "output");
	struct text text CLEANUP(text_done) = {0};

	if (text_equals(format, "json") || text_equals(format, "yaml")) {
		output_add_object(object, format);
		return;
	}
	if (look->job)
		elastic_text_add(object, times_are_local(look->options), &text);
	else
		elastic_text_add_list(json_get(object, "jobs"), &text);
	output_add(&text);
}

static void show(struct look *look, const struct json *object)
{
	if (!option_flag(look->options, "watch")) {
		show_once(look, object);
		end(look, EXIT_DONE);
	} else if (show_again(look, object)) {
		end(look, EXIT_DONE);
	} else {
		loop_timer_arm(look->timer, loop_now() + PERIOD);
	}
}

static void refuse(struct look *look, int status, const struct json *object)
{
	struct err err;

	rendezvous_asker_refusal(&look->endpoint, status, object, &err);
	end(look, output_fail(&err));
}

/* A server that was there may come again; the job goes on meanwhile. */
static void lose(struct look *look, const struct err *err)
{
	if (!look->last.len) {
		end(look, output_fail(err));
		return;
	}
	if (!look->is_loss_told)
		output_say("%s; muster tries again", err->text);
	look->is_loss_told = true;
	loop_timer_arm(look->timer, loop_now() + PERIOD);
}

static void on_answer(int status, const void *bytes, size_t len, const struct err *err, void *data)
{
	struct look *look = data;
	struct json *object CLEANUP(json_cleanup) = NULL;

	if (!status) {
		lose(look, err);
		return;
	}
	look->is_loss_told = false;
	(void) !json_read(bytes ? bytes : "", len, &object, NULL);
	if (status == 200 && object)
		show(look, object);
	else
		refuse(look, status, object);
}

static int begin(struct look *look, struct err *err)
{
	int rc = loop_new(&look->loop, err);

	if (rc < 0)
		return rc;
	look->timer = loop_new_timer(look->loop, ask, look);
	rc = rendezvous_asker_new(look->loop, &look->endpoint, on_answer, look, &look->asker, err);
	if (rc < 0)
		return rc;
	loop_timer_arm(look->timer, loop_now());
	loop_run(look->loop);
	return 0;
}

/* What a call says. */
static void read_call(struct look *look, struct text *faults)
{
	size_t count;
	const char *const *arguments = options_arguments(look->options, &count);
	const char *format = option_text(look->options, "output");
	bool is_watched = option_flag(look->options, "watch");

	rendezvous_endpoint_read(option_text(look->options, "rdzv-endpoint"), &look->endpoint,
				 faults);
	rendezvous_endpoint_read_trust(look->options, &look->endpoint, faults);
	look->job = count ? arguments[0] : NULL;
	look->path = mem_format(count ? "/v1/jobs/%s" : "/v1/jobs", count ? arguments[0] : "");
	if (count > 1)
		text_add(faults, "--rdzv-endpoint: takes one job only\n");
	if (count && !(*arguments[0] && name_is_label_value(arguments[0])))
		text_addf(faults, "'%s' is not the id of a job\n", arguments[0]);
	if (text_equals(format, "name"))
		text_add(faults, "--output: json, yaml or wide with --rdzv-endpoint\n");
	if (is_watched && (!count || format))
		text_add(faults, "--watch: follows one job, as text, with --rdzv-endpoint\n");
}

int elastic_status(const struct options *options)
{
	struct look look CLEANUP(look_done) = {.options = options};
	struct text faults CLEANUP(text_done) = {0};
	struct err err = {0};

	read_call(&look, &faults);
	if (faults.len) {
		output_say_lines(&faults);
		return EXIT_WRONG_USE;
	}
	if (look.endpoint.is_tls && !edition)
		return go_on_as_other_program(options);
	return begin(&look, &err) < 0 ? output_fail(&err) : look.exit_code;
}
