/* The program `muster`: without support for clusters. */
#include "cli/cluster_support.h"

const struct cluster_support *const cluster_support = NULL;
