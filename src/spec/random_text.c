#include "spec/random_text.h"

#include "base/names.h"
#include "spec/limits.h"

#include <assert.h>

#define PUNCTUATION "~!@#$%^&*()-_+={}[]\\|<,>.?/\"';:`"

#define N_CHARACTERS_MAX 255

/* "[SET]{N}" at the start of a text. */
struct piece {
	const char *set;
	size_t set_len;
	const char *count; /* digits */
	size_t len; /* of the whole piece */
};

/* The characters of a set, each once. */
struct choice {
	char characters[128];
	size_t count;
};

static bool find_piece(const char *at, struct piece *piece)
{
	if (*at != '[')
		return false;
	piece->set = at + 1;
	piece->set_len = strspn(piece->set, NAME_LETTERS NAME_DIGITS "-\\");
	if (!piece->set_len || strncmp(piece->set + piece->set_len, "]{", 2) != 0)
		return false;
	piece->count = piece->set + piece->set_len + 2;

	const char *end = piece->count + strspn(piece->count, NAME_DIGITS);

	piece->len = (size_t) (end + 1 - at);
	return end > piece->count && *end == '}';
}

static void allow(struct choice *choice, const char *characters, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!memchr(choice->characters, characters[i], choice->count))
			choice->characters[choice->count++] = characters[i];
}

/* \d and similar. */
static bool allow_class(struct choice *choice, char letter)
{
	static const char letters[] = "wdaA";
	static const char *const classes[] = {NAME_LETTERS NAME_DIGITS "_", NAME_DIGITS,
					      NAME_LETTERS NAME_DIGITS, PUNCTUATION};
	const char *found = strchr(letters, letter);

	if (found && letter)
		allow(choice, classes[found - letters], strlen(classes[found - letters]));
	return found && letter;
}

/* From one to the other in the order a-zA-Z0-9. */
static bool allow_range(struct choice *choice, char from, char to)
{
	static const char order[] = NAME_LETTERS NAME_DIGITS;
	const char *first = strchr(order, from);
	const char *last = strchr(order, to);

	if (!first || !last || first > last)
		return false;
	allow(choice, first, (size_t) (last + 1 - first));
	return true;
}

static int read_set(const struct piece *piece, struct choice *choice, struct err *err)
{
	const char *at = piece->set;
	const char *end = piece->set + piece->set_len;

	while (at < end) {
		bool is_class = *at == '\\';
		bool is_range = at + 2 < end && at[1] == '-';
		bool is_known = is_class ? at + 1 < end && allow_class(choice, at[1])
					 : allow_range(choice, at[0], at[is_range ? 2 : 0]);

		if (!is_known)
			return err_set(err, ERR_INVALID,
				       "'[%.*s]' is not a set of characters (expected [a-zA-Z0-9], "
				       "or \\w, \\d, \\a, \\A inside it)",
				       (int) piece->set_len, piece->set);
		at += is_class ? 2 : is_range ? 3 : 1;
	}
	return 0;
}

static int add_piece(struct text *text, const struct piece *piece, random_bytes_fn random,
		     struct err *err)
{
	struct choice choice = {.count = 0};
	char digits[8] = "";
	size_t n_digits = strspn(piece->count, NAME_DIGITS);
	int64_t count = 0;
	int rc = read_set(piece, &choice, err);

	if (rc)
		return rc;
	if (n_digits < sizeof(digits))
		memcpy(digits, piece->count, n_digits);
	if (text_read_int(digits, 1, N_CHARACTERS_MAX, &count, NULL) < 0)
		return err_set(err, ERR_INVALID, "'{%.*s}': a set must produce 1 to %d characters",
			       (int) n_digits, piece->count, N_CHARACTERS_MAX);
	assert(choice.count > 0);
	size_t n_fair = 256 - 256 % choice.count;

	/* Each character has the same probability: bytes above the last whole multiple are drawn
	 * again. */
	while (count > 0) {
		unsigned char byte;

		random(&byte, 1);
		if (byte >= n_fair)
			continue;
		text_add_char(text, choice.characters[byte % choice.count]);
		count--;
	}
	return 0;
}

int random_text_add(struct text *text, const char *pattern, random_bytes_fn random, struct err *err)
{
	struct text made CLEANUP(text_done) = {0};

	while (*pattern) {
		struct piece piece;
		bool is_piece = find_piece(pattern, &piece);

		if (is_piece && add_piece(&made, &piece, random, err))
			return ERR_INVALID;
		if (!is_piece)
			text_add_char(&made, *pattern);
		pattern += is_piece ? piece.len : 1;
		if (made.len > LIMIT_RANDOM_TEXT)
			return err_set(err, ERR_LIMIT, "it would produce more than %d characters",
				       LIMIT_RANDOM_TEXT);
	}
	text_add(text, text_of(&made));
	return 0;
}
