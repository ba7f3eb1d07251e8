/* Each group of options has its own function, with the reasons for unusual ones. An option that
 * this libcurl does not support is an error, because all are needed. */
#include "http/setup.h"

#include "base/text.h"
#include "io/network_address.h"

#include <ctype.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

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
	long connect_timeout = (long) (request->connect_timeout ? request->connect_timeout
								: DEFAULT_CONNECT_TIMEOUT);
	CURLcode code = curl_easy_setopt(easy, CURLOPT_URL, setup->target.url);

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
	CURLcode code = curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS);

	code = code ? code : curl_easy_setopt(easy, CURLOPT_PIPEWAIT, waits);
	code = code ? code : curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long) timeout);
	code = code ? code : curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, BUFFER_OF_A_CALL);
	code = code ? code : curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, BUFFER_OF_A_REQUEST);
	if (request->takes_compressed)
		code = code ? code : curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip");
	return code;
}

/* NO_PROXY does not override an explicit proxy. As in Go's clients, proxies of the environment do
 * not apply to this machine. */
static CURLcode set_proxy(CURL *easy, const struct http_setup *setup,
			  const struct http_request *request)
{
	/* A proxy, perhaps on this machine, would send a token without TLS on to another one. */
	bool has_bare_token = request->has_token && !text_starts_with(request->url, "https:");
	CURLcode code = CURLE_OK;

	if (request->proxy) {
		code = curl_easy_setopt(easy, CURLOPT_PROXY, request->proxy);
		code = code ? code : curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
	} else if (setup->target.is_loopback || has_bare_token) {
		code = curl_easy_setopt(easy, CURLOPT_PROXY, "");
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

/* Where a system has the authorities that it trusts: libcurl knows only where it was built. The
 * variable and the list are those of Go's crypto/x509 (root_unix.go, root_linux.go), and so
 * kubectl's. NULL: unknown. */
static const char *authorities_of_system(void)
{
	static const char *const files[] = {
		"/etc/ssl/certs/ca-certificates.crt", /* Debian, Alpine */
		"/etc/pki/tls/certs/ca-bundle.crt", /* Fedora, RHEL */
		"/etc/ssl/ca-bundle.pem", /* SUSE */
		"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
		"/etc/ssl/cert.pem",
	};
	const char *named = getenv("SSL_CERT_FILE");

	if (named && *named)
		return named;
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		if (access(files[i], R_OK) == 0)
			return files[i];
	return NULL;
}

static CURLcode set_trust(CURL *easy, const struct http_trust *trust)
{
	CURLcode code = curl_easy_setopt(easy, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2);
	const char *authorities = trust && trust->authority ? NULL : authorities_of_system();

	if (authorities)
		code = code ? code : curl_easy_setopt(easy, CURLOPT_CAINFO, authorities);
	if (!trust)
		return code;
	/* The given authorities are the only ones: the system's certificate directory, which
	 * libcurl would also search, is disabled. */
	if (trust->authority) {
		code = code ? code : set_blob(easy, CURLOPT_CAINFO_BLOB, trust->authority);
		code = code ? code : curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
	}
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
	CURLcode code = curl_easy_setopt(easy, CURLOPT_USERAGENT, user_agent);

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
	/* Without this, libcurl waits for "100 Continue" before a large body: a round trip. */
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
	const char *server_name = request->trust ? request->trust->server_name : NULL;
	struct arena *arena = arena_new();
	int rc = http_target_read(request->url, server_name, arena, &setup->target, err);

	setup->arena = arena;
	setup->request = *request;
	if (request->trust)
		request->trust->n_references++;
	setup->request.url = setup->target.url;
	setup->request.headers = NULL;
	setup->request.method = arena_copy_text(arena, request->method);
	setup->request.proxy = arena_copy_text(arena, request->proxy);
	setup->request.limit = request->limit ? request->limit : HTTP_ANSWER_LIMIT;
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
	code = code ? code : set_trust(easy, request->trust);
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
	http_trust_free(setup->request.trust);
	arena_free(setup->arena);
	*setup = (struct http_setup){0};
}

/* URLs: libcurl itself parses them, so that both see the same host. */

static void free_url(CURLU **url)
{
	curl_url_cleanup(*url);
}

static void free_part(char **part)
{
	curl_free(*part);
}

/* A part of the URL; NULL: absent. Free it with free_part. */
static char *part_of(CURLU *url, CURLUPart which, unsigned flags)
{
	char *part = NULL;

	return curl_url_get(url, which, &part, flags) == CURLUE_OK ? part : NULL;
}

static int read_parts(CURLU *url, const char *server_name, struct arena *arena,
		      struct http_target *target)
{
	char *path CLEANUP(free_part) = part_of(url, CURLUPART_PATH, 0);
	char *query CLEANUP(free_part) = part_of(url, CURLUPART_QUERY, 0);
	char *scheme CLEANUP(free_part) = part_of(url, CURLUPART_SCHEME, 0);
	char *host CLEANUP(free_part) = part_of(url, CURLUPART_HOST, 0);
	char *own_port CLEANUP(free_part) = part_of(url, CURLUPART_PORT, 0);
	char *port CLEANUP(free_part) = part_of(url, CURLUPART_PORT, CURLU_DEFAULT_PORT);
	char *user CLEANUP(free_part) = part_of(url, CURLUPART_USER, 0);

	if (!scheme || !host || !*host || !port || user ||
	    (!text_equals(scheme, "http") && !text_equals(scheme, "https")))
		return ERR_INVALID;
	target->place = own_port ? arena_format(arena, "%s:%s", host, own_port)
				 : arena_copy_text(arena, host);
	target->path = arena_format(arena, "%s%s%s", path ? path : "/", query ? "?" : "",
				    query ? query : "");
	/* As Go's clients do: localhost and every loopback address. */
	target->is_loopback = text_equals(host, "[::1]") || network_address_names_loopback(host);
	target->origin = arena_format(arena, "%s://%s", scheme, target->place);
	if (server_name && !text_equals(server_name, host)) {
		target->connect_to =
			arena_format(arena, "%s:%s:%s:%s", server_name, port, host, port);
		target->host_header = arena_format(arena, "Host: %s", target->place);
		if (curl_url_set(url, CURLUPART_HOST, server_name, 0) != CURLUE_OK)
			return ERR_INVALID;
	}
	char *whole CLEANUP(free_part) = part_of(url, CURLUPART_URL, 0);

	target->url = arena_copy_text(arena, whole);
	return whole ? 0 : ERR_INVALID;
}

int http_target_read(const char *url, const char *server_name, struct arena *arena,
		     struct http_target *ret_target, struct err *err)
{
	CURLU *parsed CLEANUP(free_url) = curl_url();
	struct http_target target = {0};

	if (!parsed)
		mem_abort();
	if (curl_url_set(parsed, CURLUPART_URL, url, 0) != CURLUE_OK ||
	    read_parts(parsed, server_name, arena, &target) < 0)
		return err_set(err, ERR_INVALID,
			       "the address of the server must be http:// or https://, a host, "
			       "perhaps a port, and no user name");
	*ret_target = target;
	return 0;
}

/* Trust. */

struct http_trust *http_trust_new(const struct http_trust *trust)
{
	struct arena *arena = arena_new();
	struct http_trust *copy = arena_take(arena, sizeof(*copy));

	*copy = (struct http_trust){
		.authority = arena_copy_text(arena, trust->authority),
		.client_certificate = arena_copy_text(arena, trust->client_certificate),
		.client_key = arena_copy_text(arena, trust->client_key),
		.server_name = arena_copy_text(arena, trust->server_name),
		.pin = arena_copy_text(arena, trust->pin),
		.skips_verify = trust->skips_verify,
		.n_references = 1,
		.arena = arena,
	};
	return copy;
}

void http_trust_free(struct http_trust *trust)
{
	if (trust && --trust->n_references == 0)
		arena_free_secret(trust->arena);
}

/* Failures: one row for each that users can do something about; the others keep libcurl's message,
 * which names hosts and reasons and never a header. */

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
