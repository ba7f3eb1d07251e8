/* Names for jobs that were given none. */
#pragma once

#include "base/own.h"
#include "command/options.h"

/* "digits-x7k2p" from "digits.py": a DNS-1035 label of the word without its ending, short enough
 * for the names of its replicas (PROGRAM-evaluator-0, at most 63 characters), and five random
 * characters as Kubernetes' generateName adds them (k8s.io/apiserver/pkg/storage/names: no vowels,
 * no 0, 1, 3). No job of this machine has the name: of 6,000 jobs that are remembered, one in 2,000
 * new ones would find its name taken. Caller frees. */
char *job_name_choose(const struct options *options, const char *word) MUST_USE;
/* The beginning as it is and five random characters: what generateName means. Caller frees. */
char *job_name_generate(const char *beginning) MUST_USE;
