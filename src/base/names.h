/* Syntax of names and words: Kubernetes' rules for object names, enum words, words for a shell. */
#pragma once

#include "base/text.h"

/* For strspn, whatever the locale is. */
#define NAME_LOWER "abcdefghijklmnopqrstuvwxyz"
#define NAME_LETTERS NAME_LOWER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define NAME_DIGITS "0123456789"

#define DNS_LABEL_MAX 63
#define DNS_SUBDOMAIN_MAX 253

/* DNS-1035 label, as IsDNS1035Label: [a-z]([-a-z0-9]*[a-z0-9])?, at most 63 characters. */
bool name_is_dns1035_label(const char *name);

/* DNS-1123 label: the same, but a digit may be first. For names of namespaces. */
bool name_is_dns_label(const char *name);
/* DNS-1123 subdomain: such labels with dots between them, at most 253 characters
 * (IsDNS1123Subdomain, which does not limit the single label). For names of most objects. */
bool name_is_dns_subdomain(const char *name);
/* The uid of an object or of a job, in the form of RFC 4122: 36 hexadecimal digits and dashes, so
 * it may name a directory. */
bool name_is_uid(const char *uid);
/* The value of a label (IsValidLabelValue): up to 63 letters, digits, '-', '_' and '.', a letter or
 * digit at both ends; or nothing. */
bool name_is_label_value(const char *value);
/* The key of a label, a taint or a resource (IsQualifiedName): like a label's value but not empty,
 * with an optional DNS subdomain and '/' before it. */
bool name_is_qualified(const char *name);

/* Makes a DNS-1035 label of any text: lower case, invalid characters become '-', cut to max_len
 * characters; `otherwise` if nothing is left. Caller frees. */
char *name_to_dns1035(const char *text, size_t max_len, const char *otherwise) MUST_USE;
/* The same for a DNS-1123 label. */
char *name_to_dns_label(const char *text, size_t max_len, const char *otherwise) MUST_USE;

/* An environment variable's name as Kubernetes accepts it: [-._a-zA-Z][-._a-zA-Z0-9]*. */
bool name_is_environment_variable(const char *name);

/* Index of `word` in a table of `count` words (NULL entries are skipped); -1: not found. */
int name_find_word(const char *const *words, size_t count, const char *word);
int name_find_word_ignoring_case(const char *const *words, size_t count, const char *word);

/* The word of `words` nearest to `word` (edit distance at most 2, case ignored), for "did you
 * mean"; NULL: none. */
const char *name_nearest(const char *const *words, size_t count, const char *word);

/* Appends a word of a command line for users, with quotes if a POSIX shell would change it. */
void shell_word_add(struct text *text, const char *word);
/* The same for a list that ends with NULL (NULL: it is empty), with blanks between the words. */
void shell_words_add(struct text *text, const char *const *words);
