/* Two ends are waited for, in any order: of the packing script in the container, and of the
 * unpacking process on this machine. */
#include "base/mem.h"
#include "base/text.h"
#include "io/file.h"
#include "io/folder.h"
#include "pods/copy_parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* The answer names the kind of the source. GNU tar exits with 1 when a file changed while it was
 * read, and says so on stderr; for other tars that code is a failure. An unreadable file does not
 * lose the rest, if tar can continue. */
static const char script_text[] =
	"path=$1\n"
	"fail() { echo \"$2\" >&2; exit \"$1\"; }\n"
	"command -v tar >/dev/null || fail 69 'the container has no tar, which copying needs'\n"
	"[ -e \"$path\" ] || fail 66 \"'$path' not found in the container\"\n"
	"case $(tar --version 2>/dev/null) in\n"
	"*GNU*) gnu=yes format='--format=pax --ignore-failed-read' ;;\n"
	"*bsdtar*) gnu= format=--format=pax ;;\n"
	"*) gnu= format= ;;\n"
	"esac\n"
	"if [ -d \"$path\" ]; then\n"
	"	echo folder\n"
	"	tar -c $format -f - -C \"$path\" .\n"
	"elif [ -f \"$path\" ]; then\n"
	"	echo file\n"
	"	tar -c -h $format -f - -C \"$(dirname \"$path\")\" \"./$(basename \"$path\")\"\n"
	"else\n"
	"	fail 69 \"'$path' is not a file or directory\"\n"
	"fi\n"
	"code=$?\n"
	"[ \"$gnu$code\" = yes1 ] && code=0\n"
	"exit $code\n";

/* Moving the copy to its destination. */

/* The only entry of the stage, which the container was to send as a file. Caller frees. */
static char *find_file(const char *stage, struct err *err)
{
	DIR *folder = opendir(stage);
	char *path = NULL;
	size_t count = 0;
	struct stat status;

	for (struct dirent *entry; folder && (entry = readdir(folder));) {
		if (text_equals(entry->d_name, ".") || text_equals(entry->d_name, ".."))
			continue;
		count++;
		mem_free_text(&path);
		path = mem_format("%s/%s", stage, entry->d_name);
	}
	if (folder)
		closedir(folder);
	if (count == 1 && lstat(path, &status) == 0 && S_ISREG(status.st_mode))
		return path;
	mem_free_text(&path);
	err_set(err, ERR_INVALID, "the container sent something other than the one file");
	return NULL;
}

static int install(struct kube_copy *copy, struct err *err)
{
	folder_measure(copy->stage, &copy->n_files, &copy->file_bytes);
	if (copy->must_have_files && !copy->n_files && !copy->warnings)
		return err_set(err, ERR_CONFLICT, "the directory has no files");
	if (copy->is_folder)
		return folder_exists(copy->target)
			       ? folder_move_contents(copy->stage, copy->target, err)
			       : folder_move(copy->stage, copy->target, err);
	if (copy->needs_folder)
		return err_set(err, ERR_NOT_FOUND, "directory '%s' not found", copy->target);
	char *file CLEANUP(mem_free_text) = find_file(copy->stage, err);

	return file ? folder_move(file, copy->target, err) : err->code;
}

/* Callbacks of both sides. */

static void end_if_both_ended(struct kube_copy *copy)
{
	struct err err = copy->err;

	if (copy->script || copy->unpacker)
		return;
	int rc = err.code ? err.code : install(copy, &err);

	copy->on_end(copy_warnings(copy), rc ? &err : NULL, copy->data);
	copy_free(copy);
}

/* The first error is the cause: the other side fails because of it. */
static void note(struct kube_copy *copy, const struct err *err)
{
	if (err && !copy->err.code)
		copy->err = *err;
}

static void on_copy_from_bytes(const char *bytes, size_t len, void *data)
{
	struct kube_copy *copy = data;

	copy->bytes += len;
	if (!copy->unpacker)
		return;
	unpacker_take(copy->unpacker, bytes, len);
	if (!unpacker_has_room(copy->unpacker))
		kube_exec_pause(kube_script_exec(copy->script));
}

static void on_copy_from_answer(const char *line, const char *bytes, size_t len, void *data)
{
	struct kube_copy *copy = data;

	copy->is_folder = text_equals(line, "folder");
	on_copy_from_bytes(bytes, len, data);
}

