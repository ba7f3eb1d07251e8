/* The asker of http/asker.h with TLS, over libcurl. The server is trusted by its pin, or else by
 * the system's authorities. Only programs that link libcurl have this file. */
#pragma once

#include "http/asker.h"

/* An http_asker_new_fn. Returns ERR_UNSUPPORTED like http_client_new. */
int https_asker_new(struct loop *loop, const struct http_asker_settings *settings,
		    struct http_asker **ret_asker, struct err *err) MUST_USE;
