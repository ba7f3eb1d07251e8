/* The step that a training process has reached, as it writes it into the file that
 * MUSTER_PROGRESS_FILE names: a decimal number, and perhaps white space behind it. */
#pragma once

#include <stdint.h>

/* 0: the file does not exist, is no regular file, or has no number from 1 to LIMIT_STEP in it. */
int64_t progress_file_read(const char *path);
