/* Reports changes of the files in one directory from the kernel (inotify), without polling. Changes
 * by other machines in a shared directory are not seen. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "io/loop.h"

enum folder_news {
	FOLDER_CHANGED, /* a file was written to, created or renamed */
	FOLDER_FILE_CLOSED, /* its writer closed a file, or was killed */
	FOLDER_GONE, /* the directory was removed: the last report */
};

/* `file_name` is NULL if unknown (the kernel's queue overflowed). */
typedef void (*folder_watch_fn)(enum folder_news news, const char *file_name, void *data);

struct folder_watch;

/* ERR_NOT_FOUND: no such directory; ERR_LIMIT: this user watches too many directories. */
int folder_watch_new(struct loop *loop, const char *path, folder_watch_fn fn, void *data,
		     struct folder_watch **ret_watch, struct err *err) MUST_USE;
void folder_watch_free(struct folder_watch *watch); /* NULL is fine */
