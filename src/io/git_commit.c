#include "io/git_commit.h"

#include "base/mem.h"
#include "base/names.h"
#include "base/text.h"
#include "io/file.h"

#define MOST_BYTES ((size_t) 16 * 1024 * 1024) /* packed references */

/* NULL: it cannot be read, or is no regular file. */
static char *read_in(const char *folder, const char *name)
{
	char *path CLEANUP(mem_free_text) = mem_format("%s/%s", folder, name);
	char *bytes = NULL;
	size_t len;

	return file_read_regular(path, MOST_BYTES, &bytes, &len, NULL) == 0 ? bytes : NULL;
}

static char *read_line_in(const char *folder, const char *name)
{
	char *line = read_in(folder, name);

	if (line)
		line[strcspn(line, "\n")] = '\0';
	return line;
}

static char *path_below(const char *folder, const char *path)
{
	return path[0] == '/' ? mem_copy_text(path) : mem_format("%s/%s", folder, path);
}

/* The directory .git, here or above, or the one that such a file names: that of another work tree,
 * or of a submodule. */
static char *find_git_folder(void)
{
	static const char word[] = "gitdir: ";
	char *folder CLEANUP(mem_free_text) = getcwd(NULL, 0);

	for (char *slash; folder && (slash = strrchr(folder, '/')); *slash = '\0') {
		char *path CLEANUP(mem_free_text) = mem_format("%s/.git", folder);
		char *line CLEANUP(mem_free_text) = read_line_in(folder, ".git");

		if (line && text_starts_with(line, word))
			return path_below(folder, line + strlen(word));
		if (!line && access(path, F_OK) == 0)
			return TAKE(path);
	}
	return NULL;
}

/* A line of packed-refs is "HASH NAME". */
static char *find_packed(const char *folder, const char *name)
{
	char *text CLEANUP(mem_free_text) = read_in(folder, "packed-refs");
	char *rest = text, *line;

	while (rest && (line = strsep(&rest, "\n"))) {
		char *blank = strchr(line, ' ');

		if (blank && text_equals(blank + 1, name))
			return mem_copy_bytes(line, (size_t) (blank - line));
	}
	return NULL;
}

static bool is_hash(const char *text)
{
	size_t len = strlen(text);

	return (len == 40 || len == 64) && strspn(text, NAME_DIGITS "abcdef") == len;
}

char *git_commit_here(void)
{
	static const char word[] = "ref: ";
	char *folder CLEANUP(mem_free_text) = find_git_folder();
	char *head CLEANUP(mem_free_text) = folder ? read_line_in(folder, "HEAD") : NULL;

	if (head && text_starts_with(head, word)) {
		/* Branches are common to all work trees. */
		char *named CLEANUP(mem_free_text) = read_line_in(folder, "commondir");
		char *common CLEANUP(mem_free_text) = path_below(folder, named ? named : ".");
		char *commit = read_line_in(common, head + strlen(word));

		if (!commit)
			commit = find_packed(common, head + strlen(word));
		free(head);
		head = commit;
	}
	return head && is_hash(head) ? TAKE(head) : NULL;
}
