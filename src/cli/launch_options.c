#include "cli/launch_options.h"

#include "base/mem.h"
#include "base/names.h"
#include "io/cores.h"
#include "spec/limits.h"

#include <string.h>

#define JOIN_TIME (600 * MSEC_PER_SECOND) /* torchrun's join_timeout */
#define LAST_CALL (1 * MSEC_PER_SECOND) /* torchrun waits for 30 s */
#define MAX_NO_PROGRESS 3 /* failures in a row without progress */
#define LONGEST_CONF 1000000 /* seconds */
#define MASTER_PORT "29500" /* torchrun's default for a static rendezvous */

void launch_done(struct launch *launch)
{
	rendezvous_endpoint_done(&launch->endpoint);
}

/* False, and a fault, when it is not a number of that range. */
static bool read_launch_number(const char *name, const char *word, int low, int high,
			       int *ret_number, struct text *faults)
{
	int64_t number = 0;
	struct err err;

	if (text_read_int(word, low, high, &number, &err) < 0) {
		text_addf(faults, "--%s: %s\n", name, err.text);
		return false;
	}
	*ret_number = (int) number;
	return true;
}

static void read_count(const struct options *options, const char *name, int low, int high,
		       int *number, struct text *faults)
{
	const char *word = rendezvous_option(options, name);

	if (word)
		(void) read_launch_number(name, word, low, high, number, faults);
}

static void read_machines(const struct options *options, struct member_terms *terms,
			  struct text *faults)
{
	const char *word = rendezvous_option(options, "nnodes");
	const char *colon = word ? strchr(word, ':') : NULL;

	if (!word)
		return;
	char *least CLEANUP(mem_free_text) =
		mem_copy_bytes(word, colon ? (size_t) (colon - word) : strlen(word));

	if (read_launch_number("nnodes", least, 1, LIMIT_MEMBERS, &terms->min, faults))
		terms->max = terms->min;
	if (colon)
		(void) read_launch_number("nnodes", colon + 1, 1, LIMIT_MEMBERS, &terms->max,
					  faults);
}

static void read_restarts(const struct options *options, struct restart_terms *terms,
			  struct text *faults)
{
	terms->max_no_progress = MAX_NO_PROGRESS;
	terms->window = option_duration(options, "restart-window", 0);
	read_count(options, "max-restarts", -1, LIMIT_RESTARTS, &terms->most, faults);
	read_count(options, "max-no-progress", 0, LIMIT_RESTARTS, &terms->max_no_progress, faults);
	if (terms->window && terms->most > LIMIT_TIMED_RESTARTS)
		text_addf(faults, "--restart-window: needs --max-restarts of at most %d\n",
			  LIMIT_TIMED_RESTARTS);
}

static void read_processes(const struct options *options, const struct gpus *gpus, int *count,
			   struct text *faults)
{
	const char *word = rendezvous_option(options, "nproc-per-node");
	int n_gpus = (int) gpus->count;

	*count = 1;
	if (!word)
		return;
	if (text_equals(word, "cpu"))
		*count = cores_count();
	else if (text_equals(word, "gpu") && n_gpus == 0)
		text_add(faults, "--nproc-per-node gpu: this machine has no GPU\n");
	else if (text_equals(word, "gpu") || text_equals(word, "auto"))
		*count = n_gpus ? n_gpus : cores_count();
	else
		(void) read_launch_number("nproc-per-node", word, 1, LIMIT_PROCESSES, count,
					  faults);
}

/* As Python reads it for torchrun. */
static bool is_false(const char *value)
{
	return text_equals(value, "0") || text_equals(value, "false") ||
	       text_equals(value, "False");
}

static void read_pair(const char *key, const char *value, struct launch *launch,
		      struct text *faults)
{
	struct member_terms *terms = &launch->terms;
	bool is_join = text_equals(key, "join_timeout") || text_equals(key, "timeout");
	bool is_last_call = text_equals(key, "last_call_timeout");
	int seconds = 0;

	if (text_equals(key, "is_host"))
		launch->never_serves = is_false(value);
	/* Settings of torchrun's store have no effect. */
	if (!(is_join || is_last_call) ||
	    !read_launch_number("rdzv-conf", value, 0, LONGEST_CONF, &seconds, faults))
		return;
	*(is_join ? &terms->join_time : &terms->last_call) = seconds * MSEC_PER_SECOND;
}

