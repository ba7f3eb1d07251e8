/* One row for each failure that users can do something about; the others keep libcurl's message,
 * which names hosts and reasons and never a header. */
#include "http/failure.h"

#include "base/own.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>

struct failure {
	CURLcode code;
	enum err_code err_code;
	const char *verb; /* before the server's name */
	const char *reason; /* after it; NULL: libcurl's message */
};

static const struct failure failures[] = {
	{CURLE_UNSUPPORTED_PROTOCOL, ERR_INVALID, "cannot use", "the URL is not http or https"},
	{CURLE_URL_MALFORMAT, ERR_INVALID, "cannot use", "not the URL of a server"},
	{CURLE_LOGIN_DENIED, ERR_INVALID, "cannot use", "a URL must not contain a user name"},
	{CURLE_COULDNT_RESOLVE_PROXY, ERR_UNREACHABLE, "cannot reach",
	 "the host name of the proxy cannot be resolved"},
	{CURLE_COULDNT_RESOLVE_HOST, ERR_UNREACHABLE, "cannot reach",
	 "the host name cannot be resolved"},
	{CURLE_WEIRD_SERVER_REPLY, ERR_INVALID, "cannot understand", "it does not speak HTTP"},
	{CURLE_GOT_NOTHING, ERR_IO, "cannot reach", "it closed the connection without a response"},
	{CURLE_PARTIAL_FILE, ERR_IO, "lost", "it closed the connection too early"},
	{CURLE_RECV_ERROR, ERR_IO, "lost", NULL},
	{CURLE_SEND_ERROR, ERR_IO, "lost", NULL},
	{CURLE_HTTP2, ERR_IO, "lost", NULL},
	{CURLE_HTTP2_STREAM, ERR_IO, "lost", NULL},
	{CURLE_PEER_FAILED_VERIFICATION, ERR_REFUSED, "cannot verify the certificate of", NULL},
	{CURLE_SSL_INVALIDCERTSTATUS, ERR_REFUSED, "cannot verify the certificate of", NULL},
	{CURLE_SSL_ISSUER_ERROR, ERR_REFUSED, "cannot verify the certificate of", NULL},
	{CURLE_SSL_PINNEDPUBKEYNOTMATCH, ERR_REFUSED, "cannot verify the certificate of",
	 "its key is not the pinned one"},
	{CURLE_SSL_CACERT_BADFILE, ERR_INVALID, "cannot check the certificate of",
	 "the given CA certificates cannot be read"},
	{CURLE_SSL_CERTPROBLEM, ERR_INVALID, "cannot log in at",
	 "the client certificate or its key cannot be read, or they do not match"},
};

/* For failures without a row. */
static const struct failure other = {CURLE_OK, ERR_UNREACHABLE, "cannot reach", NULL};

static bool is_connected(CURL *easy)
{
	curl_off_t pretransfer = 0;

	curl_easy_getinfo(easy, CURLINFO_PRETRANSFER_TIME_T, &pretransfer);
	return pretransfer > 0;
}

static const struct failure *find_failure(CURL *easy, CURLcode code, const char *detail)
{
	static const struct failure late = {CURLE_OPERATION_TIMEDOUT, ERR_IO, "lost",
					    "no response in time"};
	/* TLS 1.3 checks our certificate after the connection is already open. */
	static const struct failure alert = {CURLE_RECV_ERROR, ERR_REFUSED, "rejected by", NULL};

	if (code == CURLE_OPERATION_TIMEDOUT && is_connected(easy))
		return &late;
	if (strstr(detail, " alert "))
		return &alert;
	for (size_t i = 0; i < ARRAY_LEN(failures); i++)
		if (failures[i].code == code)
			return &failures[i];
	return &other;
}

/* Skips the prefixes by which libcurl names its own layers. */
static const char *without_layers(const char *detail)
{
	static const char *const layers[] = {
		"SSL certificate problem: ", "SSL: ",          "OpenSSL SSL_read: ",
		"OpenSSL SSL_connect: ",     "Recv failure: ", "Send failure: ",
	};

	for (size_t i = 0; i < ARRAY_LEN(layers); i++)
		if (text_starts_with(detail, layers[i]))
			detail += strlen(layers[i]);
	return detail;
}

/* In the form of our messages: "Connection refused" begins in lower case, "SSL" stays. */
static void add_lower(struct text *text, const char *sentence)
{
	size_t begin = text->len;

	text_add(text, sentence);
	if (text->len > begin && (text->len == begin + 1 || islower(text->bytes[begin + 1])))
		text->bytes[begin] = (char) tolower(text->bytes[begin]);
}

static void add_reason(struct text *text, CURL *easy, CURLcode code, const char *detail)
{
	long os_errno = 0;

	curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &os_errno);
	if (code == CURLE_OPERATION_TIMEDOUT)
		text_add(text, "no connection in time");
	else if (code == CURLE_COULDNT_CONNECT && os_errno)
		add_lower(text, strerror((int) os_errno));
	else if (strstr(detail, "wrong version number")) /* OpenSSL's message about TLS */
		text_add(text, "it does not speak TLS; perhaps its address begins with "
			       "http://, or it was started with --insecure");
	else if (*detail)
		add_lower(text, without_layers(detail));
	else
		add_lower(text, curl_easy_strerror(code));
}

int http_failure_set(struct err *err, CURL *easy, CURLcode code, const char *origin,
		     const char *detail)
{
	const struct failure *failure = find_failure(easy, code, detail);
	struct text reason CLEANUP(text_done) = {0};

	if (failure->reason)
		text_add(&reason, failure->reason);
	else
		add_reason(&reason, easy, code, detail);
	/* A request that was lost before it was sent did not reach the server. */
	if (failure->err_code == ERR_IO && !is_connected(easy))
		failure = &other;
	return err_set(err, failure->err_code, "%s %s: %s", failure->verb, origin,
		       text_of(&reason));
}
