/* Handles the end of a try: starts another try or ends the call. */
#pragma once

#include "kube/api_calls.h"

/* Callbacks for http_request and websocket_request; `data` is the call. */
void kube_call_end_try(const struct http_answer *answer, const struct err *err, void *data);
void kube_call_end_socket(const struct websocket_end *end, const struct err *err, void *data);
