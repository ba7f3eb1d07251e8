#include "cli/cluster_support.h"
#include "cli/server_access.h"

#include "base/mem.h"
#include "base/text.h"
#include "command/command.h"
#include "command/input.h"
#include "command/output.h"
#include "http/certificate.h"
#include "io/file.h"
#include "io/folder.h"
#include "io/random.h"

#define HASH_ENDING ".hash"

int server_files_read_token(const char *path, struct server_access *access, struct err *err)
{
	char *token CLEANUP(mem_free_secret) = NULL;
	int rc = input_read_secret(path, &token, err);

	if (rc < 0)
		return rc;
	if (!token_is_hash(token)) {
		access->token = TAKE(token);
		return 0;
	}
	access->access = (struct http_access){token_is_known, &access->hash, NULL};
	return token_hash_read(token, &access->hash, err) < 0 ? err_prefix(err, "%s", path) : 0;
}

int server_files_open_tls(const char *folder, struct server_access *access, struct err *err)
{
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

/* Never replaces an existing file, because clients may have its token. */
static int create_token_file(const char *path, const char *line, struct err *err)
{
	int rc = file_create(path, line, strlen(line), err);

	if (rc == ERR_EXISTS)
		return err_set(err, rc,
			       "'%s' exists, and clients may have its token; to replace it, remove "
			       "the file first",
			       path);
	return rc;
}

/* `--make-token token.hash > token`, as it was once documented: the shell has created the file,
 * and others may have opened it. */
static void remove_if_output(const char *path)
{
	struct stat file, output;

	if (stat(path, &file) == 0 && fstat(STDOUT_FILENO, &output) == 0 &&
	    file.st_dev == output.st_dev && file.st_ino == output.st_ino && S_ISREG(file.st_mode) &&
	    file.st_size == 0)
		unlink(path);
}

int server_files_create_token(const char *path)
{
	/* The files of a token: TOKEN and TOKEN.hash. A name that ends in .hash is the second. */
	size_t len = strlen(path), end = strlen(HASH_ENDING);
	bool is_hash = text_ends_with(path, HASH_ENDING) && len > end && path[len - end - 1] != '/';
	char *token_file CLEANUP(mem_free_text) = mem_copy_bytes(path, is_hash ? len - end : len);
	char *hash_file CLEANUP(mem_free_text) = mem_format("%s" HASH_ENDING, token_file);
	char *token CLEANUP(mem_free_secret) = random_token();
	char *line CLEANUP(mem_free_secret) = mem_format("%s\n", token);
	char *hash CLEANUP(mem_free_text) = token_hash_text(token);
	struct err err = {0};

	remove_if_output(token_file);
	int rc = create_token_file(token_file, line, &err);

	if (rc == 0) {
		rc = create_token_file(hash_file, hash, &err);
		if (rc < 0)
			unlink(token_file);
	}
	if (rc < 0) {
		err_prefix(&err, "--make-token");
		return output_fail(&err);
	}
	output_print_message("the token for clients is in '%s', its hash for --token-file in '%s'",
			     token_file, hash_file);
	return EXIT_DONE;
}
