/* The store in memory, for tests and simulations. Nothing outlives the process. */
#pragma once

#include "base/own.h"
#include "store/store.h"

struct store *store_memory_new(void) MUST_USE;
