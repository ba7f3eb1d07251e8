/* SHA-1 (FIPS 180-4), which the handshake of WebSockets asks for. It protects nothing: for a client
 * that wants to find two texts with one digest it is broken. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SHA1_SIZE 20

void sha1(const void *bytes, size_t len, uint8_t ret_digest[SHA1_SIZE]);
