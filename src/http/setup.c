/* Each group of options has its own function, with the reasons for unusual ones. An option that
 * this libcurl does not support is an error, because all are needed. */
#include "http/setup.h"

#include "base/mem.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define DEFAULT_CONNECT_TIMEOUT (10 * MSEC_PER_SECOND)
#define DEFAULT_TIMEOUT (60 * MSEC_PER_SECOND)

/* Detects a dead peer: probes begin after 30 s of silence, every 5 s; the connection is closed when
 * nothing was acknowledged for 30 s. */
#define KEEPALIVE_IDLE 30L
#define KEEPALIVE_INTERVAL 5L
#define UNACKNOWLEDGED_LIMIT 30000

/* Size of libcurl's receive buffer, one for each call. It must hold what TLS delivers in one piece.
 * libcurl 7.88 keeps the rest of an HTTP/2 stream back until the server sends more, which for a
 * watch is a bookmark a minute later. */
#define TLS_RECORD_MOST 16384L
#define BUFFER_OF_A_CALL TLS_RECORD_MOST
/* Size of the send buffer, held until the answer has ended: 64 KiB by default, at least 16. */
#define BUFFER_OF_A_REQUEST (16L * 1024)

/* libcurl's own sockets would be inherited by started programs. */
static curl_socket_t open_socket(void *data, curlsocktype purpose, struct curl_sockaddr *address)
{
	const unsigned limit = UNACKNOWLEDGED_LIMIT;
	int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);

	(void) data;
	(void) purpose;
	if (fd < 0)
		return CURL_SOCKET_BAD;
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit, sizeof(limit));
	return fd;
}

static CURLcode set_connection(CURL *easy, const struct http_setup *setup,
			       const struct http_request *request)
{
	CURLcode code = CURLE_OK;
	long connect_timeout = (long) (request->connect_timeout ? request->connect_timeout
								: DEFAULT_CONNECT_TIMEOUT);

	code = code ? code : curl_easy_setopt(easy, CURLOPT_URL, setup->target.url);
	code = code ? code : curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	code = code ? code : curl_easy_setopt(easy, CURLOPT_CONNECT_TO, setup->connect_to);
	code = code ? code : curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, connect_timeout);
	code = code ? code : curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
	code = code ? code : curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	code = code ? code : curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, KEEPALIVE_IDLE);
	code = code ? code : curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, KEEPALIVE_INTERVAL);
	/* A thread asks the name service, which may hang; it is not joined at the end. */
	code = code ? code : curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	code = code ? code : curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
	return code;
}

/* Calls to one server wait until its first connection is open, and share it. No stream is ever
 * paused, which would stall the others (curl issue 10988). Without TLS only the first answer shows
 * whether the connection can be shared, and that of a stream may be late. */
static CURLcode set_kind(CURL *easy, const struct http_request *request)
{
	bool is_stream = request->on_bytes != NULL;
	long waits = !is_stream || strncmp(request->url, "https:", strlen("https:")) == 0;
	msec timeout = request->timeout || is_stream ? request->timeout : DEFAULT_TIMEOUT;
	CURLcode code = CURLE_OK;

	code = code ? code : curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS);
	code = code ? code : curl_easy_setopt(easy, CURLOPT_PIPEWAIT, waits);
	code = code ? code : curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long) timeout);
	code = code ? code : curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, BUFFER_OF_A_CALL);
	code = code ? code : curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, BUFFER_OF_A_REQUEST);
	if (request->takes_compressed)
		code = code ? code : curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip");
	return code;
}

/* A proxy, perhaps on this machine, would send it on to another one. */
static bool has_token_without_tls(const struct http_request *request)
{
	return request->has_token && strncmp(request->url, "https:", strlen("https:")) != 0;
}

/* NO_PROXY does not override an explicit proxy. As in Go's clients, proxies of the environment do
 * not apply to this machine. */
static CURLcode set_proxy(CURL *easy, const struct http_setup *setup,
			  const struct http_request *request)
{
	CURLcode code = CURLE_OK;

	if (request->proxy) {
		code = code ? code : curl_easy_setopt(easy, CURLOPT_PROXY, request->proxy);
		code = code ? code : curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
	} else if (setup->target.is_loopback || has_token_without_tls(request)) {
		code = code ? code : curl_easy_setopt(easy, CURLOPT_PROXY, "");
	}
	return code;
}

static CURLcode set_blob(CURL *easy, CURLoption option, const char *pem)
{
	struct curl_blob blob = {
		.data = (void *) pem, /* libcurl only reads it */
		.len = strlen(pem),
		.flags = CURL_BLOB_NOCOPY,
	};

	return curl_easy_setopt(easy, option, &blob);
}

