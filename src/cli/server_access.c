#include "cli/server_access.h"

#include "base/mem.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/output.h"
#include "io/certificate.h"
#include "io/file.h"
#include "io/folder.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void server_access_done(struct server_access *access)
{
	http_tls_free(access->tls);
	free(access->pin);
}

static int read_token(const char *path, struct server_access *access, struct err *err)
{
	char *token CLEANUP(mem_free_secret) = NULL;
	int rc = path ? input_read_secret(path, &token, err) : 0;

	access->is_known = token ? token_is_known : NULL;
	if (token && token_hash_read(token, &access->token, err) < 0)
		return err_prefix(err, "%s", path);
	return rc;
}

/* The names of the files are those of a Secret of type kubernetes.io/tls. */
static int open_tls(const char *folder, struct server_access *access, struct err *err)
{
	if (!folder)
		return 0;
	char *certificate CLEANUP(mem_free_text) = mem_format("%s/tls.crt", folder);
	char *key CLEANUP(mem_free_text) = mem_format("%s/tls.key", folder);
	int rc = folder_make(folder, err);

	if (rc == 0)
		rc = certificate_ensure(certificate, key, err);

	if (rc == 0)
		rc = certificate_pin(certificate, &access->pin, err);
	if (rc == 0)
		rc = http_tls_new(certificate, key, &access->tls, err);
	return rc < 0 ? err_prefix(err, "--tls-dir") : 0;
}

int server_access_open(const struct options *options, struct server_access *ret_access,
		       struct err *err)
{
	int rc = read_token(option_text(options, "token-file"), ret_access, err);

	return rc < 0 ? rc : open_tls(option_text(options, "tls-dir"), ret_access, err);
}

/* The token itself is nowhere but on standard output. */
static int make_token(const char *path, struct err *err)
{
	char *token CLEANUP(mem_free_secret) = NULL;
	int rc = token_new(&token, err);

	if (rc < 0)
		return rc;
	if (access(path, F_OK) == 0)
		return err_set(err, ERR_REFUSED,
			       "--make-token: '%s' exists, and clients may have its token; for a "
			       "new one, remove it first",
			       path);
	char *hash CLEANUP(mem_free_text) = token_hash_text(token);

	rc = file_replace(path, hash, strlen(hash), err);
	if (rc < 0)
		return err_prefix(err, "--make-token");
	struct text line CLEANUP(text_done) = {0};

	text_addf(&line, "%s\n", token);
	output_add(&line);
	return 0;
}

int server_access_make_token(const char *path)
{
	struct err err = {0};

	return make_token(path, &err) < 0 ? output_fail(&err) : EXIT_DONE;
}
