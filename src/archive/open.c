/* Opens the module next to this program, once. */
#include "archive/archive.h"
#include "base/mem.h"
#include "io/own_process.h"

#include <dlfcn.h>
#include <string.h>

const struct archive_functions *archive_open(struct err *err)
{
	static const struct archive_functions *functions;

	if (functions)
		return functions;
	char *program CLEANUP(mem_free_text) = own_program_path();
	int folder_len = (int) (strrchr(program, '/') + 1 - program);
	char *path CLEANUP(mem_free_text) = mem_format("%.*s" ARCHIVE_MODULE, folder_len, program);
	void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (module)
		functions = dlsym(module, ARCHIVE_MODULE_SYMBOL);
	if (!functions)
		err_set(err, ERR_NOT_FOUND, "cannot pack or unpack directories: %s", dlerror());
	return functions;
}
