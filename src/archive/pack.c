#include "archive/library.h"
#include "archive/name.h"
#include "base/mem.h"
#include "base/text.h"
#include "io/file.h"

#include <fts.h>

#define BLOCK_SIZE ((size_t) 64 * 1024)

struct archive_pack {
	struct archive *writer;
	FTS *walk;
	struct archive_packing packing;
	size_t root_len; /* length of the path of the walk's root */
	struct archive_limits left;
	struct archive_left_out left_out;
	int fd; /* of the current file; -1: none */
	char *path; /* of that file */
	uint64_t bytes_left; /* of it */
	bool is_at_end;
	struct text out;
	char block[BLOCK_SIZE];
};

static void free_entry(struct archive_entry **entry)
{
	archive_entry_free(*entry);
}

static la_ssize_t append_packed_bytes(struct archive *writer, void *data, const void *bytes,
				      size_t len)
{
	struct archive_pack *pack = data;

	(void) writer;
	text_add_bytes(&pack->out, bytes, len);
	return (la_ssize_t) len;
}

/* Writes full headers for every file. */
static int set_format(struct archive *writer, enum archive_format format)
{
	if (format == ARCHIVE_PAX)
		return archive_write_set_format_pax(writer);
	if (format == ARCHIVE_GNU_GZIP &&
	    (archive_write_add_filter_gzip(writer) < ARCHIVE_OK ||
	     archive_write_set_filter_option(writer, "gzip", "timestamp", NULL) < ARCHIVE_OK))
		return ARCHIVE_FATAL;
	return archive_write_set_format_gnutar(writer);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int open_walk(struct archive_pack *pack, const char *path, struct err *err)
{
	char *root CLEANUP(mem_free_text) = mem_copy_text(path);
	char *roots[] = {root, NULL};

	/* A trailing slash would become part of each path below. */
	for (size_t len = strlen(root); len > 1 && root[len - 1] == '/'; len--)
		root[len - 1] = '\0';
	if (access(root, F_OK) < 0)
		return errno == ENOENT ? err_set(err, ERR_NOT_FOUND, "'%s' not found", path)
				       : err_set_errno(err, errno, "cannot read '%s'", path);
	pack->root_len = strlen(root);
	pack->walk = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name);
	return pack->walk ? 0 : err_set_errno(err, errno, "cannot read '%s'", path);
}

int archive_pack_new(const struct archive_packing *packing, struct archive_pack **ret_pack,
		     struct err *err)
{
	struct archive_pack *pack = mem_new(sizeof(*pack));

	pack->packing = *packing;
	pack->left = packing->limits;
	pack->fd = -1;
	int rc = open_walk(pack, packing->path, err);

	pack->writer = archive_or_end(archive_write_new());
	if (!rc && (set_format(pack->writer, packing->format) < ARCHIVE_OK ||
		    archive_write_set_bytes_per_block(pack->writer, 0) < ARCHIVE_OK ||
		    archive_write_open2(pack->writer, pack, NULL, append_packed_bytes, NULL, NULL) <
			    ARCHIVE_OK))
		rc = archive_set_err(err, pack->writer, "pack", packing->name);
	if (rc < 0) {
		archive_pack_free(pack);
		return rc;
	}
	*ret_pack = pack;
	return 0;
}

const struct archive_left_out *archive_pack_left_out(const struct archive_pack *pack)
{
	return &pack->left_out;
}

void archive_pack_free(struct archive_pack *pack)
{
	if (!pack)
		return;
	archive_write_free(pack->writer);
	if (pack->walk)
		fts_close(pack->walk);
	file_close(&pack->fd);
	text_done(&pack->out);
	free(pack->path);
	free(pack);
}

static int read_link(struct archive_entry *entry, const char *path, struct err *err)
{
	char target[4096] = "";

	if (readlink(path, target, sizeof(target) - 1) < 0)
		return err_set_errno(err, errno, "cannot read the link '%s'", path);
	archive_entry_copy_symlink(entry, target);
	return 0;
}

/* Opened before it is described, so that both refer to the same file. */
static int open_packed_file(struct archive_pack *pack, const char *path, struct stat *status,
			    struct err *err)
{
	/* Non-blocking, in case it has become a pipe. */
	pack->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (pack->fd < 0 || fstat(pack->fd, status) < 0)
		return err_set_errno(err, errno, "cannot read '%s'", path);
	if (!S_ISREG(status->st_mode))
		return err_set(err, ERR_CONFLICT, "'%s' changed while it was being read", path);
	free(pack->path);
	pack->path = mem_copy_text(path);
	pack->bytes_left = (uint64_t) status->st_size;
	if (!archive_take_from(&pack->left.bytes, pack->bytes_left))
		return err_set(err, ERR_LIMIT, "the files are too large in total, from '%s' on",
			       path);
	return 0;
}

