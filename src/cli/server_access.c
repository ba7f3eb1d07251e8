#include "cli/server_access.h"

#include "base/mem.h"
#include "cli/cluster_support.h"
#include "command/input.h"
#include "http/listening.h"

void server_access_done(struct server_access *access)
{
	if (access->tls)
		cluster_support->free_tls(access->tls);
	mem_free_secret(&access->token);
	free(access->pin);
}

static bool is_for_anyone(const struct options *options)
{
	return option_flag(options, "insecure") && !option_text(options, "token-file");
}

bool server_access_needs_other_program(const struct options *options, int fd)
{
	return option_text(options, "token-file") || option_text(options, "tls-dir") ||
	       (!listening_is_loopback(fd) && !is_for_anyone(options));
}

static int read_access_token(const struct options *options, struct server_access *access,
			     struct err *err)
{
	const char *path = option_text(options, "token-file");
	int rc = 0;

	if (path)
		rc = cluster_support->read_token(path, access, err);
	else if (!is_for_anyone(options))
		rc = user_token_read(true, &access->token, err);
	if (access->token) {
		user_token_warn_if_shared(path);
		access->access = (struct http_access){http_is_same_secret, access->token, NULL};
	}
	return rc;
}

static int make_tls_of_token(const struct options *options, struct server_access *access,
			     struct err *err)
{
	const char *path = option_text(options, "token-file");

	if (!access->token)
		return err_set(err, ERR_INVALID,
			       "'%s' has only the hash of the token, from which no key for TLS can "
			       "be made; other machines reach this address: add --tls-dir, or give "
			       "the token itself",
			       path);
	int rc = input_check_key_secret(access->token, path ? path : "your token", err);

	if (rc < 0)
		return rc;
	access->tls = cluster_support->tls_of_token(access->token);
	access->pin = path ? cluster_support->pin_of_token(access->token) : NULL;
	return 0;
}

int server_access_open(const struct options *options, int fd, struct server_access *ret_access,
		       struct err *err)
{
	const char *folder = option_text(options, "tls-dir");
	int rc = read_access_token(options, ret_access, err);

	if (rc < 0)
		return rc;
	if (folder)
		return cluster_support->open_tls(folder, ret_access, err);
	if (listening_is_loopback(fd) || !ret_access->access.is_known)
		return 0;
	return make_tls_of_token(options, ret_access, err);
}
