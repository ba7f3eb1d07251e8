/* The error that a process left in its TORCHELASTIC_ERROR_FILE, as `record` of
 * torch.distributed.elastic does.
 *
 * Source: torch/distributed/elastic/multiprocessing/errors/error_handler.py of PyTorch 2.15. */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "status/exception.h"

/* Adds its stack, or else its message, as if it were printed last, unless it was. At most `most`
 * lines stay. A file that is missing, no regular one, or not such JSON adds nothing. */
void error_file_add(const char *path, size_t most, struct arena *arena, struct printed *printed);

/* Copies the error, with the exit code (negative: a signal) as its errorCode, into the file that
 * the program above a launcher reads, as torchrun does. Without an error nothing is written. */
int error_file_export(const char *path, int exit_code, const char *to, struct err *err) MUST_USE;
