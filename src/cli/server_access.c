#include "cli/server_access.h"

#include "base/mem.h"
#include "base/text.h"
#include "command/command.h"
#include "command/input.h"
#include "command/output.h"
#include "http/certificate.h"
#include "io/file.h"
#include "io/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void server_access_done(struct server_access *access)
{
	http_tls_free(access->tls);
	free(access->pin);
}

static int read_access_token(const char *path, struct server_access *access, struct err *err)
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
	int rc = folder_create(folder, err);

	if (rc == 0 && !file_is_mounted_by_root(folder))
		rc = folder_check_own(folder, "choose a directory of your own", err);
	if (rc == 0)
		rc = certificate_ensure(certificate, key, err);
	if (rc == 0)
		rc = certificate_pin(certificate, &access->pin, err);
	if (rc == 0)
		rc = http_tls_new(certificate, key, &access->tls, err);
	if (rc == 0)
		input_warn_if_shared(key);
	return rc < 0 ? err_prefix(err, "--tls-dir") : 0;
}

int server_access_open(const struct options *options, struct server_access *ret_access,
		       struct err *err)
{
	int rc = read_access_token(option_text(options, "token-file"), ret_access, err);

	return rc < 0 ? rc : open_tls(option_text(options, "tls-dir"), ret_access, err);
}

/* Never replaces an existing file, because clients may have its token. */
static int write_new(const char *path, const char *hash, struct err *err)
{
	int fd CLEANUP(file_close) = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	size_t written;

	if (fd < 0 && errno == EEXIST)
		return err_set(err, ERR_EXISTS,
			       "'%s' exists, and clients may have its token; to replace it, remove "
			       "the file first",
			       path);
	if (fd < 0)
		return err_set_errno(err, errno, "cannot create '%s'", path);
	int failure = file_write_all(fd, hash, strlen(hash), &written);

	if (failure == 0 && fsync(fd) < 0)
		failure = errno;
	if (failure == 0)
		return 0;
	unlink(path);
	return err_set_errno(err, failure, "cannot write '%s'", path);
}

/* The token itself is written only to standard output. */
static int make_token(const char *path, struct err *err)
{
	char *token CLEANUP(mem_free_secret) = NULL;
	int rc = token_new(&token, err);

	if (rc < 0)
		return rc;
	char *hash CLEANUP(mem_free_text) = token_hash_text(token);

	rc = write_new(path, hash, err);
	if (rc < 0)
		return err_prefix(err, "--make-token");
	struct text line CLEANUP(text_done) = {0};

	text_addf(&line, "%s\n", token);
	output_add(&line);
	return 0;
}

int server_access_create_token(const char *path)
{
	struct err err = {0};

	return make_token(path, &err) < 0 ? output_fail(&err) : EXIT_DONE;
}
