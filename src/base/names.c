#include "base/names.h"

#include "base/mem.h"

#include <ctype.h>
#include <strings.h>

/* Longer words are not compared for "did you mean". */
#define WORD_MAX 63
#define NEAREST_DISTANCE 2

#define UID_LEN 36

static bool is_lower(char byte)
{
	return byte >= 'a' && byte <= 'z';
}

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

/* Letters and digits of a label, with '-' between them. */
static bool is_dns_part(const char *part, size_t len)
{
	return len > 0 && part[0] != '-' && part[len - 1] != '-' &&
	       strspn(part, NAME_LOWER NAME_DIGITS "-") >= len;
}

bool name_is_dns_label(const char *name)
{
	size_t len = name ? strlen(name) : 0;

	return len <= DNS_LABEL_MAX && is_dns_part(name, len);
}

bool name_is_dns1035_label(const char *name)
{
	return name_is_dns_label(name) && is_lower(name[0]);
}

static bool is_dns_subdomain(const char *name, size_t len)
{
	size_t begin = 0;

	if (len > DNS_SUBDOMAIN_MAX)
		return false;
	for (size_t i = 0; i <= len; i++)
		if (i == len || name[i] == '.') {
			if (!is_dns_part(name + begin, i - begin))
				return false;
			begin = i + 1;
		}
	return true;
}

bool name_is_uid(const char *uid)
{
	return uid && strlen(uid) == UID_LEN && strspn(uid, NAME_DIGITS "abcdef-") == UID_LEN;
}

bool name_is_dns_subdomain(const char *name)
{
	return name && is_dns_subdomain(name, strlen(name));
}

bool name_is_label_value(const char *value)
{
	static const char marks[] = "-_.";
	size_t len = strlen(value);

	if (len == 0)
		return true;
	return len <= DNS_LABEL_MAX && !strchr(marks, value[0]) && !strchr(marks, value[len - 1]) &&
	       strspn(value, NAME_LETTERS NAME_DIGITS "-_.") == len;
}

bool name_is_qualified(const char *name)
{
	const char *slash = strchr(name, '/');

	if (slash && !is_dns_subdomain(name, (size_t) (slash - name)))
		return false;
	name = slash ? slash + 1 : name;
	return *name && name_is_label_value(name);
}

static char *name_to_label(const char *text, size_t max_len, bool may_begin_with_digit,
			   const char *otherwise)
{
	if (max_len > DNS_LABEL_MAX)
		max_len = DNS_LABEL_MAX;
	char name[DNS_LABEL_MAX + 1];
	size_t len = 0;

	for (; text && *text && len < max_len; text++) {
		char lower = *text >= 'A' && *text <= 'Z' ? (char) (*text - 'A' + 'a') : *text;
		char byte = is_lower(lower) || is_digit(lower) ? lower : '-';
		bool may_begin = is_lower(byte) || (may_begin_with_digit && is_digit(byte));
		bool is_second_dash = byte == '-' && len > 0 && name[len - 1] == '-';

		if ((len > 0 || may_begin) && !is_second_dash)
			name[len++] = byte;
	}
	while (len > 0 && name[len - 1] == '-')
		len--;
	return len > 0 ? mem_copy_bytes(name, len) : mem_copy_text(otherwise);
}

char *name_to_dns1035(const char *text, size_t max_len, const char *otherwise)
{
	return name_to_label(text, max_len, false, otherwise);
}

char *name_to_dns_label(const char *text, size_t max_len, const char *otherwise)
{
	return name_to_label(text, max_len, true, otherwise);
}

bool name_is_environment_variable(const char *name)
{
	return name && *name && !is_digit(*name) &&
	       !name[strspn(name, NAME_LETTERS NAME_DIGITS "-._")];
}

int name_find_word(const char *const *words, size_t count, const char *word)
{
	for (size_t i = 0; i < count; i++)
		if (words[i] && word && strcmp(words[i], word) == 0)
			return (int) i;
	return -1;
}

int name_find_word_ignoring_case(const char *const *words, size_t count, const char *word)
{
	for (size_t i = 0; i < count; i++)
		if (words[i] && word && strcasecmp(words[i], word) == 0)
			return (int) i;
	return -1;
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static bool is_same_letter(char a, char b)
{
	return tolower((unsigned char) a) == tolower((unsigned char) b);
}

/* Optimal string alignment: insertions, deletions, substitutions and swaps of two neighbors.
 * Letters that differ in their case are the same. */
static size_t edit_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t cost[WORD_MAX + 1][WORD_MAX + 1];

	for (size_t i = 0; i <= a_len; i++)
		cost[i][0] = i;
	for (size_t j = 0; j <= b_len; j++)
		cost[0][j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		for (size_t j = 1; j <= b_len; j++) {
			size_t replaced = cost[i - 1][j - 1] + !is_same_letter(a[i - 1], b[j - 1]);

			cost[i][j] = smaller(replaced, smaller(cost[i - 1][j], cost[i][j - 1]) + 1);
			if (i > 1 && j > 1 && is_same_letter(a[i - 1], b[j - 2]) &&
			    is_same_letter(a[i - 2], b[j - 1]))
				cost[i][j] = smaller(cost[i][j], cost[i - 2][j - 2] + 1);
		}
	}
	return cost[a_len][b_len];
}

const char *name_nearest(const char *const *words, size_t count, const char *word)
{
	size_t len = word ? strlen(word) : 0;
	size_t best = smaller(NEAREST_DISTANCE + 1, len);
	const char *nearest = NULL;

	for (size_t i = 0; i < count && len <= WORD_MAX; i++) {
		size_t word_len = words[i] ? strlen(words[i]) : 0;

		size_t difference = word_len > len ? word_len - len : len - word_len;

		if (word_len == 0 || word_len > WORD_MAX || difference >= best)
			continue; /* each surplus or missing character costs one */
		size_t distance = edit_distance(word, len, words[i], word_len);
		size_t longer = len + word_len - smaller(len, word_len);

		/* Most of a short word is not a mistake. */
		if (distance < best && distance <= (longer + 1) / 3) {
			best = distance;
			nearest = words[i];
		}
	}
	return nearest;
}

void shell_word_add(struct text *text, const char *word)
{
	if (*word && !word[strspn(word, NAME_LETTERS NAME_DIGITS "%+,-./:=@_")]) {
		text_add(text, word);
		return;
	}
	text_add_char(text, '\'');
	for (; *word; word++)
		if (*word == '\'')
			text_add(text, "'\\''");
		else
			text_add_char(text, *word);
	text_add_char(text, '\'');
}

void shell_words_add(struct text *text, const char *const *words)
{
	for (size_t i = 0; words && words[i]; i++) {
		if (i > 0)
			text_add_char(text, ' ');
		shell_word_add(text, words[i]);
	}
}
