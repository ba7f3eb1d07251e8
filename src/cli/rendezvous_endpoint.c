#include "cli/rendezvous_endpoint.h"

#include "base/exit_code.h"
#include "base/mem.h"
#include "cli/cluster_support.h"
#include "cli/kubernetes_program.h"
#include "command/input.h"
#include "command/output.h"
#include "io/network_address.h"
#include "rendezvous/json.h"
#include "spec/cluster_spec.h"

#include <ctype.h>
#include <inttypes.h>

#define ANSWER_LIMIT ((size_t) 64 * 1024 * 1024) /* for the most jobs and members of a server */
#define PAUSE (MSEC_PER_SECOND / 20) /* between an answer and the next request, which is held */
#define PERIOD MSEC_PER_SECOND /* between requests that the server does not hold */
#define PATIENCE (30 * MSEC_PER_SECOND)

void rendezvous_asker_done(struct rendezvous_asker *asker)
{
	if (asker->asker)
		asker->asker->functions->free(asker->asker);
	loop_watch_free(asker->timer);
	if (asker->loop)
		loop_free(asker->loop);
	rendezvous_endpoint_done(&asker->endpoint);
}

void rendezvous_asker_request(struct rendezvous_asker *asker, const char *path, const void *body,
			      size_t len)
{
	asker->asker->functions->ask(asker->asker, path, body, len);
}

void rendezvous_asker_read(struct rendezvous_asker *asker, const char *job)
{
	char *path CLEANUP(mem_free_text) =
		asker->revision ? mem_format("/v1/jobs/%s?after=%" PRId64, job, asker->revision)
				: mem_format("/v1/jobs/%s", job);

	rendezvous_asker_request(asker, path, NULL, 0);
}

void rendezvous_asker_again(struct rendezvous_asker *asker)
{
	loop_timer_arm_after(asker->timer, asker->revision ? PAUSE : PERIOD);
}

void rendezvous_asker_end(struct rendezvous_asker *asker, int exit_code)
{
	asker->exit_code = exit_code;
	loop_stop(asker->loop);
}

void rendezvous_asker_refuse(struct rendezvous_asker *asker, int status, const struct json *answer)
{
	const char *sentence = json_get_string(answer, "error", NULL);
	struct err err;

	if (status == 401)
		err_set(&err, ERR_REFUSED, "the server %s: %s",
			asker->endpoint.token ? "has another token" : "needs its token",
			asker->endpoint.token_advice);
	else if (sentence)
		err_set(&err, status == 404 ? ERR_NOT_FOUND : ERR_IO, "%s", sentence);
	else
		err_set(&err, ERR_IO, "no rendezvous server of muster is at %s port %d",
			asker->endpoint.host, asker->endpoint.port);
	rendezvous_asker_end(asker, output_fail(&err));
}

/* A server that was reachable may return; its jobs continue meanwhile. */
static void handle_asker_call_lost(struct rendezvous_asker *asker, const struct err *err)
{
	if (!asker->has_answer) {
		rendezvous_asker_end(asker, output_fail(err));
		return;
	}
	instant now = loop_monotonic_now();

	if (!instant_is_set(asker->lost_at)) {
		output_print_message("%s; muster tries again", err->text);
		asker->lost_at = now;
	} else if (asker->patience && instant_since(asker->lost_at, now) >= asker->patience) {
		rendezvous_asker_end(asker, output_fail(err));
		return;
	}
	asker->revision = 0;
	rendezvous_asker_again(asker);
}

static void on_rendezvous_answer(int status, const void *bytes, size_t len, const struct err *err,
				 void *data)
{
	struct rendezvous_asker *asker = data;
	struct json *answer CLEANUP(json_cleanup) = NULL;

	if (!status) {
		handle_asker_call_lost(asker, err);
		return;
	}
	asker->has_answer = true;
	asker->lost_at = INSTANT_UNSET;
	(void) !json_read(bytes ? bytes : "", len, &answer, NULL);
	asker->revision = json_as_integer(json_get(answer, "revision"), 0);
	asker->on_answer(status, answer, asker->data);
}

static int start_rendezvous_asker(struct rendezvous_asker *asker, struct err *err)
{
	char *address CLEANUP(mem_free_text) = NULL, *own CLEANUP(mem_free_text) = NULL;
	const struct rendezvous_endpoint *endpoint = &asker->endpoint;
	http_asker_new_fn new_asker =
		endpoint->is_tls ? cluster_support->new_asker : http_asker_new;
	int rc = own_host_towards(endpoint->host, endpoint->port, &address, &own, err);

	if (rc == 0)
		rc = loop_new(&asker->loop, err);
	if (rc < 0)
		return rc;
	const struct http_asker_settings settings = {
		.host = endpoint->host,
		.address = address,
		.port = endpoint->port,
		.token = endpoint->token,
		.pin = endpoint->pin,
		.pin_advice = endpoint->has_token_key ? endpoint->token_advice : NULL,
		.answer_limit = ANSWER_LIMIT,
		.patience = PATIENCE,
		.on_answer = on_rendezvous_answer,
		.data = asker,
	};

	asker->timer = loop_new_timer(asker->loop, asker->ask, asker->data);
	return new_asker(asker->loop, &settings, &asker->asker, err);
}

int rendezvous_asker_run(struct rendezvous_asker *asker, const struct options *options,
			 struct text *faults)
{
	struct err err = {0};

