/* The program `muster`: all but clusters. */
#include "cli/edition.h"

const struct edition *const edition = NULL;
