/* What a fuzz target is: tests/fuzz/run_corpus.c and libFuzzer call it with any bytes. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Takes the bytes as a file from outside; aborts when a promise is broken. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);