	if (faults->len) {
		output_print_messages(faults);
		return EXIT_USAGE;
	}
	if (asker->endpoint.is_tls && !cluster_support)
		return exec_kubernetes_program(options);
	if (start_rendezvous_asker(asker, &err) < 0)
		return output_fail(&err);
	loop_timer_arm_after(asker->timer, 0);
	loop_run(asker->loop);
	return asker->exit_code;
}

#define HTTPS "https://"
#define PIN "sha256//"

void rendezvous_endpoint_done(struct rendezvous_endpoint *endpoint)
{
	free(endpoint->host);
	free(endpoint->pin);
	mem_free_secret(&endpoint->token);
	free(endpoint->token_advice);
}

static const char *rendezvous_variable(const char *name)
{
	char *variable CLEANUP(mem_free_text) = mem_format("PET_%s", name);

	for (char *at = variable; *at; at++)
		*at = *at == '-' ? '_' : (char) toupper((unsigned char) *at);
	return getenv(variable);
}

const char *rendezvous_option(const struct options *options, const char *name)
{
	const char *value = option_text(options, name);

	return value ? value : rendezvous_variable(name);
}

bool rendezvous_flag(const struct options *options, const char *name)
{
	if (option_is_given(options, name))
		return option_flag(options, name);
	const char *value = rendezvous_variable(name);

	return value && *value && !text_equals(value, "0");
}

void rendezvous_endpoint_read(const char *word, struct rendezvous_endpoint *endpoint,
			      struct text *faults)
{
	bool is_tls = text_starts_with(word, HTTPS);
	const char *host = is_tls ? word + strlen(HTTPS) : word;
	const char *bracket = strchr(host, ']');
	const char *colon = strchr(bracket ? bracket : host, ':');
	bool has_port = colon && !strchr(colon + 1, ':'); /* else it is an IPv6 address */
	char *with_port CLEANUP(mem_free_text) = mem_format("%s:%d", host, MEMBER_PORT);
	const char *address = has_port ? host : with_port;
	size_t offset;
	const char *fault = address_fault(address, &offset);

	if (fault) {
		text_addf(faults, "--rdzv-endpoint: '%s': %s\n", word, fault);
		return;
	}
	endpoint->host = address_host(address);
	endpoint->port = address_port(address);
	endpoint->is_tls |= is_tls;
}

static bool is_insecure(const struct options *options)
{
	return rendezvous_flag(options, "insecure") &&
	       !rendezvous_option(options, "rdzv-token-file");
}

/* Only a server with this host needs a token. One that an authority signed may be anyone's: it does
 * not get the user's own. */
static int read_endpoint_token(const struct options *options, bool creates,
			       struct rendezvous_endpoint *endpoint, struct err *err)
{
	const char *path = rendezvous_option(options, "rdzv-token-file");

	if (path) {
		endpoint->token_advice =
			mem_copy_text("give that of the server: --rdzv-token-file");
		return user_token_read_file(path, &endpoint->token, err) < 0
			       ? err_prefix(err, "--rdzv-token-file")
			       : 0;
	}
	bool is_known_by_authority = endpoint->is_tls && !endpoint->pin;

	if (endpoint->host && !is_insecure(options) && !is_known_by_authority) {
		char *own CLEANUP(mem_free_text) = user_token_path();

		endpoint->token_advice = mem_format(
			"copy the token of the server's user (~/.config/muster/token there) to "
			"'%s', or use the same --rdzv-token-file on all machines, or --insecure",
			own ? own : "~/.config/muster/token");
		return user_token_read(creates, &endpoint->token, err);
	}
	endpoint->token_advice = mem_copy_text(is_known_by_authority ? "give it: --rdzv-token-file"
								     : "do not use --insecure");
	return 0;
}

/* Every process that knows the token knows its key. */
static int make_token_key(struct rendezvous_endpoint *endpoint, struct err *err)
{
	if (endpoint->pin)
		return err_set(err, ERR_INVALID, "--rdzv-tls: cannot be used with --rdzv-pin");
	if (!endpoint->token)
		return err_set(err, ERR_INVALID, "TLS needs a token: %s", endpoint->token_advice);
	endpoint->is_tls = endpoint->has_token_key = true;
	if (cluster_support)
		endpoint->pin = cluster_support->pin_of_token(endpoint->token);
	return input_check_key_secret(endpoint->token, "--rdzv-token-file", err);
}

void rendezvous_endpoint_read_trust(const struct options *options, bool creates,
				    struct rendezvous_endpoint *endpoint, struct text *faults)
{
	const char *pin = rendezvous_option(options, "rdzv-pin");
	bool wants_token_key = rendezvous_flag(options, "rdzv-tls");
	struct err err;

	if (pin && !text_starts_with(pin, PIN))
		text_addf(faults, "--rdzv-pin: '%s' is not a pin (expected " PIN "...)\n", pin);
	endpoint->pin = mem_copy_text(pin);
	endpoint->is_tls |= pin != NULL;
	int rc = read_endpoint_token(options, creates, endpoint, &err);

	if (rc == 0 && endpoint->host && !endpoint->is_tls && !is_insecure(options))
		wants_token_key |= !network_address_names_loopback(endpoint->host);
	if (rc == 0 && endpoint->host && wants_token_key)
		rc = make_token_key(endpoint, &err);
	if (rc < 0)
		text_addf(faults, "%s\n", err.text);
	else if (endpoint->token &&
		 (cluster_support || !endpoint->is_tls)) /* else it is read again */
		user_token_warn_if_shared(rendezvous_option(options, "rdzv-token-file"));
}
