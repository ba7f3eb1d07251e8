#include "cli/rendezvous_asker.h"

#include "base/mem.h"
#include "cli/edition.h"
#include "io/own_host.h"

#define ANSWER_LIMIT ((size_t) 64 * 1024 * 1024) /* of a server with the most jobs and members */
#define PATIENCE (30 * MSEC_PER_SECOND)

int rendezvous_asker_new(struct loop *loop, const struct rendezvous_endpoint *endpoint,
			 http_asker_fn on_answer, void *data, struct http_asker **ret_asker,
			 struct err *err)
{
	char *address CLEANUP(mem_free_text) = NULL, *own CLEANUP(mem_free_text) = NULL;
	http_asker_new_fn new_asker = endpoint->is_tls ? edition->new_asker : http_asker_new;
	int rc = own_host_towards(endpoint->host, endpoint->port, &address, &own, err);

	if (rc < 0)
		return rc;
	const struct http_asker_settings settings = {
		.host = endpoint->host,
		.address = address,
		.port = endpoint->port,
		.token = endpoint->token,
		.pin = endpoint->pin,
		.answer_limit = ANSWER_LIMIT,
		.patience = PATIENCE,
		.on_answer = on_answer,
		.data = data,
	};

	return new_asker(loop, &settings, ret_asker, err);
}

int rendezvous_asker_refusal(const struct rendezvous_endpoint *endpoint, int status,
			     const struct json *answer, struct err *err)
{
	const char *sentence = json_as_string(json_get(answer, "error"), NULL);

	if (status == 401)
		return err_set(err, ERR_REFUSED, "the server needs its token: --rdzv-token-file");
	if (sentence)
		return err_set(err, status == 404 ? ERR_NOT_FOUND : ERR_IO, "%s", sentence);
	return err_set(err, ERR_IO, "no rendezvous server of muster is at %s port %d",
		       endpoint->host, endpoint->port);
}
