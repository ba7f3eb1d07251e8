#include "base/base64.h"

#include "base/mem.h"

static const char standard[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char for_urls[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void base64_add(struct text *text, const void *bytes, size_t len)
{
	/* Up to three bytes are four letters. */
	for (size_t i = 0; i < len; i += 3) {
		const unsigned char *at = (const unsigned char *) bytes + i;
		size_t left = len - i;
		uint32_t group = (uint32_t) at[0] << 16;

		if (left > 1)
			group |= (uint32_t) at[1] << 8;
		if (left > 2)
			group |= at[2];
		text_add_char(text, standard[group >> 18]);
		text_add_char(text, standard[group >> 12 & 63]);
		text_add_char(text, left > 1 ? standard[group >> 6 & 63] : '=');
		text_add_char(text, left > 2 ? standard[group & 63] : '=');
	}
}

static int read_alphabet(const char *alphabet, bool is_padded, const char *text, size_t len,
			 char **ret_bytes, size_t *ret_len, struct err *err)
{
	char *bytes CLEANUP(mem_free_text) = mem_new(len / 4 * 3 + 4);
	size_t n_bytes = 0, n_characters = 0, n_padding = 0;
	uint32_t bits = 0; /* with those that do not yet make a whole byte */
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < len; i++) {
		const char *found = text[i] ? strchr(alphabet, text[i]) : NULL;
		size_t which = n_characters % 4;

		if (is_padded && (text[i] == '\n' || text[i] == '\r'))
			continue;
		if (is_padded && text[i] == '=' && which > 1 && which + n_padding < 4) {
			n_padding++;
			continue;
		}
		if (!found || n_padding) {
			rc = err_set(err, ERR_INVALID,
				     "not valid base64: unexpected character at position %zu",
				     i + 1);
			continue;
		}
		bits = bits << 6 | (uint32_t) (found - alphabet);
		if (which > 0) /* the first of four completes no byte, each of the others one */
			bytes[n_bytes++] = (char) (bits >> (6 - 2 * which));
		n_characters++;
	}
	if (rc == 0 && (is_padded ? (n_characters + n_padding) % 4 != 0 : n_characters % 4 == 1))
		rc = err_set(err, ERR_INVALID, "not valid base64: incomplete after %zu characters",
			     len);
	if (rc < 0) {
		explicit_bzero(bytes, n_bytes);
		return rc;
	}
	*ret_bytes = TAKE(bytes);
	*ret_len = n_bytes;
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
