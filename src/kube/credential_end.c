/* Parses just enough of X.509's DER (RFC 5280, 4.1) and of JSON Web Tokens for the expiry time. */
#include "base/base64.h"
#include "base/json.h"
#include "base/mem.h"
#include "kube/credential.h"

#include <string.h>

#define BEGINNING "-----BEGIN CERTIFICATE-----"
#define END "-----END"
#define MSEC_MAX_SECONDS (MSEC_NEVER / MSEC_PER_SECOND)

enum der_tag {
	DER_INTEGER = 0x02,
	DER_UTC_TIME = 0x17,
	DER_GENERALIZED_TIME = 0x18,
	DER_SEQUENCE = 0x30,
	DER_VERSION = 0xa0,
};

/* Bytes still to be read. */
struct der {
	const unsigned char *at;
	size_t len;
};

static bool parse_der_length(struct der *der, size_t *ret_len)
{
	size_t n_bytes;

	if (der->len == 0)
		return false;
	*ret_len = *der->at++;
	der->len--;
	if (*ret_len < 0x80)
		return true;
	n_bytes = *ret_len & 0x7f;
	if (n_bytes == 0 || n_bytes > 4 || n_bytes > der->len)
		return false;
	for (*ret_len = 0; n_bytes > 0; n_bytes--, der->len--)
		*ret_len = *ret_len << 8 | *der->at++;
	return true;
}

/* Takes the next value of any type. */
static bool parse_der_value(struct der *der, unsigned char *ret_tag, struct der *ret_value)
{
	size_t len;

	if (der->len == 0)
		return false;
	*ret_tag = *der->at++;
	der->len--;
	if (!parse_der_length(der, &len) || len > der->len)
		return false;
	*ret_value = (struct der){der->at, len};
	der->at += len;
	der->len -= len;
	return true;
}

static bool parse_tagged_der_value(struct der *der, enum der_tag wanted, struct der *ret_value)
{
	unsigned char tag;

	return parse_der_value(der, &tag, ret_value) && tag == wanted;
}

/* Advances from the certificate to the end of its notBefore. */
static bool find_not_after(struct der certificate, struct der *ret_validity)
{
	struct der whole, body, skipped;
	unsigned char tag;

	if (!parse_tagged_der_value(&certificate, DER_SEQUENCE, &whole) ||
	    !parse_tagged_der_value(&whole, DER_SEQUENCE, &body))
		return false;
	if (body.len > 0 && *body.at == DER_VERSION && !parse_der_value(&body, &tag, &skipped))
		return false;
	return parse_tagged_der_value(&body, DER_INTEGER, &skipped) && /* serial number */
	       parse_tagged_der_value(&body, DER_SEQUENCE, &skipped) && /* algorithm */
	       parse_tagged_der_value(&body, DER_SEQUENCE, &skipped) && /* issuer */
	       parse_tagged_der_value(&body, DER_SEQUENCE, ret_validity) &&
	       parse_der_value(ret_validity, &tag, &skipped);
}

/* "YYMMDDHHMMSSZ", the century by RFC 5280, 4.1.2.5.1, or "YYYYMMDDHHMMSSZ". */
static msec read_der_time(unsigned char tag, struct der time)
{
	char *text CLEANUP(mem_free_text) = mem_copy_bytes(time.at, time.len);
	const char *at = text;
	char *written CLEANUP(mem_free_text) = NULL;
	const char *century = "";
	msec end = MSEC_NEVER;

	if (tag == DER_UTC_TIME)
		century = *at >= '5' ? "19" : "20";
	else if (tag != DER_GENERALIZED_TIME)
		return MSEC_NEVER;
	if (strlen(text) + strlen(century) != strlen("YYYYMMDDHHMMSSZ"))
		return MSEC_NEVER;
	int year_len = tag == DER_UTC_TIME ? 2 : 4;
	const char *rest = at + year_len;

	written = mem_format("%s%.*s-%.2s-%.2sT%.2s:%.2s:%.2sZ", century, year_len, at, rest,
			     rest + 2, rest + 4, rest + 6, rest + 8);
	return text_read_time(written, &end, NULL) == 0 ? end : MSEC_NEVER;
}

msec kube_certificate_end(const char *pem)
{
	const char *begin = pem ? strstr(pem, BEGINNING) : NULL;
	const char *end = begin ? strstr(begin + strlen(BEGINNING), END) : NULL;
	char *bytes CLEANUP(mem_free_text) = NULL;
	size_t len = 0;

	if (!end)
		return MSEC_NEVER;
	begin += strlen(BEGINNING);
	if (base64_read(begin, (size_t) (end - begin), &bytes, &len, NULL) < 0)
		return MSEC_NEVER;
	struct der certificate = {(const unsigned char *) bytes, len}, validity, time;
	unsigned char tag;

	return find_not_after(certificate, &validity) && parse_der_value(&validity, &tag, &time)
		       ? read_der_time(tag, time)
		       : MSEC_NEVER;
}

static msec end_of_claims(const char *bytes, size_t len)
{
	struct json *claims CLEANUP(json_cleanup_secret) = NULL;

	if (json_read(bytes, len, &claims, NULL) < 0)
		return MSEC_NEVER;
	double end = json_as_real(json_get(claims, "exp"), -1);

	if (end < 0 || end >= (double) MSEC_MAX_SECONDS)
		return MSEC_NEVER;
	return (msec) end * MSEC_PER_SECOND;
}

msec kube_token_end(const char *token)
{
	const char *first = token ? strchr(token, '.') : NULL;
	const char *second = first ? strchr(first + 1, '.') : NULL;
	char *bytes CLEANUP(mem_free_text) = NULL;
	size_t len = 0;

	if (!second ||
	    base64_read_url(first + 1, (size_t) (second - first - 1), &bytes, &len, NULL) < 0)
		return MSEC_NEVER;
	msec end = end_of_claims(bytes, len);

	explicit_bzero(bytes, len);
	return end;
}
