#include "pods/append_sync.h"

#include "io/file.h"
#include "io/folder.h"
#include "pods/append_sync_frames.h"
#include "pods/script.h"

#include <inttypes.h>

#define FILES_LIMIT 100000 /* of a log directory; more are an error */
#define BLOCK_SIZE 4096 /* of usual file systems */

struct append_sync_file {
	char *path;
	uint64_t size; /* of the local copy */
};

struct kube_append_sync {
	struct kube_append_sync_request request; /* the callbacks */
	struct append_sync_folder *folder;
	struct kube_script *script;
	struct append_sync_frames frames;
	struct append_sync_file *file; /* of the present piece; NULL: none yet */
	int fd; /* open at its end; -1: none */
	bool has_answered;
	bool is_asked; /* a round, as soon as there is room to request it */
};

void append_sync_folder_done(struct append_sync_folder *folder)
{
	for (size_t i = 0; i < folder->n_files; i++)
		free(folder->files[i].path);
	free(folder->files);
	*folder = (struct append_sync_folder){.path = folder->path};
}

static struct append_sync_file *add_file(struct append_sync_folder *folder, const char *path,
					 struct err *err)
{
	if (folder->n_files >= FILES_LIMIT) {
		err_set(err, ERR_LIMIT, "there are more than %d event files", FILES_LIMIT);
		return NULL;
	}
	mem_grow(&folder->files, &folder->capacity, folder->n_files, sizeof(*folder->files));
	folder->files[folder->n_files] = (struct append_sync_file){.path = mem_copy_text(path)};
	return &folder->files[folder->n_files++];
}

/* A file that starts again becomes a new file: a reader of the old one reads that to its end. */
static int replace_growing_file(struct kube_append_sync *sync, const char *path, struct err *err)
{
	char *parent CLEANUP(mem_free_text) = file_folder_of(path);
	int rc = folder_create(parent, err);

	if (rc < 0)
		return rc;
	if (unlink(path) < 0 && errno != ENOENT)
		return err_set_errno(err, errno, "cannot replace '%s'", path);
	sync->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	sync->file->size = 0;
	return sync->fd < 0 ? err_set_errno(err, errno, "cannot make '%s'", path) : 0;
}

/* The disk space of a new file in addition to its bytes, with its parent directories, which alone
 * could fill the disk. A replaced file still counts: a reader may have it open. */
static int claim_folder_room(struct append_sync_folder *folder, const char *path, bool goes_on,
			     uint64_t len, struct err *err)
{
	uint64_t n_names = 1;

	for (const char *at = path; *at; at++)
		n_names += *at == '/';
	uint64_t cost = goes_on ? 0 : n_names * BLOCK_SIZE;

	if (len + cost > folder->bytes_left)
		return err_set(err, ERR_LIMIT,
			       "'%s' needs %" PRIu64
			       " more bytes, but muster uses at most half of the free space in "
			       "'%s' (set TMPDIR to another place)",
			       path, len, folder->path);
	folder->bytes_left -= cost;
	return 0;
}

