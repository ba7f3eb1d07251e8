/* The output of replicas on its way from their pipes into their logs.
 *
 * Pipes are read as long as there is something in them, whether the logs are read or not, so that
 * no replica ever waits for a reader. A replica that prints much in little pieces is read a few
 * hundred times a second instead of once for each piece; one that is silent costs nothing. */
#pragma once

#include "base/msec.h"
#include "base/own.h"
#include "io/loop.h"
#include "logs/writer.h"

struct output_reader; /* what all replicas share: a buffer and a timer */
struct replica_output; /* one attempt's pipe and log */

/* What is called may not free an output. */
struct output_listener {
	void (*on_output)(void *data); /* something was added to a log */
	void (*on_trouble)(const char *sentence, void *data); /* a log cannot be written (again) */
	void *data;
};

struct output_reader *output_reader_new(struct loop *loop,
					const struct output_listener *listener) MUST_USE;
/* So many pipes will be read at once: the fewer they are, the larger they are made. */
void output_reader_expect(struct output_reader *reader, size_t n_pipes);
/* All outputs must have been freed before. NULL is fine. */
void output_reader_free(struct output_reader *reader);

/* Reads from the pipe until it ends or replica_output_finish is called. Takes over the descriptor
 * (the read end) and the log, which may be NULL: what comes is dropped then. */
struct replica_output *replica_output_new(struct output_reader *reader, int take_fd,
					  struct log_writer *take_log) MUST_USE;
/* When something came last; MSEC_UNSET: nothing has. */
msec replica_output_last(const struct replica_output *output);
/* The replica has ended: takes what is still in the pipe, waits for nothing, and closes both.
 * NULL is fine. */
void replica_output_finish(struct replica_output *output);
/* Closes both without reading; NULL is fine. */
void replica_output_free(struct replica_output *output);
