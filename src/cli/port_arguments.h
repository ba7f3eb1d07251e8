/* The arguments after the job in `muster port-forward JOB [ROLE-INDEX] [LOCAL:]REMOTE...`. Pure. */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <stddef.h>

struct port_pair {
	int local; /* 0: any free port */
	int remote;
};

/* Zero it to begin. */
struct port_arguments {
	char *role; /* NULL: no replica was given */
	int index;
	struct port_pair *pairs; /* at least one */
	size_t n_pairs;
};

/* Reads "worker-1 8080:6006 6009 :8888", the words after the job. ERR_INVALID names an invalid
 * word, or a local port that is given twice. */
int port_arguments_read(const char *const *words, size_t n_words, struct port_arguments *arguments,
			struct err *err) MUST_USE;
void port_arguments_done(struct port_arguments *arguments);
