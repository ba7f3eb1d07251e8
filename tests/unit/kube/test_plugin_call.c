/* ExecCredentials, right and wrong. */
#include "unit.h"

#include "kube/plugin_call.h"

#define V1 "client.authentication.k8s.io/v1"
#define ANSWER(status)                                                                             \
	"{\"kind\": \"ExecCredential\", \"apiVersion\": \"" V1 "\", \"status\": " status "}"

struct answer {
	struct kube_credential credential;
	msec end;
	struct err err;
};

static void answer_done(struct answer *answer)
{
	kube_credential_done(&answer->credential);
}

static int read_answer(const char *text, struct answer *answer)
{
	return kube_plugin_answer_read(text, strlen(text), V1, &answer->credential, &answer->end,
				       &answer->err);
}

TEST(a_token_is_taken_until_its_end)
{
	struct answer answer CLEANUP(answer_done) = {0};
	msec wanted = 0;

	assert_int_equal(read_answer(ANSWER("{\"token\": \"t\", \"expirationTimestamp\": "
					    "\"2030-01-02T03:04:05+01:00\"}"),
				     &answer),
			 0);
	assert_string_equal(answer.credential.token, "t");
	assert_int_equal(text_read_time("2030-01-02T02:04:05Z", &wanted, NULL), 0);
	assert_true(answer.end == wanted);
}

TEST(a_certificate_is_taken_with_its_key)
{
	struct answer answer CLEANUP(answer_done) = {0};

	assert_int_equal(read_answer(ANSWER("{\"clientCertificateData\": \"c\", "
					    "\"clientKeyData\": \"k\"}"),
				     &answer),
			 0);
	assert_null(answer.credential.token);
	assert_string_equal(answer.credential.client_certificate, "c");
	assert_string_equal(answer.credential.client_key, "k");
	assert_true(answer.end == MSEC_NEVER);
}

TEST(what_is_wrong_is_told_and_not_shown)
{
	static const struct {
		const char *text, *sentence;
	} wrong[] = {
		{"", "not JSON"},
		{"hunter2", "not JSON"},
		{"[\"hunter2\"]", "not an ExecCredential"},
		{"{\"kind\": \"hunter2\"}", "not an ExecCredential"},
		{"{\"kind\": \"ExecCredential\", \"apiVersion\": \"hunter2\"}",
		 "another apiVersion"},
		{ANSWER("null"), "no status"},
		{ANSWER("\"hunter2\""), "no status"},
		{ANSWER("{}"), "neither a token nor a certificate"},
		{ANSWER("{\"token\": \"\"}"), "neither a token nor a certificate"},
		{ANSWER("{\"token\": \"hunter2\", \"clientKeyData\": \"k\"}"), "not both"},
		{ANSWER("{\"token\": \"hunter2\", \"expirationTimestamp\": \"hunter2\"}"),
		 "expirationTimestamp"},
	};

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		struct answer answer CLEANUP(answer_done) = {0};

		assert_int_equal(read_answer(wrong[i].text, &answer), ERR_INVALID);
		assert_non_null(strstr(answer.err.text, wrong[i].sentence));
		assert_null(strstr(answer.err.text, "hunter2"));
		assert_null(answer.credential.token);
	}
}
