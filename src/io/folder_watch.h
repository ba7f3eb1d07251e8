/* Tells what happens to the files of one folder, as the kernel reports it (inotify): nobody polls.
 * Changes made by other machines to a shared folder are not seen. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "io/loop.h"

enum folder_news {
	FOLDER_CHANGED, /* a file was written to, made or renamed */
	FOLDER_FILE_CLOSED, /* its writer closed a file, or has died */
	FOLDER_GONE, /* the folder was removed: the last news */
};

/* `file_name` is NULL where it is not known (more happened than the kernel could keep). */
typedef void (*folder_watch_fn)(enum folder_news news, const char *file_name, void *data);

struct folder_watch;

/* ERR_NOT_FOUND: no such folder; ERR_LIMIT: this user watches too many folders. */
int folder_watch_new(struct loop *loop, const char *path, folder_watch_fn fn, void *data,
		     struct folder_watch **ret_watch, struct err *err) MUST_USE;
void folder_watch_free(struct folder_watch *watch); /* NULL is fine */
