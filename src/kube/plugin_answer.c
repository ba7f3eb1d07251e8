/* Follows client-go's plugin/pkg/client/auth/exec/exec.go. */
#include "kube/plugin_answer.h"

#include "base/json.h"
#include "base/mem.h"

static const char *text_of_status(const struct json *status, const char *key)
{
	const char *text = json_as_string(json_get(status, key), "");

	return *text ? text : NULL;
}

static int check_kind(const struct json *answer, const char *api_version, struct err *err)
{
	const char *version = json_as_string(json_get(answer, "apiVersion"), "");

	if (!text_equals(json_as_string(json_get(answer, "kind"), ""), "ExecCredential"))
		return err_set(err, ERR_INVALID, "its output is not an ExecCredential");
	if (!text_equals(version, api_version))
		return err_set(err, ERR_INVALID,
			       "it prints another apiVersion than %s, which was requested",
			       api_version);
	return 0;
}

static int check_status(const struct json *status, struct err *err)
{
	const char *certificate = text_of_status(status, "clientCertificateData");
	const char *key = text_of_status(status, "clientKeyData");

	if (!json_is(status, JSON_OBJECT))
		return err_set(err, ERR_INVALID, "its output has no status");
	if (!certificate != !key)
		return err_set(err, ERR_INVALID, "it prints a certificate or a key, not both");
	if (!certificate && !text_of_status(status, "token"))
		return err_set(err, ERR_INVALID, "it prints neither a token nor a certificate");
	return 0;
}

static int read_end(const struct json *status, msec *ret_end, struct err *err)
{
	const char *end = text_of_status(status, "expirationTimestamp");

	*ret_end = MSEC_NEVER;
	if (end && text_read_time(end, ret_end, NULL) < 0)
		return err_set(err, ERR_INVALID, "its expirationTimestamp is not a time");
	return 0;
}

int kube_plugin_answer_read(const char *bytes, size_t len, const char *api_version,
			    struct kube_credential *ret_credential, msec *ret_end, struct err *err)
{
	struct json *answer CLEANUP(json_cleanup_secret) = NULL;
	msec end = MSEC_NEVER;

	if (json_read(bytes, len, &answer, NULL) < 0)
		return err_set(err, ERR_INVALID, "its output is not JSON");
	const struct json *status = json_get(answer, "status");
	int rc = check_kind(answer, api_version, err);

	if (rc == 0)
		rc = check_status(status, err);
	if (rc == 0)
		rc = read_end(status, &end, err);
	if (rc < 0)
		return rc;
	*ret_credential = (struct kube_credential){
		.token = mem_copy_text(text_of_status(status, "token")),
		.client_certificate =
			mem_copy_text(text_of_status(status, "clientCertificateData")),
		.client_key = mem_copy_text(text_of_status(status, "clientKeyData")),
	};
	*ret_end = end;
	return 0;
}
