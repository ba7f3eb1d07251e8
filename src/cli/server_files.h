/* The files of a server of ours, which need libcrypto: only muster-kubernetes has these. */
#pragma once

#include "cli/server_access.h"

/* Reads a token, or the hash of one. The errors of input_read_secret, and ERR_INVALID. */
int server_files_read_token(const char *path, struct server_access *access,
			    struct err *err) MUST_USE;
/* Reads tls.crt and tls.key, the names in a Secret of type kubernetes.io/tls, and creates them if
 * they are missing. */
int server_files_open_tls(const char *folder, struct server_access *access,
			  struct err *err) MUST_USE;
/* --make-token: writes a new token to a file, and its hash to FILE.hash; both are new files for
 * this user alone. A path that ends in .hash names the second file. Returns the exit code. */
int server_files_create_token(const char *path);
