#include "io/folder_watch.h"

#include "base/mem.h"
#include "io/file.h"

#include <errno.h>
#include <stdalign.h>
#include <sys/inotify.h>
#include <unistd.h>

struct folder_watch {
	int fd;
	struct loop_watch *readable;
	folder_watch_fn fn;
	void *data;
};

static void on_folder_watch_readable(void *data);

static int watch_path(int fd, const char *path, struct err *err)
{
	const uint32_t events =
		IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE_SELF | IN_ONLYDIR;

	if (inotify_add_watch(fd, path, events) >= 0)
		return 0;
	if (errno == ENOENT)
		return err_set(err, ERR_NOT_FOUND, "directory '%s' not found", path);
	if (errno == ENOSPC)
		return err_set(
			err, ERR_LIMIT,
			"too many directories are watched (sysctl fs.inotify.max_user_watches)");
	return err_set_errno(err, errno, "cannot watch directory '%s'", path);
}

int folder_watch_new(struct loop *loop, const char *path, folder_watch_fn fn, void *data,
		     struct folder_watch **ret_watch, struct err *err)
{
	int fd CLEANUP(file_close) = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	if (fd < 0 && errno == EMFILE)
		return err_set(err, ERR_LIMIT,
			       "too many programs watch directories (sysctl "
			       "fs.inotify.max_user_instances)");
	if (fd < 0)
		return err_set_errno(err, errno, "cannot watch directories");
	int rc = watch_path(fd, path, err);

	if (rc)
		return rc;
	struct folder_watch *watch = mem_new(sizeof(*watch));

	*watch = (struct folder_watch){.fd = fd, .fn = fn, .data = data};
	watch->readable = loop_watch_readable(loop, fd, on_folder_watch_readable, watch);
	fd = -1;
	*ret_watch = watch;
	return 0;
}

void folder_watch_free(struct folder_watch *watch)
{
	if (!watch)
		return;
	loop_watch_free(watch->readable);
	file_close(&watch->fd);
	mem_free_any(&watch);
}

/* The last event is reported last; an overflow may hide everything except the end. */
static void report_folder_event(const struct folder_watch *watch, const struct inotify_event *event)
{
	const char *name = event->len > 0 ? event->name : NULL;

	if (event->mask & (IN_DELETE_SELF | IN_IGNORED))
		watch->fn(FOLDER_GONE, NULL, watch->data);
	else if (event->mask & (IN_CLOSE_WRITE | IN_Q_OVERFLOW))
		watch->fn(FOLDER_FILE_CLOSED, name, watch->data);
	else
		watch->fn(FOLDER_CHANGED, name, watch->data);
}

static void on_folder_watch_readable(void *data)
{
	struct folder_watch *watch = data;
	alignas(struct inotify_event) char events[8192];
	ssize_t len = read(watch->fd, events, sizeof(events));

	for (ssize_t at = 0; at < len;) {
		const struct inotify_event *event = (const void *) (events + at);

		report_folder_event(watch, event);
		at += (ssize_t) (sizeof(*event) + event->len);
	}
}