static int on_piece(const char *path, uint64_t offset, uint64_t len, void *data, struct err *err)
{
	struct kube_append_sync *sync = data;
	char *here CLEANUP(mem_free_text) = mem_format("%s/%s", sync->folder->path, path);

	file_close(&sync->fd);
	sync->file = NULL;
	for (size_t i = 0; i < sync->folder->n_files && !sync->file; i++)
		if (text_equals(sync->folder->files[i].path, path))
			sync->file = &sync->folder->files[i];
	bool goes_on = sync->file && sync->file->size == offset;

	if (offset && !goes_on)
		return err_set(err, ERR_INVALID,
			       "the container sent bytes that were not requested");
	if (claim_folder_room(sync->folder, path, goes_on, len, err) < 0)
		return ERR_LIMIT;
	if (!sync->file)
		sync->file = add_file(sync->folder, path, err);
	if (!sync->file)
		return ERR_LIMIT;
	if (!goes_on)
		return replace_growing_file(sync, here, err);
	sync->fd = open(here, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
	return sync->fd < 0 ? err_set_errno(err, errno, "cannot write into '%s'", here) : 0;
}

static int on_piece_bytes(const char *bytes, size_t len, void *data, struct err *err)
{
	struct kube_append_sync *sync = data;
	size_t written = 0;
	int failure = file_write_all(sync->fd, bytes, len, &written);

	sync->file->size += written;
	sync->folder->bytes_left -= written;
	return failure ? err_set_errno(err, failure, "cannot write into '%s/%s'",
				       sync->folder->path, sync->file->path)
		       : 0;
}

static void on_round(bool is_there, void *data)
{
	struct kube_append_sync *sync = data;

	file_close(&sync->fd);
	sync->request.on_round(is_there, sync->request.data);
}

static void free_growth(struct kube_append_sync *sync)
{
	file_close(&sync->fd);
	append_sync_frames_done(&sync->frames);
	free(sync);
}

static void finish_growth_stream(struct kube_append_sync *sync, const struct err *err, bool is_lost)
{
	sync->request.on_end(err, is_lost, sync->request.data);
	free_growth(sync);
}

static void send_known_files(void *data)
{
	struct kube_append_sync *sync = data;
	struct text list CLEANUP(text_done) = {0};
	struct kube_exec *exec = kube_script_exec(sync->script);

	if (!sync->is_asked || !sync->has_answered || !kube_exec_has_room(exec))
		return;
	sync->is_asked = false;
	for (size_t i = 0; i < sync->folder->n_files; i++)
		text_addf(&list, "./%s//%" PRIu64 "\n", sync->folder->files[i].path,
			  sync->folder->files[i].size);
	text_add(&list, ".\n");
	kube_exec_send(exec, list.bytes, list.len);
}

static void on_growth_bytes(const char *bytes, size_t len, void *data)
{
	struct kube_append_sync *sync = data;
	const struct append_sync_reader reader = {on_piece, on_piece_bytes, on_round, sync};
	struct err err = {0};

	if (append_sync_frames_read(&sync->frames, bytes, len, &reader, &err) < 0) {
		kube_script_cancel(sync->script);
		finish_growth_stream(sync, &err, false);
	}
}

static void on_growth_answer(const char *line, const char *bytes, size_t len, void *data)
{
	struct kube_append_sync *sync = data;

	(void) line; /* the directory exists: no other answer is sent */
	sync->has_answered = true;
	send_known_files(sync);
	on_growth_bytes(bytes, len, data);
}

static void on_script_end(const char *warnings, const struct err *err, void *data)
{
	const struct err ended = {.code = ERR_UNREACHABLE, .text = "its container has ended"};

	(void) warnings;
	finish_growth_stream(data, err ? err : &ended, true);
}

struct kube_append_sync *kube_append_sync_new(struct kube_api *api,
					      const struct kube_append_sync_request *request,
					      struct append_sync_folder *folder)
{
	struct kube_append_sync *sync = mem_new(sizeof(*sync));
	const char *arguments[] = {request->there, NULL};
	const struct kube_script_request script = {
		.container = request->container,
		.text = send_growth_script,
		.arguments = arguments,
		.has_input = true,
		.on_answer = on_growth_answer,
		.on_bytes = on_growth_bytes,
		.on_room = send_known_files,
		.on_end = on_script_end,
		.data = sync,
	};

	sync->request = *request;
	sync->folder = folder;
	sync->fd = -1;
	sync->is_asked = true;
	sync->script = kube_script_new(api, &script);
	return sync;
}

void kube_append_sync_poll(struct kube_append_sync *sync)
{
	sync->is_asked = true;
	send_known_files(sync);
}

void kube_append_sync_cancel(struct kube_append_sync *sync)
{
	if (!sync)
		return;
	kube_script_cancel(sync->script);
	free_growth(sync);
}
