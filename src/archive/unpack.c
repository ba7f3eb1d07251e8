#include "archive/library.h"
#include "archive/name.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#define HEADER_SIZE ((uint64_t) 16 * 1024) /* largest entry header, including all its parts */
/* Padding of tar, which fills its last block to 10 kB by default. */
#define LAST_BLOCK_SIZE ((uint64_t) 1024 * 1024)

#define LEFT_OUT 1 /* in addition to 0 and errors, which are negative */

struct unpacking {
	archive_source_fn source;
	void *data;
	const char *folder; /* with links resolved */
	struct archive_limits left;
	uint64_t stream_left; /* bytes of the stream still accepted */
	struct archive *reader, *disk;
	mode_t permissions; /* mode bits that the stream may set */
	bool has_status; /* the stream has an entry for the directory itself */
	struct stat status; /* its mode and time */
	struct archive_left_out *left_out;
	struct err *err; /* of the source or ours */
	int rc; /* if not 0, `err` is set */
};

static void free_reader(struct archive **reader)
{
	archive_read_free(*reader);
}

static void free_disk(struct archive **disk)
{
	archive_write_free(*disk);
}

/* Called by libarchive; returns -1 on errors, which are recorded in the unpacking. */
static la_ssize_t read_source(struct archive *reader, void *data, const void **ret_bytes)
{
	struct unpacking *unpacking = data;
	const char *bytes = NULL;
	size_t len = 0;

	(void) reader;
	unpacking->rc = unpacking->source(&bytes, &len, unpacking->data, unpacking->err);
	if (!unpacking->rc && !archive_take_from(&unpacking->stream_left, len))
		unpacking->rc = err_set(unpacking->err, ERR_LIMIT, "the tar stream is too large");
	*ret_bytes = bytes;
	return unpacking->rc ? -1 : (la_ssize_t) len;
}

/* Why the stream cannot be read: an error of its source comes first. */
static int fail_reading(struct unpacking *unpacking, const char *name)
{
	if (!unpacking->rc)
		unpacking->rc = archive_set_err(unpacking->err, unpacking->reader, "unpack", name);
	return unpacking->rc;
}

static int fail_writing(struct unpacking *unpacking, const char *name)
{
	return archive_set_err(unpacking->err, unpacking->disk, "unpack", name);
}

static int refuse_archive_entry(struct unpacking *unpacking, const char *name, const char *why)
{
	return err_set(unpacking->err, ERR_REFUSED, "refused to unpack '%s': %s", name, why);
}

static char *unpacked_path_of(const struct unpacking *unpacking, const char *name)
{
	return mem_format("%s/%s", unpacking->folder, name);
}

static int leave_out(struct unpacking *unpacking, const char *name, const char *why)
{
	archive_leave_out(unpacking->left_out, name, why);
	return LEFT_OUT;
}

/* Another name of an existing file. For a symbolic link it would be the same link in another place,
 * where its target may be outside. */
static int move_hard_link(struct unpacking *unpacking, struct archive_entry *entry,
			  const char *name)
{
	const char *target = archive_entry_hardlink(entry);

	struct stat status;

	if (!archive_name_is_inside(target))
		return refuse_archive_entry(unpacking, name,
					    "it is a link to a file outside the directory");
	char *path CLEANUP(mem_free_text) = unpacked_path_of(unpacking, target);

	if (lstat(path, &status) < 0 || !S_ISREG(status.st_mode))
		return leave_out(unpacking, name, "another name of something that is not a file");
	archive_entry_copy_hardlink(entry, path);
	archive_entry_unset_size(entry); /* its bytes are the other file's */
	return 0;
}

/* Returns 0, LEFT_OUT or an error. */
static int check_kind(struct unpacking *unpacking, struct archive_entry *entry, const char *name)
{
	mode_t kind = archive_entry_filetype(entry);
	const char *target = archive_entry_symlink(entry);

	if (archive_name_is_folder_itself(name) && kind != AE_IFDIR)
		return refuse_archive_entry(unpacking, name, "it names the directory itself");
	if (archive_entry_hardlink(entry))
		return move_hard_link(unpacking, entry, name);
	if (kind != AE_IFREG && kind != AE_IFDIR && kind != AE_IFLNK)
		return leave_out(unpacking, name, ARCHIVE_NO_FILE);
	if (kind != AE_IFLNK || archive_link_is_inside(name, target))
		return 0;
	char *why CLEANUP(mem_free_text) =
		mem_format("a link to '%s', which is outside the directory", target ? target : "");

	return leave_out(unpacking, name, why);
}

static int check_limits(struct unpacking *unpacking, struct archive_entry *entry, const char *name)
{
	uint64_t size = archive_entry_size(entry) > 0 ? (uint64_t) archive_entry_size(entry) : 0;

	if (!archive_take_from(&unpacking->left.n_entries, 1))
		return err_set(unpacking->err, ERR_LIMIT,
			       "the tar stream contains too many files, from '%s' on", name);
	if (!archive_take_from(&unpacking->left.bytes, size))
		return err_set(unpacking->err, ERR_LIMIT,
			       "the files of the tar stream are too large in total, from '%s' on",
			       name);
	return 0;
}

/* No block ends after the size that was counted. */
static int copy_blocks(struct unpacking *unpacking, const char *name, int64_t size)
{
	const void *bytes;
	size_t len;
	la_int64_t offset;
	int status;

	while ((status = archive_read_data_block(unpacking->reader, &bytes, &len, &offset)) ==
	       ARCHIVE_OK) {
		if (offset < 0 || offset > size || (int64_t) len > size - offset)
			return refuse_archive_entry(unpacking, name,
						    "it is longer than its header says");
		if (archive_write_data_block(unpacking->disk, bytes, len, offset) < ARCHIVE_OK)
			return fail_writing(unpacking, name);
	}
	return status == ARCHIVE_EOF ? 0 : fail_reading(unpacking, name);
}

