/* Secrets that are read are overwritten wherever they are not handed on. */
#include "kube/credential_files.h"

#include "io/file.h"

#include <stdlib.h>
#include <string.h>

#define FILE_SIZE_LIMIT ((size_t) 1024 * 1024)
#define PEM_BEGINNING "-----BEGIN "

static void free_secret(char **secret)
{
	if (*secret)
		explicit_bzero(*secret, strlen(*secret));
	free(*secret);
	*secret = NULL;
}

static int refuse(const struct kube_config *config, struct err *err)
{
	if (err)
		err->code = ERR_INVALID;
	if (config->user.name)
		err_prefix(err, "user '%s'", config->user.name);
	return ERR_INVALID;
}

/* A header with a line end in it would be two. */
static int check_token(const char *token, struct err *err)
{
	for (const char *at = token; *at; at++)
		if ((unsigned char) *at < ' ' || *at == '\x7f')
			return err_set(err, ERR_INVALID,
				       "a line end or another control character is in its token");
	return 0;
}

static int read_token_file(const char *path, char **ret_token, struct err *err)
{
	char *bytes CLEANUP(free_secret) = NULL;
	size_t len = 0;
	int rc = file_read_whole(path, FILE_SIZE_LIMIT, &bytes, &len, err);

	if (rc < 0)
		return rc;
	const char *first = bytes + strspn(bytes, " \t\r\n");

	len = strlen(first);
	while (len > 0 && strchr(" \t\r\n", first[len - 1]))
		len--;
	if (len == 0)
		return err_set(err, ERR_INVALID, "there is no token in '%s'", path);
	*ret_token = mem_copy_bytes(first, len);
	return 0;
}

/* The file counts more than the token beside it, which stands in where the file cannot be read
 * (client-go's bearerAuthRoundTripper). */
static int read_token(const struct kube_user *user, char **ret_token, struct err *err)
{
	char *token CLEANUP(free_secret) = NULL;
	int rc = 0;

	if (user->token_file)
		rc = read_token_file(user->token_file, &token, err);
	if (!token && user->token) {
		token = mem_copy_text(user->token);
		rc = 0;
	}
	if (token && rc == 0)
		rc = check_token(token, err);
	if (rc == 0)
		*ret_token = TAKE(token);
	return rc;
}

static int read_pem(const char *text, const char *path, char **ret_pem, struct err *err)
{
	char *bytes CLEANUP(free_secret) = NULL;
	size_t len = 0;

	if (text)
		bytes = mem_copy_text(text);
	else if (!path)
		return 0;
	else if (file_read_whole(path, FILE_SIZE_LIMIT, &bytes, &len, err) < 0)
		return ERR_INVALID;
	if (!strstr(bytes, PEM_BEGINNING))
		return err_set(err, ERR_INVALID, "'%s' holds no PEM text (" PEM_BEGINNING "…)",
			       path ? path : "the kubeconfig");
	*ret_pem = TAKE(bytes);
	return 0;
}

static int read_parts(const struct kube_config *config, struct kube_credential *credential,
		      struct err *err)
{
	const struct kube_user *user = &config->user;
	int rc = read_token(user, &credential->token, err);

	if (rc == 0)
		rc = read_pem(user->certificate, user->certificate_file,
			      &credential->client_certificate, err);
	if (rc == 0)
		rc = read_pem(user->key, user->key_file, &credential->client_key, err);
	credential->user_name = mem_copy_text(user->user_name);
	credential->password = mem_copy_text(user->password);
	return rc;
}

int kube_credential_read(const struct kube_config *config, struct kube_credential *ret_credential,
			 char **ret_authority, struct err *err)
{
	struct kube_credential credential CLEANUP(kube_credential_done) = {0};
	char *authority CLEANUP(mem_free_text) = NULL;

	if (read_parts(config, &credential, err) < 0)
		return refuse(config, err);
	if (read_pem(config->cluster.authority, config->cluster.authority_file, &authority, err) <
	    0) {
		if (config->cluster.name)
			err_prefix(err, "cluster '%s'", config->cluster.name);
		return ERR_INVALID;
	}
	*ret_credential = credential;
	credential = (struct kube_credential){0};
	*ret_authority = TAKE(authority);
	return 0;
}

bool kube_credential_has_files(const struct kube_config *config)
{
	return config->user.token_file || config->user.certificate_file || config->user.key_file ||
	       config->cluster.authority_file;
}
