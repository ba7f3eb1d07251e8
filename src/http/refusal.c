#include "http/refusal.h"

#include "base/mem.h"
#include "base/names.h"
#include "base/text.h"

#include <arpa/inet.h>
#include <event2/http.h>
#include <event2/http_struct.h>
#include <event2/keyvalq_struct.h>
#include <netinet/in.h>
#include <strings.h>
#include <sys/queue.h>

/* Headers that must not occur twice. */
enum single_header { HOST, ORIGIN, SITE, CODING, N_SINGLE };
static const char *const single_headers[N_SINGLE] = {"Host", "Origin", "Sec-Fetch-Site",
						     "Transfer-Encoding"};

/* RFC 9110, 5.6.2: in particular, no space before the colon. */
static bool is_token(const char *text)
{
	return *text && !text[strspn(text, NAME_LETTERS NAME_DIGITS "!#$%&'*+-.^_`|~")];
}

/* Without control bytes; to some programs a carriage return ends a line. */
static bool is_plain_header_value(const char *text)
{
	for (; *text; text++)
		if (((unsigned char) *text < ' ' && *text != '\t') || *text == '\x7f')
			return false;
	return true;
}

/* The values of the single headers; NULL: absent. */
static bool read_headers(const struct evkeyvalq *all, const char *ret_values[N_SINGLE])
{
	const struct evkeyval *header;

	TAILQ_FOREACH (header, all, next) {
		int place = name_find_word_ignoring_case(single_headers, N_SINGLE, header->key);

		if (!is_token(header->key) || !is_plain_header_value(header->value) ||
		    (place >= 0 && ret_values[place]))
			return false;
		if (place >= 0)
			ret_values[place] = header->value;
	}
	return true;
}

static bool is_own_address(const char *host, bool is_on_loopback)
{
	struct in_addr v4;
	struct in6_addr v6;

	if (inet_pton(AF_INET, host, &v4) == 1)
		return !is_on_loopback || ntohl(v4.s_addr) >> IN_CLASSA_NSHIFT == IN_LOOPBACKNET;
	return inet_pton(AF_INET6, host, &v6) == 1 &&
	       (!is_on_loopback || IN6_IS_ADDR_LOOPBACK(&v6));
}

/* `host` may have a port; NULL: none is given. */
static bool is_for_us(const char *host, const char *const *hosts, bool is_on_loopback)
{
	if (!host || !hosts)
		return true;
	bool is_bracketed = *host == '[';
	char *name CLEANUP(mem_free_text) = mem_copy_text(host + is_bracketed);

	name[strcspn(name, is_bracketed ? "]" : ":")] = '\0';
	for (; *hosts; hosts++)
		if (text_equals_ignoring_case(name, *hosts))
			return true;
	return is_own_address(name, is_on_loopback);
}

/* Embedded content, such as an image, has no Origin. "none": the user typed the address. */
static bool is_of_other_site(const char *const values[N_SINGLE])
{
	const char *origin = values[ORIGIN], *host = values[HOST];
	const char *scheme_end = origin ? strstr(origin, "://") : NULL;

	if (values[SITE] && !text_equals(values[SITE], "none") &&
	    !text_equals(values[SITE], "same-origin"))
		return true;
	return origin &&
	       !(host && scheme_end && text_equals_ignoring_case(scheme_end + strlen("://"), host));
}

struct http_refusal http_refusal_of(const struct evhttp_request *request, const char *const *hosts,
				    bool is_on_loopback)
{
	static const struct http_refusal none = {0}, bad = {400, "Bad Request"},
					 other_version = {505, "HTTP Version Not Supported"},
					 no_length = {411, "Length Required"},
					 misdirected = {421, "Misdirected Request"},
					 forbidden = {403, "Forbidden"};
	const char *values[N_SINGLE] = {NULL};

	/* evhttp answers in any version up to 1: an answer in 0.0 would have no detectable end. */
	if (request->major != 1 || request->minor < 0)
		return other_version;
	if (!is_plain_header_value(request->uri) || strpbrk(request->uri, " \t") ||
	    !read_headers(request->input_headers, values) || (!values[HOST] && request->minor > 0))
		return bad;
	if (values[CODING])
		return no_length;
	const char *target = evhttp_uri_get_host(evhttp_request_get_evhttp_uri(request));

	if (!is_for_us(values[HOST], hosts, is_on_loopback) ||
	    !is_for_us(target, hosts, is_on_loopback))
		return misdirected;
	if (is_of_other_site(values))
		return forbidden;
	return none;
}

/* Fetch Metadata is absent over plain HTTP to a network, the others are not. */
bool http_is_from_browser(const struct evhttp_request *request)
{
	static const char *const names[] = {"Origin", "Referer", "Accept-Language",
					    "Upgrade-Insecure-Requests"};
	const struct evkeyval *header;

	TAILQ_FOREACH (header, request->input_headers, next) {
		if (strncasecmp(header->key, "Sec-Fetch-", strlen("Sec-Fetch-")) == 0 ||
		    name_find_word_ignoring_case(names, ARRAY_LEN(names), header->key) >= 0)
			return true;
	}
	return false;
}

#define BEARER "Bearer "

bool http_is_same_secret(const char *given, const void *data)
{
	const char *secret = data;
	size_t len = strlen(secret), given_len = strlen(given);
	unsigned char difference = len != given_len;

	for (size_t i = 0; i < given_len; i++)
		difference |= (unsigned char) given[i] ^ (unsigned char) secret[i % (len + 1)];
	return difference == 0;
}

/* RFC 6750, 2.1; the name of the scheme is case-insensitive (RFC 9110, 11.1). */
bool http_access_accepts(const struct http_access *access, const char *authorization,
			 const char *own)
{
	if (!access->is_known)
		return true;
	if (own)
		return access->is_known(own, access->secret);
	return authorization && strncasecmp(authorization, BEARER, strlen(BEARER)) == 0 &&
	       access->is_known(authorization + strlen(BEARER), access->secret);
}