static void read_conf(const struct options *options, struct launch *launch, struct text *faults)
{
	const char *word = rendezvous_option(options, "rdzv-conf");
	char *pairs CLEANUP(mem_free_text) = mem_copy_text(word ? word : "");
	char *rest = pairs, *pair;

	while ((pair = strsep(&rest, ","))) {
		char *value = strchr(pair, '=');

		if (!*pair)
			continue;
		if (!value) {
			text_addf(faults, "--rdzv-conf: '%s' is not KEY=VALUE\n", pair);
			continue;
		}
		*value++ = '\0';
		read_pair(pair, value, launch, faults);
	}
}

/* torchrun's options for its static rendezvous; NULL: none of them was given. */
static char *master_of(const struct options *options)
{
	const char *host = rendezvous_option(options, "master-addr"),
		   *port = rendezvous_option(options, "master-port");

	if (!host && !port)
		return NULL;
	return mem_format("%s:%s", host ? host : "127.0.0.1", port ? port : MASTER_PORT);
}

/* "localhost:0" is torchrun's endpoint for a single machine. */
static bool is_placeholder_endpoint(const char *endpoint)
{
	return !*endpoint || text_equals(endpoint, "localhost:0") ||
	       text_equals(endpoint, "127.0.0.1:0");
}

static void read_endpoint(const struct options *options, struct launch *launch, struct text *faults)
{
	char *master CLEANUP(mem_free_text) = master_of(options);
	const char *said = rendezvous_option(options, "rdzv-endpoint");
	bool has_said = said && *said;
	const char *word = has_said ? said : master;

	/* A single machine needs no endpoint; torchrun makes one up as well. */
	if (!word || is_placeholder_endpoint(word) || rendezvous_flag(options, "standalone") ||
	    (!has_said && launch->terms.max == 1))
		return;
	rendezvous_endpoint_read(word, &launch->endpoint, faults);
}

static void check_backend(const struct options *options, struct text *faults)
{
	const char *word = rendezvous_option(options, "rdzv-backend");

	if (word && !text_equals(word, "c10d") && !text_equals(word, "static"))
		text_addf(faults,
			  "--rdzv-backend: '%s' is not supported; use c10d, which needs no other "
			  "program\n",
			  word);
}

static void check_meeting(const struct launch *launch, struct text *faults)
{
	if (!launch->endpoint.host && launch->terms.max > 1)
		text_add(faults, "missing --rdzv-endpoint, the address of the rendezvous server\n");
	if (launch->own_port && launch->n_processes > 1)
		text_add(faults, "--local-port: is the port of one process, but --nproc-per-node "
				 "starts more\n");
	if (launch->job_id && (!*launch->job_id || !name_is_label_value(launch->job_id)))
		text_addf(faults,
			  "--rdzv-id: '%s' is not an id (expected 1 to 63 letters, digits, '-', "
			  "'_' and '.')\n",
			  launch->job_id);
}

void launch_read(const struct options *options, const struct gpus *gpus, struct launch *launch,
		 struct text *faults)
{
	*launch = (struct launch){
		.terms = {.min = 1,
			  .max = 1,
			  .unit = 1,
			  .join_time = JOIN_TIME,
			  .last_call = LAST_CALL},
		.job_id = rendezvous_option(options, "rdzv-id"),
		.own_address = rendezvous_option(options, "local-addr"),
		.role_name = rendezvous_option(options, "role"),
		.is_module = rendezvous_flag(options, "module"),
		.is_program = rendezvous_flag(options, "no-python"),
	};
	read_machines(options, &launch->terms, faults);
	read_processes(options, gpus, &launch->n_processes, faults);
	if (!launch->role_name)
		launch->role_name = "default";
	read_count(options, "node-rank", 0, LIMIT_MEMBERS - 1, &launch->node_rank, faults);
	read_count(options, "node-unit", 1, LIMIT_MEMBERS, &launch->terms.unit, faults);
	read_restarts(options, &launch->terms.restarts, faults);
	read_count(options, "local-port", 1, 65535, &launch->own_port, faults);
	read_conf(options, launch, faults);
	read_endpoint(options, launch, faults);
	rendezvous_endpoint_read_trust(options, true, &launch->endpoint, faults);
	launch->is_alone = !launch->endpoint.host;
	launch->endpoint.is_tls &= !launch->is_alone;
	launch->never_serves |= launch->endpoint.is_tls && !launch->endpoint.has_token_key;
	check_backend(options, faults);
	check_meeting(launch, faults);
	if (!faults->len && member_terms_fault(&launch->terms))
		text_addf(faults, "--nnodes: %s\n", member_terms_fault(&launch->terms));
}
