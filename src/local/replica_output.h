/* Copies the output of replicas from their pipes into their logs.
 *
 * Pipes are read whenever they contain output, whether the logs are read or not, so that no replica
 * ever waits for a reader. A replica that prints much in little pieces is read a few hundred times
 * a second instead of once for each piece; a silent one costs nothing. */
#pragma once

#include "base/msec.h"
#include "base/own.h"
#include "io/loop.h"
#include "io/terminal.h"
#include "logs/writer.h"

struct output_reader; /* shared by all replicas: a buffer and a timer */
struct replica_output; /* one attempt's pipe and log */

/* A callback may not free an output. */
struct output_listener {
	void (*on_output)(void *data); /* output was added to a log; NULL: not told */
	void (*on_trouble)(const char *sentence, void *data); /* a log cannot be written, or can
								 again */
	void *data;
};

struct output_reader *output_reader_new(struct loop *loop,
					const struct output_listener *listener) MUST_USE;
/* The number of pipes that will be read at the same time: the fewer, the larger each is made. */
void output_reader_expect(struct output_reader *reader, size_t n_pipes);
/* Free all outputs before. NULL is fine. */
void output_reader_free(struct output_reader *reader);

/* Reads from the pipe, or terminal, until it ends or replica_output_finish is called. Takes over
 * the descriptor (the read end) and the log, which may be NULL: then the output is dropped. */
struct replica_output *replica_output_new(struct output_reader *reader, int take_fd,
					  struct log_writer *take_log) MUST_USE;
/* For a terminal. */
void replica_output_set_size(const struct replica_output *output, struct terminal_size size);
/* When output last arrived; MSEC_UNSET: never. */
msec replica_output_last(const struct replica_output *output);
/* The replica has exited: reads what is still in the pipe, without waiting, and closes both. NULL
 * is fine. */
void replica_output_finish(struct replica_output *output);
/* Closes both without reading; NULL is fine. */
void replica_output_free(struct replica_output *output);