/* Later writes into the directory would change its time. */
static int finish_folder(struct unpacking *unpacking)
{
	const struct stat *status = &unpacking->status;
	const struct timespec times[] = {{.tv_nsec = UTIME_OMIT}, status->st_mtim};

	if (unpacking->has_status &&
	    (chmod(unpacking->folder, status->st_mode & unpacking->permissions) < 0 ||
	     utimensat(AT_FDCWD, unpacking->folder, times, 0) < 0))
		return err_set_errno(unpacking->err, errno, "cannot set the mode of directory '%s'",
				     unpacking->folder);
	return 0;
}

static int unpack_entry(struct unpacking *unpacking, struct archive_entry *entry)
{
	const char *in_stream = archive_entry_pathname(entry);

	if (!archive_name_is_inside(in_stream))
		return refuse_archive_entry(unpacking, in_stream ? in_stream : "",
					    "it is outside the directory");
	char *name CLEANUP(mem_free_text) = mem_copy_text(in_stream);
	char *path CLEANUP(mem_free_text) = unpacked_path_of(unpacking, name);
	int rc = check_kind(unpacking, entry, name);

	if (rc == LEFT_OUT)
		return 0;
	if (!rc)
		rc = check_limits(unpacking, entry, name);
	if (rc < 0)
		return rc;
	if (archive_name_is_folder_itself(name)) {
		unpacking->has_status = true;
		unpacking->status = *archive_entry_stat(entry);
		return 0;
	}
	int64_t size = archive_entry_size(entry);

	archive_entry_copy_pathname(entry, path);
	archive_entry_set_perm(entry, archive_entry_perm(entry) & unpacking->permissions);
	if (archive_write_header(unpacking->disk, entry) < ARCHIVE_OK)
		return fail_writing(unpacking, name);
	if (size > 0)
		rc = copy_blocks(unpacking, name, size);
	if (rc < 0)
		return rc;
	return archive_write_finish_entry(unpacking->disk) < ARCHIVE_OK
		       ? fail_writing(unpacking, name)
		       : 0;
}

static int unpack_all(struct unpacking *unpacking)
{
	const int options = ARCHIVE_EXTRACT_PERM | ARCHIVE_EXTRACT_TIME |
			    ARCHIVE_EXTRACT_SECURE_SYMLINKS | ARCHIVE_EXTRACT_SECURE_NODOTDOT;

	if (archive_read_support_format_tar(unpacking->reader) < ARCHIVE_OK ||
	    archive_read_open(unpacking->reader, unpacking, NULL, read_source, NULL) < ARCHIVE_OK)
		return fail_reading(unpacking, "the tar stream");
	if (archive_write_disk_set_options(unpacking->disk, options) < ARCHIVE_OK)
		return fail_writing(unpacking, "the tar stream");
	struct archive_entry *entry;
	int status, rc = 0;

	/* A warning concerns a name that is not UTF-8, which is used unchanged. */
	while (!rc && (status = archive_read_next_header(unpacking->reader, &entry)) != ARCHIVE_EOF)
		rc = status < ARCHIVE_WARN ? fail_reading(unpacking, "the tar stream")
					   : unpack_entry(unpacking, entry);
	/* Modes and times of directories are set last. */
	if (archive_write_close(unpacking->disk) < ARCHIVE_OK && !rc)
		rc = fail_writing(unpacking, "the tar stream");
	if (!rc)
		rc = finish_folder(unpacking);
	const void *bytes;

	/* tar pads its last block; a sender whose pipe is closed before that would report a
	 * failure. */
	while (!rc && read_source(unpacking->reader, unpacking, &bytes) > 0)
		;
	return rc ? rc : unpacking->rc;
}

/* Additional bytes that the entries' headers may take, including long names. */
static uint64_t stream_limit(const struct archive_limits *limits)
{
	uint64_t headers, sum;

	if (__builtin_mul_overflow(limits->n_entries, HEADER_SIZE, &headers) ||
	    __builtin_add_overflow(limits->bytes, headers + LAST_BLOCK_SIZE, &sum))
		return UINT64_MAX;
	return sum;
}

int archive_unpack(archive_source_fn source, void *data, const char *folder,
		   const struct archive_limits *limits, struct archive_left_out *ret_left_out,
		   struct err *err)
{
	struct archive_locale locale CLEANUP(archive_locale_end) = archive_locale_begin();
	(void) locale; /* clang reports it as unused */
	mode_t mask = umask(0777); /* there is no other way to read it without a file of /proc */

	umask(mask);
	/* Links in the path of the directory are trusted; none below it is followed. */
	char *real CLEANUP(mem_free_text) = realpath(folder, NULL);
	struct archive *reader CLEANUP(free_reader) = archive_or_end(archive_read_new());
	struct archive *disk CLEANUP(free_disk) = archive_or_end(archive_write_disk_new());
	struct unpacking unpacking = {
		.source = source,
		.data = data,
		.folder = real,
		.left = *limits,
		.stream_left = stream_limit(limits),
		.reader = reader,
		.disk = disk,
		.permissions = ARCHIVE_PERMISSIONS & ~mask,
		.left_out = ret_left_out,
		.err = err,
	};

	*ret_left_out = (struct archive_left_out){0};
	if (!real)
		return err_set_errno(err, errno, "cannot unpack into '%s'", folder);
	int rc = unpack_all(&unpacking);

	archive_left_out_end(ret_left_out);
	return rc;
}
