/* The only symbol of the module. */
#include "archive/library.h"

extern const struct archive_functions muster_archive_functions;

const struct archive_functions muster_archive_functions = {
	.pack_new = archive_pack_new,
	.pack_next = archive_pack_next,
	.pack_left_out = archive_pack_left_out,
	.pack_free = archive_pack_free,
	.unpack = archive_unpack,
};

/* A program with this file linked in needs no module. */
const struct archive_functions *archive_open(struct err *err)
{
	(void) err;
	return &muster_archive_functions;
}
