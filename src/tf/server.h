/* A TensorFlow server in this process. It cannot be stopped (TF_ServerStop is not implemented for
 * gRPC): end the process. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "base/text.h"
#include "tf/library.h"

/* Makes a server of the bytes of a ServerDef, which has that protocol, and starts it; from then on
 * it serves. *ret_target is where clients find it ("grpc://localhost:2222"); it lives as long as
 * the process. ERR_UNSUPPORTED when the library has no server for that protocol; ERR_REFUSED with
 * TensorFlow's own words. */
int server_start(const struct library *library, const struct text *server_def, const char *protocol,
		 const char **ret_target, struct err *err) MUST_USE;
