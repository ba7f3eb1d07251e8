#include "pods/append_sync_frames.h"

#include "archive/name.h"
#include "base/mem.h"

#include <limits.h>

#define LINE_LIMIT (PATH_MAX + 64) /* two numbers and a path */

void append_sync_frames_done(struct append_sync_frames *frames)
{
	text_done(&frames->line);
}

/* Cuts off the word before a space, and reads it as a number. */
static int parse_growth_number(char **rest, uint64_t *ret_number, struct err *err)
{
	char *word = *rest, *space = strchr(word, ' ');
	int64_t number;

	if (!space)
		return ERR_INVALID;
	*space = '\0';
	if (text_read_int(word, 0, INT64_MAX, &number, err) < 0)
		return ERR_INVALID;
	*ret_number = (uint64_t) number;
	*rest = space + 1;
	return 0;
}

static int begin_piece(struct append_sync_frames *frames, const struct append_sync_reader *reader,
		       struct err *err)
{
	char *line CLEANUP(mem_free_text) = text_take(&frames->line);
	char *rest = line;
	uint64_t offset, len;

	if (parse_growth_number(&rest, &offset, NULL) < 0 ||
	    parse_growth_number(&rest, &len, NULL) < 0 || !text_starts_with(rest, "./"))
		return err_set(err, ERR_INVALID, "the container sent something other than files");
	if (!archive_name_is_inside(rest) || archive_name_is_folder_itself(rest))
		return err_set(err, ERR_REFUSED,
			       "the container sent a file outside of its directory");
	frames->n_missing = len;
	return reader->on_piece(rest + strlen("./"), offset, len, reader->data, err);
}

/* Takes bytes of a line, and its end; returns their number. */
static int append_growth_line(struct append_sync_frames *frames, const char *bytes, size_t len,
			      const struct append_sync_reader *reader, size_t *ret_used,
			      struct err *err)
{
	const char *end = memchr(bytes, '\n', len);
	size_t part = end ? (size_t) (end - bytes) : len;

	*ret_used = part + (end != NULL);
	if (frames->line.len + part > LINE_LIMIT || memchr(bytes, '\0', part))
		return err_set(err, ERR_INVALID, "the container sent something other than files");
	text_add_bytes(&frames->line, bytes, part);
	bool is_there = text_equals(text_of(&frames->line), ".");

	if (!end)
		return 0;
	if (!is_there && !text_equals(text_of(&frames->line), "missing"))
		return begin_piece(frames, reader, err);
	text_clear(&frames->line);
	reader->on_round(is_there, reader->data);
	return 0;
}

int append_sync_frames_read(struct append_sync_frames *frames, const char *bytes, size_t len,
			    const struct append_sync_reader *reader, struct err *err)
{
	int rc = 0;

	for (size_t used; len > 0 && rc == 0; bytes += used, len -= used) {
		if (frames->n_missing == 0) {
			rc = append_growth_line(frames, bytes, len, reader, &used, err);
			continue;
		}
		used = len < frames->n_missing ? len : (size_t) frames->n_missing;
		frames->n_missing -= used;
		rc = reader->on_bytes(bytes, used, reader->data, err);
	}
	return rc;
}
