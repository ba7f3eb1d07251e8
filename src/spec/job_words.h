/* How a command line names a job: every one that muster prints can be run as it stands, wherever
 * the job is. */
#pragma once

#include "base/own.h"

/* "train", or on a cluster "kubernetes/team/train", and behind it the options that lead there
 * (" --context lab", each word as a shell reads it; NULL: none). The namespace is NULL for a job of
 * this machine. Caller frees. */
char *job_words_new(const char *namespace_name, const char *name, const char *choice) MUST_USE;
