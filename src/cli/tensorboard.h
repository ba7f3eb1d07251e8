/* TensorBoard on this machine, as a child of this process, until a signal stops both. */
#pragma once

#include "base/err.h"
#include "cli/replica_name.h"
#include "command/options.h"
#include "io/loop.h"

struct tensorboard;

struct tensorboard_settings {
	const char *log_folder;
	const char *host; /* to listen on */
	int port; /* 0: the first free one of TensorBoard's own range, from 6006 on */
};

/* Finds the program and a port, and starts nothing yet. From now on, the loop stops when a signal
 * comes or TensorBoard exits. The settings must outlive it. ERR_NOT_FOUND: this machine has no
 * TensorBoard; ERR_EXISTS: the port is in use. */
int tensorboard_new(struct loop *loop, const struct tensorboard_settings *settings,
		    struct tensorboard **ret_tensorboard, struct err *err) MUST_USE;
/* Starts it, and prints its address. */
int tensorboard_start(struct tensorboard *tensorboard, struct err *err) MUST_USE;
bool tensorboard_is_started(const struct tensorboard *tensorboard);
/* A signal came, or TensorBoard exited by itself, which was reported; gives the exit code. */
bool tensorboard_is_over(const struct tensorboard *tensorboard, int *ret_exit_code);
/* Stops it, and waits until it has exited. NULL is fine. */
void tensorboard_free(struct tensorboard *tensorboard);

/* Shows a directory of this machine; prints every error and returns the exit code. */
int tensorboard_show(const struct tensorboard_settings *settings);

/* Shows the log directory of a Pod. */
struct tensorboard_call {
	const struct options *options; /* these select the cluster */
	const struct copy_place *place; /* the path in the job */
	struct tensorboard_settings settings; /* without the directory */
	msec interval; /* between polls of the Pod */
};
