/* SHA-1 (FIPS 180-4), which the WebSocket handshake requires. It is no protection: attackers can
 * find two texts with the same digest. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SHA1_SIZE 20

void sha1(const void *bytes, size_t len, uint8_t ret_digest[SHA1_SIZE]);
