#include "logs/output_copies.h"

#include "io/file.h"
#include "io/folder.h"
#include "spec/output_path.h"

#define DEFAULT_PREFIX "[${role_name}${local_rank}]:"
#define LONGEST_HOST_NAME 256
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

/* NULL: it has none. */
static const struct stream_rule *rule_of(const struct streams *streams, const struct log_name *name)
{
	return streams && (size_t) name->index < streams->n_rules ? &streams->rules[name->index]
								  : NULL;
}

/* A log of both streams is shown, marked and copied with either. */
static bool has_stream(const struct streams *streams, const struct log_name *name, int set)
{
	int own = !streams->are_apart ? STREAM_BOTH
		  : name->is_stderr   ? STREAM_STDERR
				      : STREAM_STDOUT;

	return (set & own) != 0;
}

bool streams_show(const struct streams *streams, const struct log_name *name)
{
	const struct stream_rule *rule = rule_of(streams, name);

	return !rule || has_stream(streams, name, rule->shown);
}

bool streams_mark(const struct streams *streams, const struct log_name *name)
{
	const struct stream_rule *rule = rule_of(streams, name);

	return rule && has_stream(streams, name, rule->marked);
}

bool streams_copy(const struct streams *streams, const struct log_name *name)
{
	const struct stream_rule *rule = rule_of(streams, name);

	return !rule || has_stream(streams, name, rule->copied);
}

/* The place of a variable in a template of Python's string.Template: "${name}" or "$name". Returns
 * its end, or NULL if there is none. */
static const char *read_variable(const char *dollar, const char **ret_name, size_t *ret_len)
{
	bool has_brace = dollar[1] == '{';
	const char *name = dollar + 1 + has_brace;
	size_t len = strspn(name, LETTERS);

	if (len == 0 || (has_brace && name[len] != '}'))
		return NULL;
	*ret_name = name;
	*ret_len = len;
	return name + len + has_brace;
}

/* False: the name is unknown. */
static bool add_variable(const struct streams *streams, const char *name, size_t len, int index,
			 int first_rank, struct text *text)
{
	char *word CLEANUP(mem_free_text) = mem_copy_bytes(name, len);
	char host[LONGEST_HOST_NAME] = "";

	if (text_equals(word, "role_name"))
		text_add(text, streams->role_name ? streams->role_name : "default");
	else if (text_equals(word, "rank"))
		text_addf(text, "%d", first_rank + index);
	else if (text_equals(word, "local_rank"))
		text_addf(text, "%d", index);
	else if (text_equals(word, "hostname") && gethostname(host, sizeof(host) - 1) == 0)
		text_add(text, host);
	else
		return false;
	return true;
}

char *streams_prefix(const struct streams *streams, int index, int first_rank)
{
	const char *at = streams->prefix ? streams->prefix : DEFAULT_PREFIX;
	struct text text = {0};

	while (*at) {
		const char *name;
		size_t len;
		const char *end = *at == '$' ? read_variable(at, &name, &len) : NULL;

		if (end && add_variable(streams, name, len, index, first_rank, &text)) {
			at = end;
			continue;
		}
		text_add_char(&text, *at);
		at += text_starts_with(at, "$$") ? 2 : 1;
	}
	return text_take(&text);
}

#define STDOUT_LOG "stdout.log"
#define NO_FILES "/dev/null"

struct output_copies {
	struct output_copies_settings settings;
	bool has_told_trouble;
	bool *has_begun; /* by index, of the only role of an elastic job */
	int n_known;
};

struct output_copy {
	struct output_copies *copies;
	char *path;
	int fd; /* -1: it was ended */
};

int output_copies_check(const char *pattern, const struct job *job, struct err *err)
{
	char *path CLEANUP(mem_free_text) =
		output_path_of(pattern, job->name, job->roles[0].name, 0, 1);
	char *folder CLEANUP(mem_free_text) = file_folder_of(path);
	int fd CLEANUP(file_close) = -1;
	int rc = folder_open_shared(folder, &fd, err);

	if (rc == 0 && access(folder, W_OK | X_OK) < 0)
		rc = err_set_errno(err, errno, "cannot write to directory '%s'", folder);
	return rc;
}

struct output_copies *output_copies_new(const struct output_copies_settings *settings)
{
	struct output_copies *copies = mem_new(sizeof(*copies));

	copies->settings = *settings;
	if (settings->job->elastic_id)
		copies->n_known = job_replica_count(settings->job);
	copies->has_begun = mem_new_array((size_t) copies->n_known, sizeof(bool));
	return copies;
}

void output_copies_free(struct output_copies *copies)
{
	if (copies)
		mem_free_any(&copies->has_begun);
	mem_free_any(&copies);
}

/* Attempts of an elastic job are generations: the first one of a machine may have any number, and
 * all of them are this process's. */
