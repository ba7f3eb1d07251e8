/* From a container, two ends are waited for, in any order: of the packing script in the container,
 * and of the unpacking process on this machine. To a container, the script there reports which tar
 * it has, unpacks the stream, and moves the copy to its destination when the last file of the
 * stream has arrived. */
#include "pods/copy.h"

#include "archive/archive.h"
#include "archive/unpacker.h"
#include "io/file.h"
#include "io/folder.h"
#include "pods/script.h"

#include <dirent.h>
#include <inttypes.h>
#include <libgen.h>
#include <sys/statvfs.h>

/* A copy of more files is no training result but an error. */
#define COPY_FILES_LIMIT 10000000

struct kube_copy {
	void (*on_end)(const char *warnings, const struct err *err, void *data);
	void *data;
	struct kube_script *script; /* NULL: it has ended */
	uint64_t bytes;
	struct err err; /* the first one, on this machine */

	struct text warnings; /* of the container's tar, and about omitted files */

	/* From a container. */
	char *target; /* the destination */
	char *stage; /* the temporary directory next to it, for the incomplete copy */
	bool must_have_files;
	struct unpacker *unpacker; /* NULL: it has ended */
	bool is_folder; /* what the container sends */
	bool needs_folder; /* the destination ends with a slash, and does not exist yet */
	uint64_t n_files, file_bytes; /* received */

	/* To a container. */
	char *here;
	const struct archive_functions *archive; /* NULL: not opened */
	struct archive_pack *pack; /* NULL: not started, or all was sent */
};

/* The last component of a path: the name of the copy in cp. NULL if it has none ("/", ".", "a/.."):
 * the contents are meant. Caller frees. */
static char *copy_base(const char *path)
{
	char *copy CLEANUP(mem_free_text) = mem_copy_text(path);
	const char *base = basename(copy); /* POSIX's, which may cut the copy */
	bool has_name =
		!text_equals(base, "/") && !text_equals(base, ".") && !text_equals(base, "..");

	return has_name ? mem_copy_text(base) : NULL;
}

static void copy_add_warning(struct kube_copy *copy, const char *warning)
{
	if (*warning)
		text_addf(&copy->warnings, "%s%s", copy->warnings.len ? "; " : "", warning);
}

static void copy_warn_of_left_out(struct kube_copy *copy, const struct archive_left_out *left_out)
{
	char *warning CLEANUP(mem_free_text) = mem_format("left out: %s", left_out->text);

	if (left_out->count)
		copy_add_warning(copy, warning);
}

static void copy_free(struct kube_copy *copy)
{
	if (copy->stage && folder_remove(AT_FDCWD, copy->stage, NULL) < 0)
		copy->err.code = ERR_IO; /* the error is no longer used */
	if (copy->archive)
		copy->archive->pack_free(copy->pack);
	free(copy->target);
	free(copy->stage);
	text_done(&copy->warnings);
	free(copy->here);
	free(copy);
}

void kube_copy_cancel(struct kube_copy *copy)
{
	if (!copy)
		return;
	kube_script_cancel(copy->script);
	unpacker_cancel(copy->unpacker);
	copy_free(copy);
}

char *kube_copy_describe(const struct kube_copy *copy)
{
	char *amount CLEANUP(mem_free_text) = amount_of_bytes(copy->file_bytes);

	return mem_format("%" PRIu64 " file%s, %s, to %s", copy->n_files,
			  copy->n_files == 1 ? "" : "s", amount, copy->target);
}

uint64_t kube_copy_bytes(const struct kube_copy *copy)
{
	return copy->bytes;
}

/* From a container. Moving the copy to its destination. */

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
	if (copy->must_have_files && !copy->n_files && !copy->warnings.len)
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

/* To a container, there is only the script. */
static void end_if_both_ended(struct kube_copy *copy)
{
	struct err err = copy->err;

	if (copy->script || copy->unpacker)
		return;
	int rc = err.code || !copy->stage ? err.code : install(copy, &err);

	copy->on_end(text_of(&copy->warnings), rc ? &err : NULL, copy->data);
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
		.text = pack_script,
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
	int rc = start_unpacker(copy, api->loop, err);

	if (rc < 0) {
		copy_free(copy);
		return rc;
	}
	copy->script = kube_script_new(api, &script);
	*ret_copy = copy;
	return 0;
}

/* To a container. */

#define CONTENT "content" /* names in the stream, for unpack.sh */
#define WHOLE "whole"

/* The script ignores the end of input: the last file of the stream has not arrived. */
static void abandon_copy_to_pod(struct kube_copy *copy)
{
	kube_script_cancel(TAKE(copy->script));
	end_if_both_ended(copy);
}

static void on_copy_to_room(void *data)
{
	struct kube_copy *copy = data;
	struct kube_exec *exec = kube_script_exec(copy->script);
	const char *bytes;
	size_t len = 1;
	int rc = 0;

	while (copy->pack && len && rc == 0 && kube_exec_has_room(exec)) {
		rc = copy->archive->pack_next(copy->pack, &bytes, &len, &copy->err);
		if (rc == 0 && len)
			kube_exec_send(exec, bytes, len);
		copy->bytes += rc ? 0 : len;
	}
	if (rc == 0 && !len) {
		copy_warn_of_left_out(copy, copy->archive->pack_left_out(copy->pack));
		copy->archive->pack_free(TAKE(copy->pack));
		rc = kube_exec_end_input(exec, &copy->err);
	}
	if (rc < 0)
		abandon_copy_to_pod(copy);
}

static void on_copy_to_answer(const char *line, const char *bytes, size_t len, void *data)
{
	struct kube_copy *copy = data;
	const struct archive_packing packing = {
		.path = copy->here,
		.name = CONTENT,
		.format = text_equals(line, "pax") ? ARCHIVE_PAX : ARCHIVE_GNU,
		.limits = {COPY_FILES_LIMIT, UINT64_MAX},
		.last_name = WHOLE,
	};

	(void) bytes, (void) len; /* none are expected */
	copy->archive = archive_open(&copy->err);
	if (!copy->archive || copy->archive->pack_new(&packing, &copy->pack, &copy->err))
		abandon_copy_to_pod(copy);
	else
		on_copy_to_room(copy);
}

int kube_copy_to(struct kube_api *api, const struct kube_copy_request *request,
		 struct kube_copy **ret_copy, struct err *err)
{
	char *base CLEANUP(mem_free_text) = copy_base(request->here);
	struct stat status;

	if (stat(request->here, &status) < 0)
		return errno == ENOENT
			       ? err_set(err, ERR_NOT_FOUND, "'%s' not found", request->here)
			       : err_set_errno(err, errno, "cannot read '%s'", request->here);
	if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
		return err_set(err, ERR_INVALID, "'%s' is not a file or directory", request->here);
	struct kube_copy *copy = mem_new(sizeof(*copy));
	const char *arguments[] = {request->there, base ? base : "",
				   S_ISDIR(status.st_mode) ? "folder" : "file", NULL};
	const struct kube_script_request script = {
		.container = request->container,
		.text = unpack_script,
		.arguments = arguments,
		.has_input = true,
		.on_answer = on_copy_to_answer,
		.on_room = on_copy_to_room,
		.on_end = on_script_end,
		.data = copy,
	};

	copy->on_end = request->on_end;
	copy->data = request->data;
	copy->here = mem_copy_text(request->here);
	copy->script = kube_script_new(api, &script);
	*ret_copy = copy;
	return 0;
}
