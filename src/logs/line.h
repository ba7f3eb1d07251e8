/* A line of a replica's output, as readers of its log get it. */
#pragma once

#include "base/msec.h"
#include "logs/folder.h"

struct log_line {
	const struct log_name *name; /* the replica; set by log_reader */
	const char *bytes; /* without its end; valid until the next call for the same stream */
	size_t len;
	msec time; /* when its last byte was written; MSEC_UNSET if unknown */
	bool is_continuation; /* a further piece of the previous line */
	bool is_first; /* of an attempt that replaced another one; set by log_reader */
	/* For a line without an end so far: */
	bool is_bar; /* parts of it were overwritten */
	bool is_quiet; /* nothing was added since the last poll */
};
