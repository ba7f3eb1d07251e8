/* Any bytes as a tar stream: whatever is in it, nothing outside of the folder that it is unpacked
 * into is made, changed or taken away, and no link in it leads outside. */
#include "fuzz.h"

#include "archive/library.h"
#include "base/mem.h"
#include "base/text.h"
#include "io/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE 1000

struct stream {
	const char *bytes;
	size_t left;
};

static int give_piece(const char **ret_bytes, size_t *ret_len, void *data, struct err *err)
{
	struct stream *stream = data;

	(void) err;
	*ret_bytes = stream->bytes;
	*ret_len = stream->left < PIECE ? stream->left : PIECE;
	stream->bytes += *ret_len;
	stream->left -= *ret_len;
	return 0;
}

/* The folder holds `in` and nothing else. */
static void check_outside(const char *folder)
{
	DIR *directory = opendir(folder);

	if (!directory)
		abort();
	for (struct dirent *entry; (entry = readdir(directory));)
		if (!text_equals(entry->d_name, ".") && !text_equals(entry->d_name, "..") &&
		    !text_equals(entry->d_name, "in"))
			abort();
	closedir(directory);
}

/* A link that leads anywhere leads to a place below the folder. */
static void check_link(const char *link, const char *in)
{
	char *place CLEANUP(mem_free_text) = realpath(link, NULL);
	size_t len = strlen(in);

	if (place && (!text_starts_with(place, in) || (place[len] && place[len] != '/')))
		abort();
}

static void check_inside(char *in)
{
	char *roots[] = {in, NULL};
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);

	if (!walk)
		abort();
	for (FTSENT *found; (found = fts_read(walk));)
		if (found->fts_info == FTS_SL || found->fts_info == FTS_SLNONE)
			check_link(found->fts_path, in);
		else if (found->fts_info == FTS_DEFAULT)
			abort(); /* a pipe, a socket, a device */
	fts_close(walk);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	const struct archive_limits limits = {.n_entries = 100, .bytes = 1024 * 1024};
	struct stream stream = {(const char *) bytes, len};
	char folder[] = "/tmp/muster-fuzz-XXXXXX";

	if (!mkdtemp(folder))
		abort();
	char *in CLEANUP(mem_free_text) = mem_format("%s/in", folder);

	if (mkdir(in, 0700) < 0)
		abort();
	struct archive_left_out left_out;
	int rc = archive_unpack(give_piece, &stream, in, &limits, &left_out, NULL);

	(void) rc; /* any end will do */
	check_outside(folder);
	check_inside(in);
	if (folder_remove(AT_FDCWD, folder, NULL) < 0)
		abort();
	return 0;
}