static bool is_first(struct output_copies *copies, const struct log_name *name)
{
	if (output_path_names_attempt(copies->settings.pattern))
		return true;
	if (!copies->settings.job->elastic_id)
		return name->attempt == 0;
	if (name->index >= copies->n_known || copies->has_begun[name->index])
		return false;
	copies->has_begun[name->index] = true;
	return true;
}

static void report_copy_trouble(struct output_copies *copies, const struct err *err)
{
	if (!copies->has_told_trouble)
		copies->settings.on_trouble(err->text, copies->settings.data);
	copies->has_told_trouble = true;
}

static char *path_of(const struct output_copies_settings *settings, const struct log_name *name)
{
	return output_path_of(settings->pattern, settings->job->name, name->role, name->index,
			      name->attempt);
}

/* A file of torchrun's in the directory of a stdout.log; NULL: the pattern has no such directory.
 */
static char *sibling_of(const char *path, const char *name)
{
	char *folder CLEANUP(mem_free_text) =
		text_ends_with(path, "/" STDOUT_LOG) ? file_folder_of(path) : NULL;

	return folder ? mem_format("%s/%s", folder, name) : NULL;
}

char *output_copies_error_file(struct output_copies *copies, const struct log_name *name)
{
	if (!copies)
		return NULL;
	if (text_equals(copies->settings.pattern, NO_FILES))
		return mem_copy_text("");
	char *path CLEANUP(mem_free_text) = path_of(&copies->settings, name);
	char *file = sibling_of(path, "error.json");
	char *folder CLEANUP(mem_free_text) = file_folder_of(path);
	int fd CLEANUP(file_close) = -1;
	struct err err;

	if (file && folder_open_shared(folder, &fd, &err) < 0)
		report_copy_trouble(copies, &err);
	return file;
}

static bool is_of_other_user(const struct stat *file)
{
	return file->st_uid != geteuid() && file->st_uid != 0;
}

/* Whoever made a file or FIFO before us would read all of the output. A terminal or another device
 * is the administrator's to give away. */
static int check_owner(int fd, const char *path, struct err *err)
{
	struct stat found;

	if (fstat(fd, &found) == 0 && is_of_other_user(&found) && !S_ISCHR(found.st_mode))
		return err_set(err, ERR_REFUSED,
			       "cannot write to '%s': it belongs to another user (%u)", path,
			       found.st_uid);
	return 0;
}

/* A FIFO without a reader does not block us. */
static int open_output_copy(const char *path, bool is_new, int *ret_fd, struct err *err)
{
	const int flags = O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	char *folder CLEANUP(mem_free_text) = file_folder_of(path);
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	int folder_fd CLEANUP(file_close) = -1;
	int rc = folder_open_shared(folder, &folder_fd, err);

	if (rc < 0)
		return rc;
	struct stat found;
	bool is_link = fstatat(folder_fd, name, &found, AT_SYMLINK_NOFOLLOW) == 0 &&
		       S_ISLNK(found.st_mode);

	if (is_link && is_of_other_user(&found))
		return err_set(err, ERR_REFUSED,
			       "cannot write to '%s': it is a link of another user", path);
	*ret_fd = openat(folder_fd, name, flags | (is_link ? 0 : O_NOFOLLOW), 0666);
	if (*ret_fd < 0)
		return err_set_errno(err, errno, "cannot write to '%s'", path);
	rc = check_owner(*ret_fd, path, err);
	if (rc < 0)
		file_close(ret_fd);
	else if (is_new)
		(void) !ftruncate(*ret_fd, 0);
	return rc;
}

struct output_copy *output_copies_open(struct output_copies *copies, const struct log_name *name)
{
	struct err err;

	if (!copies || text_equals(copies->settings.pattern, NO_FILES) ||
	    !streams_copy(copies->settings.streams, name))
		return NULL;
	/* A file with another name than torchrun's has both streams. */
	char *usual CLEANUP(mem_free_text) = path_of(&copies->settings, name);
	char *path CLEANUP(mem_free_text) =
		name->is_stderr ? sibling_of(usual, "stderr.log") : NULL;
	int fd = -1;

	if (!path)
		path = TAKE(usual);

	if (open_output_copy(path, is_first(copies, name), &fd, &err) < 0) {
		report_copy_trouble(copies, &err);
		return NULL;
	}
	struct output_copy *copy = mem_new(sizeof(*copy));

	*copy = (struct output_copy){.copies = copies, .path = TAKE(path), .fd = fd};
	return copy;
}

void output_copy_add(struct output_copy *copy, const char *bytes, size_t len)
{
	if (!copy || copy->fd < 0)
		return;
	int failure = file_write_all(copy->fd, bytes, len, NULL);
	struct err err;

	if (!failure)
		return;
	err_set_errno(&err, failure, "the copy of the output in '%s' ends here", copy->path);
	report_copy_trouble(copy->copies, &err);
	file_close(&copy->fd);
}

void output_copy_close(struct output_copy *copy)
{
	if (!copy)
		return;
	file_close(&copy->fd);
	mem_free_text(&copy->path);
	mem_free_any(&copy);
}
