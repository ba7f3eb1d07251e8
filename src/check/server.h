/* The address of an existing server, as users write it. */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"

struct check_server {
	const char *url; /* "grpc://[::1]:2222": as TensorFlow takes it */
	const char *place; /* "[::1]:2222" */
	const char *host; /* "::1" */
	int port;
};

/* Reads "grpc://host:2222", with or without "grpc://". Texts are in the arena. Returns ERR_INVALID
 * with the fault. */
int check_server_read(const char *text, struct arena *arena, struct check_server *ret_server,
		      struct err *err) MUST_USE;

/* Reads "grpc://a:1,grpc://b:2", each server once. Each word that is no address adds a line to
 * `faults`, which begins with `before`. */
struct check_server *check_servers_read(const char *list, struct arena *arena, const char *before,
					struct text *faults, size_t *ret_count) MUST_USE;