/* The given authorities are the only ones: the system's certificate directory, which libcurl would
 * also search, is disabled. */
static CURLcode set_authority(CURL *easy, const char *authority)
{
	CURLcode code = set_blob(easy, CURLOPT_CAINFO_BLOB, authority);

	return code ? code : curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
}

static CURLcode set_trust(CURL *easy, const struct http_trust_parts *trust)
{
	CURLcode code = curl_easy_setopt(easy, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2);

	if (trust->authority)
		code = code ? code : set_authority(easy, trust->authority);
	if (trust->client_certificate)
		code = code ? code
			    : set_blob(easy, CURLOPT_SSLCERT_BLOB, trust->client_certificate);
	if (trust->client_key)
		code = code ? code : set_blob(easy, CURLOPT_SSLKEY_BLOB, trust->client_key);
	if (trust->pin)
		code = code ? code : curl_easy_setopt(easy, CURLOPT_PINNEDPUBLICKEY, trust->pin);
	if (trust->skips_verify || trust->pin) {
		code = code ? code : curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
		code = code ? code : curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
	}
	return code;
}

static CURLcode set_message(CURL *easy, const struct http_setup *setup,
			    const struct http_request *request, const char *user_agent)
{
	CURLcode code = CURLE_OK;

	code = code ? code : curl_easy_setopt(easy, CURLOPT_USERAGENT, user_agent);
	code = code ? code : curl_easy_setopt(easy, CURLOPT_HTTPHEADER, setup->headers);
	if (request->body) {
		curl_off_t len = (curl_off_t) request->body_len;

		code = code ? code : curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, len);
		code = code ? code : curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request->body);
	}
	code = code ? code : curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method);
	return code;
}

/* A line break in a token would begin another header. */
static int add_header(struct curl_slist **headers, const char *header, struct err *err)
{
	for (const char *byte = header; *byte; byte++)
		if ((unsigned char) *byte < ' ' && *byte != '\t')
			return err_set(err, ERR_INVALID,
				       "the value of header '%.*s' has a line break or another "
				       "control character in it",
				       (int) strcspn(header, ":"), header);
	struct curl_slist *longer = curl_slist_append(*headers, header);

	if (!longer)
		mem_abort();
	*headers = longer;
	return 0;
}

static void set_lists(struct http_setup *setup, const struct http_request *request, struct err *err)
{
	/* Without this, libcurl waits for "100 Continue" before a large body, which costs a round
	 * trip. */
	int rc = add_header(&setup->headers, "Expect:", err);

	for (size_t i = 0; !rc && request->headers && request->headers[i]; i++)
		rc = add_header(&setup->headers, request->headers[i], err);
	if (!rc && setup->target.host_header)
		rc = add_header(&setup->headers, setup->target.host_header, err);
	if (!rc && setup->target.connect_to)
		add_header(&setup->connect_to, setup->target.connect_to, err);
}

void http_setup_take(struct http_setup *setup, const struct http_request *request, struct err *err)
{
	const struct http_trust_parts *trust = http_trust_parts(request->trust);
	int rc = http_target_read(request->url, trust->server_name, &setup->target, err);

	setup->trust = http_trust_ref(request->trust);
	setup->method = mem_copy_text(request->method);
	setup->proxy = mem_copy_text(request->proxy);
	setup->request = *request;
	setup->request.url = setup->target.url;
	setup->request.headers = NULL;
	setup->request.method = setup->method;
	setup->request.proxy = setup->proxy;
	if (rc == 0)
		set_lists(setup, request, err);
}

int http_setup_apply(const struct http_setup *setup, CURL *easy, const char *user_agent,
		     struct err *err)
{
	const struct http_request *request = &setup->request;
	CURLcode code = set_connection(easy, setup, request);

	code = code ? code : set_kind(easy, request);
	code = code ? code : set_proxy(easy, setup, request);
	code = code ? code : set_trust(easy, http_trust_parts(setup->trust));
	code = code ? code : set_message(easy, setup, request, user_agent);
	if (code == CURLE_OUT_OF_MEMORY)
		mem_abort();
	if (code)
		return err_set(err, ERR_UNSUPPORTED, "this libcurl cannot send the request: %s",
			       curl_easy_strerror(code));
	return 0;
}

void http_setup_done(struct http_setup *setup)
{
	curl_slist_free_all(setup->headers);
	curl_slist_free_all(setup->connect_to);
	http_target_done(&setup->target);
	http_trust_free(setup->trust);
	free(setup->method);
	free(setup->proxy);
	*setup = (struct http_setup){0};
}
