/* Opens the module next to this program, once, and forwards the calls to it. */
#include "archive/archive.h"
#include "archive/module.h"
#include "base/mem.h"
#include "io/own_process.h"

#include <dlfcn.h>
#include <string.h>

static const struct archive_functions *functions;

static char *module_path(void)
{
	char *program CLEANUP(mem_free_text) = own_program_path();
	const char *slash = strrchr(program, '/');

	return mem_format("%.*s" ARCHIVE_MODULE, (int) (slash - program + 1), program);
}

int archive_load(struct err *err)
{
	if (functions)
		return 0;
	char *path CLEANUP(mem_free_text) = module_path();
	void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (module)
		functions = dlsym(module, ARCHIVE_MODULE_SYMBOL);
	if (!functions)
		return err_set(err, ERR_NOT_FOUND, "cannot pack or unpack directories: %s",
			       dlerror());
	return 0;
}

int archive_pack_new(const char *path, const char *name, enum archive_format format,
		     const struct archive_limits *limits, struct archive_pack **ret_pack,
		     struct err *err)
{
	int rc = archive_load(err);

	return rc < 0 ? rc : functions->pack_new(path, name, format, limits, ret_pack, err);
}

void archive_pack_only(struct archive_pack *pack, bool (*wants)(const char *path, void *data),
		       void *data)
{
	functions->pack_only(pack, wants, data);
}

void archive_pack_end_with(struct archive_pack *pack, const char *name)
{
	functions->pack_end_with(pack, name);
}

int archive_pack_next(struct archive_pack *pack, const char **ret_bytes, size_t *ret_len,
		      struct err *err)
{
	return functions->pack_next(pack, ret_bytes, ret_len, err);
}

const struct archive_left_out *archive_pack_left_out(const struct archive_pack *pack)
{
	return functions->pack_left_out(pack);
}

void archive_pack_free(struct archive_pack *pack)
{
	if (pack)
		functions->pack_free(pack);
}

int archive_unpack(archive_source_fn source, void *data, const char *folder,
		   const struct archive_limits *limits, struct archive_left_out *ret_left_out,
		   struct err *err)
{
	int rc = archive_load(err);

	return rc < 0 ? rc : functions->unpack(source, data, folder, limits, ret_left_out, err);
}
