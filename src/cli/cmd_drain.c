/* muster drain: asks machines to leave their elastic job, and waits until they have left. */
#include "base/mem.h"
#include "base/names.h"
#include "cli/commands.h"
#include "cli/rendezvous_endpoint.h"

#include <inttypes.h>

#define PATIENCE (10 * MSEC_PER_SECOND)

struct drain {
	const struct options *options;
	struct rendezvous_asker asker;
	const char *job;
	const char *const *machines; /* ends with NULL */
	struct json *leaving; /* their members; NULL: not asked yet */
};

static void drain_done(struct drain *drain)
{
	rendezvous_asker_done(&drain->asker);
	json_free(drain->leaving);
}

static void send_drain_request(void *data)
{
	struct drain *drain = data;
	char *path CLEANUP(mem_free_text) = mem_format("/v1/jobs/%s/drain", drain->job);
	struct json *body CLEANUP(json_cleanup) = json_new_object();
	struct text text CLEANUP(text_done) = {0};

	if (drain->leaving) {
		rendezvous_asker_read(&drain->asker, drain->job);
		return;
	}
	for (size_t i = 0; drain->machines[i]; i++)
		json_append(json_array_at(body, "machines"), json_new_string(drain->machines[i]));
	json_add_compact(&text, body);
	rendezvous_asker_request(&drain->asker, path, text_of(&text), text.len);
}

/* "10.0.0.2 (machine 1)" */
static void print_drain_member(const struct drain *drain, const struct json *member,
			       const char *what)
{
	const char *id = json_get_string(member, "id", "");
	const char *host = json_get_string(member, "host", id);
	const struct json *rank = json_get(member, "rank");

	if (rank)
		output_print_message("%s (machine %" PRId64 ") %s job '%s'", host,
				     json_as_integer(rank, 0), what, drain->job);
	else
		output_print_message("%s %s job '%s'", host, what, drain->job);
}

/* Without a pause: an agent that runs the server exits with the last machine, after it has
 * answered. */
static void read_on(struct drain *drain)
{
	if (drain->asker.revision)
		rendezvous_asker_read(&drain->asker, drain->job);
	else
		rendezvous_asker_again(&drain->asker);
}

static bool is_among(const struct json *members, const struct json *member)
{
	const char *id = json_get_string(member, "id", "");

	for (size_t i = 0; i < json_count(members); i++)
		if (text_equals(json_get_string(json_at(members, i), "id", NULL), id))
			return true;
	return false;
}

static void print_left_members(struct drain *drain, const struct json *members)
{
	struct json *left CLEANUP(json_cleanup) = drain->leaving;

	drain->leaving = json_new_array();
	for (size_t i = 0; i < json_count(left); i++) {
		struct json *member = json_at(left, i);

		if (is_among(members, member))
			json_append(drain->leaving, json_ref(member));
		else
			print_drain_member(drain, member, "has left");
	}
	if (json_count(drain->leaving))
		read_on(drain);
	else
		rendezvous_asker_end(&drain->asker, EXIT_DONE);
}

static void on_drain_answer(int status, const struct json *answer, void *data)
{
	struct drain *drain = data;
	struct json *members = json_get(answer, "members");

	if (status == 404 && drain->leaving) { /* the job has ended, and was deleted */
		print_left_members(drain, NULL);
	} else if (status != 200 || !json_is(members, JSON_ARRAY)) {
		rendezvous_asker_refuse(&drain->asker, status, answer);
	} else if (drain->leaving) {
		print_left_members(drain, members);
	} else {
		drain->leaving = json_ref(members);
		for (size_t i = 0; i < json_count(members); i++)
			print_drain_member(drain, json_at(members, i), "is leaving");
		if (option_flag(drain->options, "wait"))
			read_on(drain);
		else
			rendezvous_asker_end(&drain->asker, EXIT_DONE);
	}
}

static void read_drain_call(struct drain *drain, struct text *faults)
{
	const struct options *options = drain->options;
	const char *endpoint = rendezvous_option(options, "rdzv-endpoint");
	const char *const *arguments = options_arguments(options);

	drain->job = arguments[0];
	drain->machines = arguments + 1;
	if (endpoint)
		rendezvous_endpoint_read(endpoint, &drain->asker.endpoint, faults);
	else
		text_add(faults, "missing --rdzv-endpoint, the address of the rendezvous server\n");
	rendezvous_endpoint_read_trust(options, false, &drain->asker.endpoint, faults);
	if (!(*drain->job && name_is_label_value(drain->job)))
		text_addf(faults, "'%s' is not the id of a job\n", drain->job);
}

static int drain_run(const struct options *options)
{
	struct drain drain CLEANUP(drain_done) = {.options = options};
	struct text faults CLEANUP(text_done) = {0};

	drain.asker.ask = send_drain_request;
	drain.asker.on_answer = on_drain_answer;
	drain.asker.data = &drain;
	drain.asker.patience = PATIENCE;
	read_drain_call(&drain, &faults);
	return rendezvous_asker_run(&drain.asker, options, &faults);
}

static const struct option_row rows_of_drain[] = {
	OPTION("rdzv-endpoint", TEXT, "HOST[:PORT]", NULL, "rendezvous server of the job"),
	RENDEZVOUS_TRUST_ROWS,
	OPTION("wait", FLAG, NULL, "true",
	       "wait until the machines have left (--no-wait: return immediately)"),
	{0},
};

const struct command command_drain = {
	.name = "drain",
	.group = "Change",
	.arguments = "[OPTIONS] RDZV-ID MACHINE...",
	.one_line = "let machines save and leave an elastic job",
	.examples = "  muster drain --rdzv-endpoint 10.0.0.1 digits 10.0.0.3\n"
		    "  muster drain --rdzv-endpoint 10.0.0.1 --no-wait digits 10.0.0.3 10.0.0.4\n",
	.options = rows_of_drain,
	.least_arguments = 2,
	.most_arguments = COMMAND_ANY_NUMBER,
	.run = drain_run,
};
