#include "http/asker.h"

#include "base/mem.h"
#include "http/client.h"

#include <string.h>

struct secure_asker {
	struct http_asker base; /* first member, so that both pointers are equal */
	struct http_asker_settings settings;
	char *origin; /* "https://host:port" */
	char *authorization; /* header; NULL: none */
	struct http_trust *trust;
	struct http_client *client;
	struct http_call *call; /* current; NULL: none */
	char *body; /* of the current call */
};

static void on_secure_request_done(const struct http_answer *answer, const struct err *err,
				   void *data)
{
	struct secure_asker *asker = data;
	const struct http_asker_settings *settings = &asker->settings;

	struct err advised;

	asker->call = NULL;
	if (err && err->code == ERR_REFUSED && settings->pin_advice) {
		err_set(&advised, err->code, "%s; %s", err->text, settings->pin_advice);
		err = &advised;
	}
	if (err)
		settings->on_answer(0, NULL, 0, err, settings->data);
	else
		settings->on_answer(answer->status, answer->body, answer->body_len, NULL,
				    settings->data);
}

static void secure_asker_ask(struct http_asker *base, const char *path, const void *body,
			     size_t len)
{
	struct secure_asker *asker = (struct secure_asker *) base;
	char *url CLEANUP(mem_free_text) = mem_format("%s%s", asker->origin, path);
	const char *const headers[] = {"Content-Type: application/json", asker->authorization,
				       NULL};
	char *copy = body ? mem_copy_bytes(body, len) : NULL;
	const struct http_request request = {
		.method = body ? "POST" : "GET",
		.url = url,
		.headers = headers,
		.body = copy,
		.body_len = len,
		.trust = asker->trust,
		.proxy = "", /* no proxy, as without TLS */
		.on_done = on_secure_request_done,
		.data = asker,
		.limit = asker->settings.answer_limit,
		.connect_timeout = asker->settings.patience,
		.timeout = asker->settings.patience,
	};

	http_call_cancel(TAKE(asker->call));
	free(asker->body);
	asker->body = copy;
	asker->call = http_call_new(asker->client, &request);
}

static void secure_asker_free(struct http_asker *base)
{
	struct secure_asker *asker = (struct secure_asker *) base;

	http_client_free(asker->client);
	http_trust_free(asker->trust);
	mem_free_secret(&asker->authorization);
	free(asker->origin);
	free(asker->body);
	free(asker);
}

int https_asker_new(struct loop *loop, const struct http_asker_settings *settings,
		    struct http_asker **ret_asker, struct err *err)
{
	static const struct http_asker_functions functions = {secure_asker_ask, secure_asker_free};
	const struct http_trust trust = {.pin = settings->pin};
	struct http_client *client;
	int rc = http_client_new(loop, "muster/" MUSTER_VERSION, &client, err);

	if (rc < 0)
		return rc;
	struct secure_asker *asker = mem_new(sizeof(*asker));

	asker->base.functions = &functions;
	asker->settings = *settings;
	asker->client = client;
	asker->trust = http_trust_new(&trust);
	asker->origin =
		mem_format(strchr(settings->host, ':') ? "https://[%s]:%d" : "https://%s:%d",
			   settings->host, settings->port);
	if (settings->token)
		asker->authorization = mem_format("Authorization: Bearer %s", settings->token);
	*ret_asker = &asker->base;
	return 0;
}
