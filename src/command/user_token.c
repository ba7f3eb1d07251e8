#include "command/user_token.h"

#include "base/mem.h"
#include "base/text.h"
#include "command/input.h"
#include "io/file.h"
#include "io/folder.h"
#include "io/own_process.h"
#include "io/random.h"

#include <string.h>
#include <unistd.h>

char *user_token_path(void)
{
	char *folder CLEANUP(mem_free_text) = home_folder("XDG_CONFIG_HOME", ".config");

	return folder ? mem_format("%s/token", folder) : NULL;
}

/* Others may know the hash: it must not become the token. */
int user_token_read_file(const char *path, char **ret_token, struct err *err)
{
	char *token CLEANUP(mem_free_secret) = NULL;
	int rc = input_read_secret(path, &token, err);

	if (rc == 0 && text_starts_with(token, "sha256:"))
		return err_set(err, ERR_INVALID,
			       "%s has the hash of a token, which only servers take: give the "
			       "token itself",
			       path);
	*ret_token = TAKE(token);
	return rc;
}

/* The directory is created before it is checked: another user could create it in between. */
static int read_token(const char *folder, bool creates, char **ret_token, struct err *err)
{
	char *path CLEANUP(mem_free_text) = user_token_path();
	bool is_missing = access(path, F_OK) < 0;
	int rc = is_missing && creates ? folder_create(folder, err) : 0;

	if (rc == 0)
		rc = folder_check_own(folder, "set XDG_CONFIG_HOME to a directory of your own",
				      err);
	if (rc == 0 && is_missing && creates) {
		char *token CLEANUP(mem_free_secret) = random_token();
		char *line CLEANUP(mem_free_secret) = mem_format("%s\n", token);

		rc = file_create(path, line, strlen(line), err);
		if (rc == ERR_EXISTS) /* another process has created it meanwhile */
			rc = 0;
	}
	if (rc < 0 || (is_missing && !creates))
		return rc;
	return user_token_read_file(path, ret_token, err);
}

int user_token_read(bool creates, char **ret_token, struct err *err)
{
	char *folder CLEANUP(mem_free_text) = home_folder("XDG_CONFIG_HOME", ".config");

	*ret_token = NULL;
	if (!folder && !creates)
		return 0;
	int rc = folder ? read_token(folder, creates, ret_token, err)
			: err_set(err, ERR_NOT_FOUND, "there is no home directory");

	return rc < 0 ? err_prefix(err, "the token of this user (--insecure: use none)") : 0;
}

void user_token_warn_if_shared(const char *other_file)
{
	char *path CLEANUP(mem_free_text) =
		other_file ? mem_copy_text(other_file) : user_token_path();

	if (path)
		input_warn_if_shared(path);
}