static int write_header(struct archive_pack *pack, struct archive_entry *entry, const char *path,
			const struct stat *status, struct err *err)
{
	char *name CLEANUP(mem_free_text) =
		mem_format("%s%s", pack->packing.name, path + pack->root_len);

	archive_entry_copy_pathname(entry, name);
	archive_entry_set_filetype(entry, status->st_mode & S_IFMT);
	archive_entry_set_perm(entry, status->st_mode & ARCHIVE_PERMISSIONS);
	archive_entry_set_mtime(entry, status->st_mtim.tv_sec, status->st_mtim.tv_nsec);
	archive_entry_set_size(entry, S_ISREG(status->st_mode) ? status->st_size : 0);
	if (archive_write_header(pack->writer, entry) < ARCHIVE_WARN)
		return archive_set_err(err, pack->writer, "pack", path);
	return 0;
}

static int pack_entry(struct archive_pack *pack, const char *path, struct stat status,
		      struct err *err)
{
	struct archive_entry *entry CLEANUP(free_entry) = archive_entry_new();
	int rc = 0;

	if (!entry)
		mem_abort();
	if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode) && !S_ISLNK(status.st_mode)) {
		const char *below = path + pack->root_len;

		archive_leave_out(&pack->left_out, *below ? below + 1 : path, ARCHIVE_NO_FILE);
		return 0;
	}
	if (!archive_take_from(&pack->left.n_entries, 1))
		return err_set(err, ERR_LIMIT, "there are too many files, from '%s' on", path);
	if (S_ISREG(status.st_mode))
		rc = open_packed_file(pack, path, &status, err);
	else if (S_ISLNK(status.st_mode))
		rc = read_link(entry, path, err);
	return rc ? rc : write_header(pack, entry, path, &status, err);
}

static int pack_last(struct archive_pack *pack, struct err *err)
{
	struct archive_entry *entry CLEANUP(free_entry) = archive_entry_new();

	if (!entry)
		mem_abort();
	pack->is_at_end = true;
	archive_left_out_end(&pack->left_out);
	archive_entry_copy_pathname(entry, pack->packing.last_name);
	archive_entry_set_filetype(entry, S_IFREG);
	archive_entry_set_perm(entry, S_IRUSR | S_IWUSR);
	archive_entry_set_size(entry, 0);
	if ((pack->packing.last_name && archive_write_header(pack->writer, entry) < ARCHIVE_WARN) ||
	    archive_write_close(pack->writer) < ARCHIVE_OK)
		return archive_set_err(err, pack->writer, "pack", pack->packing.name);
	return 0;
}

static int pack_next_entry(struct archive_pack *pack, struct err *err)
{
	const struct archive_packing *packing = &pack->packing;

	errno = 0;
	FTSENT *found = fts_read(pack->walk);

	if (!found)
		return errno ? err_set_errno(err, errno, "cannot continue reading '%s'",
					     packing->name)
			     : pack_last(pack, err);
	const char *below = found->fts_path + pack->root_len; /* "" for the root itself */

	if (packing->wants && *below && !packing->wants(below + 1, packing->data)) {
		fts_set(pack->walk, found, FTS_SKIP);
		return 0;
	}
	switch (found->fts_info) {
	case FTS_D: /* its time would be changed by what is unpacked into it */
		return 0;
	case FTS_DNR:
	case FTS_ERR:
	case FTS_NS:
		return err_set_errno(err, found->fts_errno, "cannot read '%s'", found->fts_path);
	default:
		/* It may be the target directory itself. */
		return !*below && archive_name_is_folder_itself(packing->name)
			       ? 0
			       : pack_entry(pack, found->fts_path, *found->fts_statp, err);
	}
}

static int pack_block(struct archive_pack *pack, struct err *err)
{
	size_t want = pack->bytes_left < BLOCK_SIZE ? (size_t) pack->bytes_left : BLOCK_SIZE;
	ssize_t got;

	do
		got = read(pack->fd, pack->block, want);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return err_set_errno(err, errno, "cannot read '%s'", pack->path);
	if (!got && want)
		return err_set(err, ERR_CONFLICT, "'%s' became shorter while it was being read",
			       pack->path);
	if (archive_write_data(pack->writer, pack->block, (size_t) got) != got)
		return archive_set_err(err, pack->writer, "pack", pack->path);
	pack->bytes_left -= (uint64_t) got;
	if (!pack->bytes_left)
		file_close(&pack->fd);
	return 0;
}

int archive_pack_next(struct archive_pack *pack, const char **ret_bytes, size_t *ret_len,
		      struct err *err)
{
	struct archive_locale locale CLEANUP(archive_locale_end) = archive_locale_begin();
	int rc = 0;

	(void) locale; /* clang reports it as unused */
	text_clear(&pack->out);
	while (!rc && !pack->out.len && !pack->is_at_end)
		rc = pack->fd < 0 ? pack_next_entry(pack, err) : pack_block(pack, err);
	if (rc < 0)
		return rc;
	*ret_bytes = text_of(&pack->out);
	*ret_len = pack->out.len;
	return 0;
}
