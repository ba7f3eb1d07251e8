#include "cli/elastic_status.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/names.h"
#include "cli/elastic_text.h"
#include "cli/rendezvous_asker.h"
#include "cli/watch.h"
#include "command/command.h"
#include "command/output.h"
#include "io/terminal.h"

#include <stdlib.h>
#include <unistd.h>

struct look {
	const struct options *options;
	struct rendezvous_asker asker;
	const char *job; /* NULL: all of them */
	struct text last; /* the last output */
};

static void elastic_status_done(struct look *look)
{
	rendezvous_asker_done(&look->asker);
	text_done(&look->last);
}

static void request_elastic_status(void *data)
{
	struct look *look = data;

	if (look->job)
		rendezvous_asker_read(&look->asker, look->job);
	else
		rendezvous_asker_request(&look->asker, "/v1/jobs", NULL, 0);
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

static void show_elastic_status(struct look *look, const struct json *object)
{
	bool is_watched = option_flag(look->options, "watch");

	if (!is_watched)
		show_once(look, object);
	if (!is_watched || show_again(look, object))
		rendezvous_asker_end(&look->asker, EXIT_DONE);
	else
		rendezvous_asker_again(&look->asker);
}

static void on_elastic_status_answer(int status, const struct json *answer, void *data)
{
	struct look *look = data;

	if (status == 200 && answer)
		show_elastic_status(look, answer);
	else
		rendezvous_asker_refuse(&look->asker, status, answer);
}

/* Reads the command line. */
static void read_elastic_call(struct look *look, struct text *faults)
{
	size_t count;
	const char *const *arguments = options_arguments(look->options, &count);
	const char *format = option_text(look->options, "output");
	bool is_watched = option_flag(look->options, "watch");

	rendezvous_endpoint_read(option_text(look->options, "rdzv-endpoint"), &look->asker.endpoint,
				 faults);
	rendezvous_endpoint_read_trust(look->options, false, &look->asker.endpoint, faults);
	look->job = count ? arguments[0] : NULL;
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
	struct look look CLEANUP(elastic_status_done) = {.options = options};
	struct text faults CLEANUP(text_done) = {0};

	look.asker.ask = request_elastic_status;
	look.asker.on_answer = on_elastic_status_answer;
	look.asker.data = &look;
	read_elastic_call(&look, &faults);
	return rendezvous_asker_run(&look.asker, options, &faults);
}
