/* Reads the step that a training process has reached from the file that MUSTER_PROGRESS_FILE names:
 * a decimal number, optionally followed by white space. */
#pragma once

#include <stdint.h>

/* 0: the file does not exist, is no regular file, or does not contain a number from 1 to
 * LIMIT_STEP. */
int64_t progress_file_read(const char *path);
