/* Asks the rendezvous server that a command line names. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/own.h"
#include "cli/rendezvous_endpoint.h"
#include "io/http_asker.h"

/* `edition` is there if the endpoint has TLS (cli/edition.h). */
int rendezvous_asker_new(struct loop *loop, const struct rendezvous_endpoint *endpoint,
			 http_asker_fn on_answer, void *data, struct http_asker **ret_asker,
			 struct err *err) MUST_USE;

/* What an answer with another status than 200 says: the server's own sentence where there is one.
 */
int rendezvous_asker_refusal(const struct rendezvous_endpoint *endpoint, int status,
			     const struct json *answer, struct err *err);
