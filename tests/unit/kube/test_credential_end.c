/* When certificates and tokens end, and that nothing is made up where they do not say. */
#include "unit.h"

#include "base/base64.h"
#include "base/mem.h"
#include "kube/credential.h"

/* Made by openssl req -x509; it ended on 23 November 2026. */
static const char real[] = "issued to nobody\n"
			   "-----BEGIN CERTIFICATE-----\n"
			   "MIIBbTCCAROgAwIBAgIUQqP2o4h+pF4FX/e7Zyjhzw4aPZUwCgYIKoZIzj0EAwIw\n"
			   "DDEKMAgGA1UEAwwBeDAeFw0yNjExMjEyMDMyMDJaFw0yNjExMjMyMDMyMDJaMAwx\n"
			   "CjAIBgNVBAMMAXgwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQuh5RQUF1fyELX\n"
			   "Wxs0E9x1uqb767ZZ8808u0JP5tzBEnwM3VstJHPdWYW9plaH6WhqB1QjGd4fJQXJ\n"
			   "cxp6WYhVo1MwUTAdBgNVHQ4EFgQUueBeKb24n2rp5n7smrx6kH3rnqEwHwYDVR0j\n"
			   "BBgwFoAUueBeKb24n2rp5n7smrx6kH3rnqEwDwYDVR0TAQH/BAUwAwEB/zAKBggq\n"
			   "hkjOPQQDAgNIADBFAiBJ9odZTmqQHCvL9Pbjw2U9uPzNLCz/kmOMWnwfN+yj/gIh\n"
			   "AJzCyQlgdfiND3nTV3NSBmEJcfG7d5E+slEg0qOSoYtP\n"
			   "-----END CERTIFICATE-----\n";

static msec time_of(const char *text)
{
	msec time = 0;

	assert_int_equal(text_read_time(text, &time, NULL), 0);
	return time;
}

/* A DER value of less than 128 bytes. */
static void add_value(struct text *der, unsigned char tag, const char *bytes, size_t len)
{
	text_add_char(der, (char) tag);
	text_add_char(der, (char) len);
	text_add_bytes(der, bytes, len);
}

/* As much of a certificate as is looked at, ended at that time. */
static char *certificate(unsigned char tag, const char *end)
{
	struct text validity CLEANUP(text_done) = {0};
	struct text body CLEANUP(text_done) = {0};
	struct text signed_body CLEANUP(text_done) = {0};
	struct text whole CLEANUP(text_done) = {0};
	struct text pem CLEANUP(text_done) = {0};

	add_value(&validity, 0x17, "200101000000Z", 13);
	add_value(&validity, tag, end, strlen(end));
	add_value(&body, 0x02, "\x01", 1);
	add_value(&body, 0x30, "", 0);
	add_value(&body, 0x30, "", 0);
	add_value(&body, 0x30, validity.bytes, validity.len);
	add_value(&signed_body, 0x30, body.bytes, body.len);
	add_value(&whole, 0x30, signed_body.bytes, signed_body.len);
	text_add(&pem, "-----BEGIN CERTIFICATE-----\n");
	base64_add(&pem, whole.bytes, whole.len);
	text_add(&pem, "\n-----END CERTIFICATE-----\n");
	return text_take(&pem);
}

static void assert_certificate_end(unsigned char tag, const char *end, msec wanted)
{
	char *pem CLEANUP(mem_free_text) = certificate(tag, end);

	assert_true(kube_certificate_end(pem) == wanted);
}

TEST(a_real_certificate_tells_its_end)
{
	assert_true(kube_certificate_end(real) == time_of("2026-11-23T20:32:02Z"));
}

TEST(both_forms_of_time_are_read)
{
	assert_certificate_end(0x17, "300102030405Z", time_of("2030-01-02T03:04:05Z"));
	assert_certificate_end(0x17, "991231235959Z", time_of("1999-12-31T23:59:59Z"));
	assert_certificate_end(0x18, "20510102030405Z", time_of("2051-01-02T03:04:05Z"));
}

TEST(what_is_no_certificate_has_no_end)
{
	assert_certificate_end(0x17, "300102030405", MSEC_NEVER);
	assert_certificate_end(0x17, "", MSEC_NEVER);
	assert_certificate_end(0x18, "x0510102030405Z", MSEC_NEVER);
	assert_certificate_end(0x0c, "300102030405Z", MSEC_NEVER);
	assert_true(kube_certificate_end(NULL) == MSEC_NEVER);
	assert_true(kube_certificate_end("-----BEGIN CERTIFICATE-----\nMA==") == MSEC_NEVER);
	assert_true(kube_certificate_end("-----BEGIN CERTIFICATE-----\n?\n-----END") == MSEC_NEVER);
}

TEST(a_certificate_cut_anywhere_has_no_end)
{
	for (size_t len = 0; len < 150; len += 4) {
		struct text pem CLEANUP(text_done) = {0};

		text_add(&pem, "-----BEGIN CERTIFICATE-----\n");
		text_add_bytes(&pem, strstr(real, "MIIB"), len);
		text_add(&pem, "\n-----END");
		assert_true(kube_certificate_end(text_of(&pem)) == MSEC_NEVER);
	}
}

TEST(a_web_token_tells_its_end)
{
	/* {"exp":1700000000} */
	assert_true(kube_token_end("e30.eyJleHAiOjE3MDAwMDAwMDB9.c2ln") ==
		    1700000000 * MSEC_PER_SECOND);
}

TEST(any_other_token_has_none)
{
	static const char *const tokens[] = {
		"", "abc", "a.b.c", "e30.e30.e30", "..", "e30.eyJleHAiOiJ4In0.c2ln",
	};

	for (size_t i = 0; i < ARRAY_LEN(tokens); i++)
		assert_true(kube_token_end(tokens[i]) == MSEC_NEVER);
	assert_true(kube_token_end(NULL) == MSEC_NEVER);
}
