#include "tensorflow/library.h"

#include "base/mem.h"
#include "base/text.h"
#include "io/file.h"
#include "tensorflow/library_find.h"

#include <dlfcn.h>
#include <elf.h>

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#endif

/* It identifies the library. */
static const struct library_function version_function = {"TF_Version",
							 offsetof(struct library, version)};
static const struct library_function own_functions[] = {
	{"TF_NewStatus", offsetof(struct library, new_status)},
	{"TF_DeleteStatus", offsetof(struct library, delete_status)},
	{"TF_GetCode", offsetof(struct library, get_code)},
	{"TF_Message", offsetof(struct library, message)},
	{"TF_NewServer", offsetof(struct library, new_server)},
	{"TF_ServerStart", offsetof(struct library, server_start)},
	{"TF_ServerTarget", offsetof(struct library, server_target)},
};

int library_check_file(const char *path, struct err *err)
{
	int fd CLEANUP(file_close) = open(path, O_RDONLY | O_CLOEXEC);
	Elf64_Ehdr header = {0};

	if (fd < 0 && errno == ENOENT)
		return err_set(err, ERR_NOT_FOUND, "file '%s' not found", path);
	if (fd < 0)
		return err_set_errno(err, errno, "cannot open '%s'", path);
	/* The loader's "invalid ELF header" and similar messages do not say what to do. */
	file_read_at(fd, &header, sizeof(header), 0);
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
		return err_set(err, ERR_UNSUPPORTED, "'%s' is not a library (not an ELF file)",
			       path);
#ifdef OWN_MACHINE
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != OWN_MACHINE)
		return err_set(err, ERR_UNSUPPORTED,
			       "'%s' is a library for another kind of machine", path);
#endif
	if (header.e_type != ET_DYN)
		return err_set(err, ERR_UNSUPPORTED, "'%s' is not a shared library", path);
	return 0;
}

static bool find_function(const struct library *library, const struct library_function *function,
			  void *ret_struct)
{
	void *address = dlsym(library->handle, function->name);

	memcpy((char *) ret_struct + function->offset, &address, sizeof(address));
	return address != NULL;
}

int library_find_functions(const struct library *library, const struct library_function *functions,
			   size_t count, void *ret_struct, struct err *err)
{
	struct text missing CLEANUP(text_done) = {0};

	for (size_t i = 0; i < count; i++)
		if (!find_function(library, &functions[i], ret_struct))
			text_addf(&missing, "%s%s", missing.len ? ", " : "", functions[i].name);
	if (missing.len)
		return err_set(err, ERR_UNSUPPORTED, "TensorFlow %s in '%s' has no %s",
			       library->version(), library->path, text_of(&missing));
	return 0;
}

static int find_own_functions(struct library *library, struct err *err)
{
	if (!find_function(library, &version_function, library))
		return err_set(
			err, ERR_UNSUPPORTED,
			"'%s' is not TensorFlow's C library (libtensorflow_cc.so.2): it has no %s",
			library->path, version_function.name);
	if (!library_version_suffices(library->version()))
		return err_set(err, ERR_UNSUPPORTED,
			       "TensorFlow %s in '%s' is too old: " LIBRARY_LEAST_VERSION
			       " or later is needed",
			       library->version(), library->path);
	return library_find_functions(library, own_functions, ARRAY_LEN(own_functions), library,
				      err);
}

/* The library itself stays loaded. */
static void library_cleanup(struct library **library)
{
	if (*library)
		free((*library)->path);
	free(*library);
}

int library_open(const char *path, struct library **ret_library, struct err *err)
{
	struct err own;
	struct library *library CLEANUP(library_cleanup) = NULL;

	err = err ? err : &own;
	if (library_check_file(path, err))
		return err->code;
	/* Lazy: binding everything now takes as long as the rest of the start. Global: what
	 * TensorFlow itself opens later (device plugins) uses its symbols. */
	void *handle = dlopen(path, RTLD_LAZY | RTLD_GLOBAL);

	if (!handle)
		return err_set(err, ERR_IO, "cannot load TensorFlow's library: %s", dlerror());
	library = mem_new(sizeof(*library));
	library->path = mem_copy_text(path);
	library->handle = handle;
	if (find_own_functions(library, err))
		return err->code;
	*ret_library = TAKE(library);
	return 0;
}
