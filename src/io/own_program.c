/* The program that runs now. argv[0] says only what it was called by. */
#include "io/own_program.h"

#include "base/mem.h"

#include <limits.h>
#include <unistd.h>

#define OWN_LINK "/proc/self/exe"

char *own_program_path(void)
{
	char path[PATH_MAX];
	ssize_t len = readlink(OWN_LINK, path, sizeof(path) - 1);

	if (len > 0) {
		path[len] = '\0';
		if (access(path, X_OK) == 0)
			return mem_copy_text(path);
	}
	return mem_copy_text(OWN_LINK);
}
