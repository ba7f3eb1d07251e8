/* TensorBoard on this machine, as a child of this call, until a signal ends both. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "cli/copy_place.h"
#include "command/options.h"
#include "io/loop.h"

#include <stdbool.h>

struct tensorboard;

struct tensorboard_settings {
	const char *log_folder;
	const char *host; /* that it listens on */
	int port; /* 0: the first free one that it would take itself, from 6006 on */
};

/* Finds the program and a port, and stops the loop from now on when a signal comes or TensorBoard
 * ends; starts nothing yet. The settings live as long as it. ERR_NOT_FOUND: this machine has no
 * TensorBoard; ERR_EXISTS: the port is taken. */
int tensorboard_new(struct loop *loop, const struct tensorboard_settings *settings,
		    struct tensorboard **ret_tensorboard, struct err *err) MUST_USE;
/* Starts it, and prints its address. */
int tensorboard_start(struct tensorboard *tensorboard, struct err *err) MUST_USE;
bool tensorboard_is_started(const struct tensorboard *tensorboard);
/* A signal came, or it ended by itself, which was told; gives the exit code. */
bool tensorboard_is_over(const struct tensorboard *tensorboard, int *ret_exit_code);
/* Ends it, and waits for that. NULL is fine. */
void tensorboard_free(struct tensorboard *tensorboard);

/* On a folder of this machine; tells every mistake and gives the exit code. */
int tensorboard_show(const struct tensorboard_settings *settings);

/* On the log folder of a Pod. */
struct tensorboard_call {
	const struct options *options; /* which cluster */
	const struct copy_place *place; /* in the job */
	struct tensorboard_settings settings; /* without the folder */
	msec interval; /* between looks at the Pod */
};