static void on_script_end(const char *warnings, const struct err *err, void *data)
{
	struct kube_copy *copy = data;

	copy->script = NULL;
	copy_add_warning(copy, warnings);
	if (err) { /* the copy is incomplete */
		note(copy, err);
		unpacker_cancel(TAKE(copy->unpacker));
	} else if (copy->unpacker) {
		unpacker_end_input(copy->unpacker);
	}
	end_if_both_ended(copy);
}

static void on_unpacker_room(void *data)
{
	struct kube_copy *copy = data;

	if (copy->script)
		kube_exec_resume(kube_script_exec(copy->script));
}

static void on_unpacker_end(const struct archive_left_out *left_out, const struct err *err,
			    void *data)
{
	struct kube_copy *copy = data;
	copy->unpacker = NULL;
	copy_warn_of_left_out(copy, left_out);
	note(copy, err);
	if (err)
		kube_script_cancel(TAKE(copy->script));
	end_if_both_ended(copy);
}

/* Starting. */

static void choose_target(struct kube_copy *copy, const struct kube_copy_request *request)
{
	char *base CLEANUP(mem_free_text) = copy_base(request->there);
	char *own CLEANUP(mem_free_text) = copy_base(request->here);
	char *here = mem_copy_text(request->here);

	/* "." and similar paths have no parent in their text. */
	if (!own && folder_exists(here)) {
		free(here);
		here = realpath(request->here, NULL);
	}
	copy->needs_folder = text_ends_with(here, "/") && !folder_exists(here);
	for (size_t len = strlen(here); len > 1 && here[len - 1] == '/'; len--)
		here[len - 1] = '\0';
	copy->target =
		base && folder_exists(here) ? mem_format("%s/%s", here, base) : mem_copy_text(here);
	free(here);
}

static int make_stage(struct kube_copy *copy, struct archive_limits *ret_limits, struct err *err)
{
	/* The parent of an existing directory may not be writable, and the directory may be a file
	 * system of its own. */
	char *parent CLEANUP(mem_free_text) = folder_exists(copy->target)
						      ? mem_copy_text(copy->target)
						      : file_folder_of(copy->target);
	char *stage CLEANUP(mem_free_text) = mem_format("%s/.muster-cp-XXXXXX", parent);
	struct statvfs disk;

	if (!folder_exists(parent))
		return err_set(err, ERR_NOT_FOUND, "directory '%s' not found", parent);
	if (statvfs(parent, &disk) < 0 || !mkdtemp(stage))
		return err_set_errno(err, errno, "cannot write into directory '%s'", parent);
	copy->stage = TAKE(stage);
	ret_limits->n_entries = COPY_FILES_LIMIT;
	ret_limits->bytes = (uint64_t) disk.f_bavail * disk.f_frsize;
	return 0;
}

static int start_unpacker(struct kube_copy *copy, struct loop *loop, struct err *err)
{
	struct unpacker_settings settings = {
		.loop = loop,
		.on_room = on_unpacker_room,
		.on_end = on_unpacker_end,
		.data = copy,
	};
	int rc = make_stage(copy, &settings.limits, err);

	settings.folder = copy->stage;
	return rc ? rc : unpacker_new(&settings, &copy->unpacker, err);
}

int kube_copy_from(struct kube_api *api, const struct kube_copy_request *request,
		   struct kube_copy **ret_copy, struct err *err)
{
	struct kube_copy *copy = mem_new(sizeof(*copy));
	const char *arguments[] = {request->there, NULL};
	const struct kube_script_request script = {
		.container = request->container,
		.text = script_text,
		.arguments = arguments,
		.on_answer = on_copy_from_answer,
		.on_bytes = on_copy_from_bytes,
		.on_end = on_script_end,
		.data = copy,
	};

	copy->on_end = request->on_end;
	copy->data = request->data;
	copy->must_have_files = request->must_have_files;
	choose_target(copy, request);
	int rc = start_unpacker(copy, request->loop, err);

	if (rc < 0) {
		copy_free(copy);
		return rc;
	}
	copy->script = kube_script_new(api, &script);
	*ret_copy = copy;
	return 0;
}
