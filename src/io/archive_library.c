#include "io/archive_library.h"

#include "base/mem.h"

#include <errno.h>

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
		mem_end();
	return archive;
}

/* An errno where libarchive has one, else its words, as for what is wrong with the stream, which it
 * calls EILSEQ. */
int archive_set_err(struct err *err, struct archive *archive, const char *verb, const char *name)
{
	const char *words = archive_error_string(archive);
	int number = archive_errno(archive);

	if (number > 0 && number != EILSEQ)
		return err_set_errno(err, number, "cannot %s '%s'", verb, name);
	return err_set(err, ERR_INVALID, "cannot %s '%s': %s", verb, name,
		       words ? words : "libarchive does not say why");
}

bool archive_take_from(uint64_t *left, uint64_t count)
{
	if (count > *left)
		return false;
	*left -= count;
	return true;
}
