#include "cli/rendezvous_asker.h"

#include "base/exit_code.h"
#include "base/mem.h"
#include "cli/cluster_support.h"
#include "cli/exec_kubernetes.h"
#include "command/output.h"
#include "io/loop.h"
#include "io/network_address.h"

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
	const char *sentence = json_as_string(json_get(answer, "error"), NULL);
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
