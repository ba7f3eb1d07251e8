#include "kube/refusal.h"

#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static bool has_any(const char *message, const char *const *words, size_t n_words)
{
	for (size_t i = 0; i < n_words; i++)
		if (strstr(message, words[i]))
			return true;
	return false;
}

/* The authorizer's words only: quotas and admission also answer 403, and no RBAC rule helps
 * there. */
static bool is_missing_right(const char *message)
{
	return strstr(message, " cannot ") && strstr(message, " resource ");
}

/* Controllers create these in a namespace a moment after its creation. */
static bool is_about_to_be_there(const char *message)
{
	static const char *const words[] = {"error looking up service account",
					    "no API token found for service account",
					    "status unknown for quota"};

	return has_any(message, words, ARRAY_LEN(words));
}

static enum kube_refusal forbidden(const char *message)
{
	if (is_missing_right(message))
		return KUBE_REFUSED_RIGHT;
	if (strstr(message, "exceeded quota"))
		return KUBE_REFUSED_QUOTA;
	return is_about_to_be_there(message) ? KUBE_REFUSED_FOR_NOW : KUBE_REFUSED_FOR_EVER;
}

enum kube_refusal kube_refusal_of(int http_code, const char *message)
{
	switch (http_code) {
	case 403:
		return forbidden(message);
	case 400:
	case 404: /* on a create: the namespace is missing */
	case 413:
	case 422:
		return KUBE_REFUSED_FOR_EVER;
	case 409:
		return KUBE_REFUSED_FOR_NOW;
	default:
		return KUBE_NOT_REFUSED;
	}
}

const char *kube_refusal_said(const char *sentence)
{
	const char *behind = strstr(sentence, ": ");

	return behind ? behind + strlen(": ") : sentence;
}

const char *kube_refusal_why(const char *sentence)
{
	static const char *const ends[] = {" is forbidden: ", " is invalid: "};
	const char *behind = kube_refusal_said(sentence);

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		const char *end = strstr(behind, ends[i]);

		if (end)
			return end + strlen(ends[i]);
	}
	return behind;
}
