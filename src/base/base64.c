/* Four characters are three bytes. */
#include "base/base64.h"

#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static const char standard[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char for_urls[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* State of the reader, with the bits that do not yet make a whole byte. */
struct reading {
	const char *alphabet;
	bool is_padded;
	uint32_t bits;
	size_t n_characters;
	size_t n_padding;
	char *bytes;
	size_t len;
};

/* Up to three bytes as four letters. */
static void add_group(struct text *text, const unsigned char *bytes, size_t len)
{
	uint32_t group = (uint32_t) bytes[0] << 16;

	if (len > 1)
		group |= (uint32_t) bytes[1] << 8;
	if (len > 2)
		group |= bytes[2];
	text_add_char(text, standard[group >> 18]);
	text_add_char(text, standard[group >> 12 & 63]);
	text_add_char(text, len > 1 ? standard[group >> 6 & 63] : '=');
	text_add_char(text, len > 2 ? standard[group & 63] : '=');
}

void base64_add(struct text *text, const void *bytes, size_t len)
{
	for (size_t i = 0; i < len; i += 3)
		add_group(text, (const unsigned char *) bytes + i, len - i);
}

static bool accept_base64_padding(struct reading *reading)
{
	reading->n_padding++;
	return reading->is_padded && reading->n_padding <= 2 &&
	       reading->n_characters % 4 + reading->n_padding <= 4 && reading->n_characters % 4 > 1;
}

static bool decode_base64_character(struct reading *reading, char character)
{
	const char *found = character ? strchr(reading->alphabet, character) : NULL;

	if (reading->is_padded && (character == '\n' || character == '\r'))
		return true;
	if (character == '=')
		return accept_base64_padding(reading);
	if (!found || reading->n_padding)
		return false;
	reading->bits = reading->bits << 6 | (uint32_t) (found - reading->alphabet);
	size_t which = reading->n_characters % 4;

	if (which > 0) /* the first of four completes no byte, each of the others completes one */
		reading->bytes[reading->len++] = (char) (reading->bits >> (6 - 2 * which));
	reading->n_characters++;
	return true;
}

static bool is_whole(const struct reading *reading)
{
	if (reading->is_padded)
		return (reading->n_characters + reading->n_padding) % 4 == 0;
	return reading->n_characters % 4 != 1;
}

static int decode_base64_text(struct reading *reading, const char *text, size_t len,
			      struct err *err)
{
	for (size_t i = 0; i < len; i++)
		if (!decode_base64_character(reading, text[i]))
			return err_set(err, ERR_INVALID,
				       "not valid base64: unexpected character at position %zu",
				       i + 1);
	if (!is_whole(reading))
		return err_set(err, ERR_INVALID,
			       "not valid base64: incomplete after %zu characters", len);
	return 0;
}

static int read_alphabet(const char *alphabet, bool is_padded, const char *text, size_t len,
			 char **ret_bytes, size_t *ret_len, struct err *err)
{
	struct reading reading = {.alphabet = alphabet, .is_padded = is_padded};

	reading.bytes = mem_new(len / 4 * 3 + 4);
	int rc = decode_base64_text(&reading, text, len, err);

	if (rc < 0) {
		memset(reading.bytes, 0, reading.len);
		mem_free_text(&reading.bytes);
		return rc;
	}
	*ret_bytes = reading.bytes;
	*ret_len = reading.len;
	return 0;
}

int base64_read(const char *text, size_t len, char **ret_bytes, size_t *ret_len, struct err *err)
{
	return read_alphabet(standard, true, text, len, ret_bytes, ret_len, err);
}

int base64_read_url(const char *text, size_t len, char **ret_bytes, size_t *ret_len,
		    struct err *err)
{
	return read_alphabet(for_urls, false, text, len, ret_bytes, ret_len, err);
}
