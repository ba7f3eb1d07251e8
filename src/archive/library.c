#include "archive/library.h"

#include "base/mem.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define LEFT_OUT_ROOM ((size_t) ARCHIVE_LEFT_OUT_SIZE - 40) /* for names; a number follows */

struct archive_locale archive_locale_begin(void)
{
	locale_t own = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t) 0);

	return (struct archive_locale){own, own ? uselocale(own) : (locale_t) 0};
}

void archive_locale_end(struct archive_locale *locale)
{
	if (!locale->own)
		return;
	uselocale(locale->previous);
	freelocale(locale->own);
}

struct archive *archive_or_end(struct archive *archive)
{
	if (!archive)
		mem_abort();
	return archive;
}

/* Uses libarchive's errno if it has one, else its message. A malformed stream has a message
 * although its errno is EILSEQ. */
int archive_set_err(struct err *err, struct archive *archive, const char *verb, const char *name)
{
	const char *words = archive_error_string(archive);
	int number = archive_errno(archive);

	if (number > 0 && number != EILSEQ)
		return err_set_errno(err, number, "cannot %s '%s'", verb, name);
	return err_set(err, ERR_INVALID, "cannot %s '%s': %s", verb, name,
		       words ? words : "no reason given by libarchive");
}

void archive_leave_out(struct archive_left_out *left_out, const char *name, const char *why)
{
	size_t len = strlen(left_out->text), room = LEFT_OUT_ROOM - len;

	if (text_starts_with(name, "./"))
		name += strlen("./");
	int n = snprintf(left_out->text + len, room, "%s'%s' (%s)", len ? ", " : "", name, why);
	bool has_room = n > 0 && (size_t) n < room;

	if (!has_room)
		left_out->text[len] = '\0';
	left_out->n_told += has_room;
	left_out->count++;
}

void archive_left_out_end(struct archive_left_out *left_out)
{
	size_t len = strlen(left_out->text);

	if (left_out->count > left_out->n_told)
		snprintf(left_out->text + len, ARCHIVE_LEFT_OUT_SIZE - len,
			 len ? " and %" PRIu64 " more" : "%" PRIu64 " with long names",
			 left_out->count - left_out->n_told);
}

bool archive_take_from(uint64_t *left, uint64_t count)
{
	if (count > *left)
		return false;
	*left -= count;
	return true;
}
