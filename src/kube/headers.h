/* The HTTP headers that carry a login, and the list that they are sent in. Pure. */
#pragma once

#include "base/own.h"
#include "kube/login.h"

#include <stddef.h>

/* Each is "Name: value"; `lines` ends with NULL, as http/request.h wants it. Zero it to begin. */
struct kube_headers {
	char **lines;
	size_t n_lines, capacity;
};

void kube_headers_add(struct kube_headers *headers, const char *name, const char *value);
/* Adds the credential of the caller, and the impersonated user. */
void kube_headers_add_login(struct kube_headers *headers, const struct kube_login *login);
/* Overwrites and frees the headers. */
void kube_headers_done(struct kube_headers *headers);

/* The unquoted text of a `Warning` header (RFC 7234: `299 - "text"`); NULL if it is malformed.
 * Caller frees. */
char *kube_warning_text(const char *value) MUST_USE;
