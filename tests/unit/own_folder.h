/* A folder of its own for each test, gone with all that is in it when the test ends. */
#pragma once

#include "base/own.h"
#include "io/folder.h"

#include <fcntl.h>
#include <stdio.h>

#define OWN_FOLDER_SIZE 32

/* The path is set anew each time. */
static inline void own_folder_make(char path[OWN_FOLDER_SIZE])
{
	snprintf(path, OWN_FOLDER_SIZE, "/tmp/muster-test-XXXXXX");
	assert_non_null(mkdtemp(path));
}

static inline void own_folder_remove(const char *path)
{
	assert_int_equal(folder_remove(AT_FDCWD, path, NULL), 0);
}
