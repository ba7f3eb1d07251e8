/* The name of a job in command lines that muster prints: each can be run unchanged, wherever the
 * job is. */
#pragma once

#include "base/own.h"

/* "train", or on a cluster "kubernetes/team/train", followed by the options that select the cluster
 * (" --context lab", each word quoted for a shell; NULL: none). The namespace is NULL for a local
 * job. Caller frees. */
char *job_words_new(const char *namespace_name, const char *name, const char *choice) MUST_USE;
