/* The headers by which a login shows itself, and the list that they are sent in. Pure. */
#pragma once

#include "base/own.h"
#include "kube/login.h"

#include <stddef.h>

/* "Name: value" each; `lines` ends with NULL, as http/request.h wants it. Zero it to begin. */
struct kube_headers {
	char **lines;
	size_t n_lines, capacity;
};

void kube_headers_add(struct kube_headers *headers, const char *name, const char *value);
/* The user who calls, and the one whom the server is to take the caller for. */
void kube_headers_add_login(struct kube_headers *headers, const struct kube_login *login);
/* Overwrites and frees them. */
void kube_headers_done(struct kube_headers *headers);

/* The text of a `Warning` header (RFC 7234: `299 - "text"`), unquoted; NULL where it is none.
 * Caller frees. */
char *kube_warning_text(const char *value) MUST_USE;
