#include "command/input.h"

#include "base/line_text.h"
#include "base/mem.h"
#include "base/yaml.h"
#include "command/output.h"
#include "io/file.h"
#include "io/folder.h"
#include "io/own_process.h"
#include "io/process.h"
#include "io/random.h"
#include "spec/limits.h"

#define SHORTEST_KEY_SECRET 32
#define SHORTEST_SECRET 16
#define LONGEST_SECRET 1024

static void close_file(const int *fd)
{
	if (*fd > STDERR_FILENO)
		close(*fd);
}

static int open_input_file(const char *path, int *ret_fd, struct err *err)
{
	if (!strcmp(path, "-"))
		*ret_fd = STDIN_FILENO;
	else
		*ret_fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (*ret_fd >= 0)
		return 0;
	if (errno == ENOENT || errno == ENOTDIR)
		return err_set(err, ERR_NOT_FOUND, "%s: no such file", path);
	return err_set_errno(err, errno, "%s", path);
}

int input_read(const char *path, size_t limit, struct text *text, struct err *err)
{
	int fd CLEANUP(close_file) = -1;

	if (open_input_file(path, &fd, err))
		return err->code;
	for (;;) {
		char bytes[16 * 1024];
		ssize_t len = read(fd, bytes, sizeof(bytes));

		if (len == 0)
			return 0;
		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0)
			return err_set_errno(err, errno, "%s", path);
		if (text->len + (size_t) len > limit)
			return err_set(err, ERR_LIMIT, "%s: larger than %zu bytes", path, limit);
		text_add_bytes(text, bytes, (size_t) len);
	}
}

int input_read_object(const char *path, struct json **ret_object, struct err *err)
{
	struct text text CLEANUP(text_done) = {0};
	struct document **documents;
	size_t count;

	if (input_read(path, LIMIT_DOCUMENT_SIZE, &text, err))
		return err->code;
	if (documents_read(text_of(&text), text.len, &documents, &count, err))
		return err_prefix(err, "%s", path);
	if (count == 1)
		*ret_object = json_new_copy(document_root(documents[0]));
	documents_free(documents, count);
	return count == 1 ? 0
			  : err_set(err, ERR_INVALID, "%s: contains %zu objects (expected one)",
				    path, count);
}

int input_check_secret(const char *secret, const char *where, struct err *err)
{
	if (strlen(secret) >= SHORTEST_SECRET)
		return 0;
	return err_set(err, ERR_INVALID, "%s: must have at least %d characters", where,
		       SHORTEST_SECRET);
}

int input_check_key_secret(const char *secret, const char *where, struct err *err)
{
	if (strlen(secret) >= SHORTEST_KEY_SECRET)
		return 0;
	return err_set(err, ERR_INVALID,
		       "%s: the token must have at least %d characters, because the key for TLS is "
		       "made from it; to make one: muster orchestrator --make-token token",
		       where, SHORTEST_KEY_SECRET);
}

void input_warn_if_shared(const char *path)
{
	mode_t mode = file_mode_if_shared(path);

	if (mode)
		output_print_message(
			"warning: '%s' is open to other users (mode %03o): chmod go= it", path,
			mode);
}

int input_read_secret(const char *path, char **ret_secret, struct err *err)
{
	struct text text CLEANUP(text_done) = {0};

	if (input_read(path, LONGEST_SECRET, &text, err))
		return err->code;
	process_hide_memory();
	char *secret CLEANUP(mem_free_secret) =
		mem_copy_bytes(text_of(&text), strcspn(text_of(&text), "\r\n"));

	if (text.bytes)
		explicit_bzero(text.bytes, text.len);
	if (input_check_secret(secret, path, err) < 0)
		return err->code;
	*ret_secret = TAKE(secret);
	return 0;
}

void input_each_line(const char *option, const char *path, size_t limit, input_line_fn take,
		     void *to, struct text *faults)
{
	struct text text CLEANUP(text_done) = {0};
	struct err err;

	if (input_read(path, limit, &text, &err)) {
		text_addf(faults, "--%s: %s\n", option, err.text);
		return;
	}
	if (text.len && memchr(text.bytes, '\0', text.len)) {
		text_addf(faults, "--%s: %s: contains NUL bytes (expected a text file)\n", option,
			  path);
		return;
	}
	char *rest = text.len ? text.bytes : NULL;

	if (rest && text_starts_with(rest, BYTE_ORDER_MARK))
		rest += strlen(BYTE_ORDER_MARK);

	for (int number = 1; rest; number++) {
		char *line = strsep(&rest, "\n");
		size_t len = strlen(line);

		if (len && line[len - 1] == '\r')
			line[len - 1] = '\0';
		line += strspn(line, " \t");
		if (*line && *line != '#' && take(to, line, &err))
			text_addf(faults, "--%s: %s:%d: %s\n", option, path, number, err.text);
	}
}

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
