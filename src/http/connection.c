/* libcurl connects and then leaves the socket to us (CURLOPT_CONNECT_ONLY). The connection belongs
 * to its transfer, and the transfer to its own pool. In a shared pool libcurl would sometimes check
 * whether the connection is good, and close one whose end of stream is unread. */
#include "http/connection.h"

#include "http/pool.h"
#include "http/setup.h"

struct http_connection {
	struct loop *loop;
	http_opened_fn on_opened;
	http_ready_fn on_ready;
	void *data;
	struct http_setup setup;
	struct http_pool *pool;
	CURL *easy;
	struct loop_watch *turn; /* a timer: reports the result of connecting outside of libcurl */
	struct loop_watch *readable, *writable; /* NULL until the connection is open */
	struct err err; /* why it could not be opened */
	char detail[CURL_ERROR_SIZE];
};

static void end_connecting(CURL *easy, CURLcode code);
static void report_connection_opened(void *data);

static int set_bare(struct http_connection *connection)
{
	CURL *easy = connection->easy;
	CURLcode code = curl_easy_setopt(easy, CURLOPT_PRIVATE, connection);

	code = code ? code : curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, connection->detail);
	code = code ? code : curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
	code = code ? code : curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
	code = code ? code : curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, 0L); /* of an answer */
	/* A proxy must tunnel everything, also for an http:// URL. */
	code = code ? code : curl_easy_setopt(easy, CURLOPT_HTTPPROXYTUNNEL, 1L);
	return code ? err_set(&connection->err, ERR_UNSUPPORTED,
			      "this libcurl cannot open raw connections")
		    : 0;
}

struct http_connection *http_connection_new(struct loop *loop, const struct http_request *request,
					    http_opened_fn on_opened, http_ready_fn on_ready,
					    void *data)
{
	struct http_connection *connection = mem_new(sizeof(*connection));

	connection->loop = loop;
	connection->on_opened = on_opened;
	connection->on_ready = on_ready;
	connection->data = data;
	connection->turn = loop_new_timer(loop, report_connection_opened, connection);
	connection->pool = http_pool_new(loop, end_connecting, 0, true);
	connection->easy = curl_easy_init();
	if (!connection->easy)
		mem_abort();
	http_setup_take(&connection->setup, request, &connection->err);
	if (!connection->err.code &&
	    http_setup_apply(&connection->setup, connection->easy, "", &connection->err) == 0 &&
	    set_bare(connection) == 0)
		http_pool_add(connection->pool, connection->easy);
	else
		loop_timer_arm_after(connection->turn, 0);
	return connection;
}

void http_connection_free(struct http_connection *connection)
{
	if (!connection)
		return;
	loop_watch_free(connection->turn);
	loop_watch_free(connection->readable);
	loop_watch_free(connection->writable);
	http_pool_remove(connection->pool, connection->easy);
	curl_easy_cleanup(connection->easy);
	http_pool_free(connection->pool);
	http_setup_done(&connection->setup);
	free(connection);
}

const struct http_target *http_connection_target(const struct http_connection *connection)
{
	return &connection->setup.target;
}

/* For a connection that was open: `why` is libcurl's message, perhaps empty. */
static int set_connection_lost_error(const struct http_connection *connection, const char *why,
				     CURLcode code, struct err *err)
{
	return err_set(err, ERR_IO, "lost %s: %s", connection->setup.target.origin,
		       *why ? why : curl_easy_strerror(code));
}

static void call_ready(void *data)
{
	const struct http_connection *connection = data;

	connection->on_ready(connection->data);
}

static void watch_socket(struct http_connection *connection)
{
	curl_socket_t fd = CURL_SOCKET_BAD;

	curl_easy_getinfo(connection->easy, CURLINFO_ACTIVESOCKET, &fd);
	if (fd == CURL_SOCKET_BAD) {
		set_connection_lost_error(connection, "", CURLE_RECV_ERROR, &connection->err);
		return;
	}
	connection->readable = loop_watch_readable(connection->loop, fd, call_ready, connection);
	connection->writable = loop_watch_writable(connection->loop, fd, call_ready, connection);
	http_connection_want(connection, false, false);
}

/* Called by the pool, which must not be freed now. */
static void end_connecting(CURL *easy, CURLcode code)
{
	char *private;

	curl_easy_getinfo(easy, CURLINFO_PRIVATE, &private);
	struct http_connection *connection = (struct http_connection *) private;

	if (code)
		http_failure_set(&connection->err, easy, code, connection->setup.target.origin,
				 connection->detail);
	else
		watch_socket(connection);
	loop_timer_arm_after(connection->turn, 0);
}

static void report_connection_opened(void *data)
{
	struct http_connection *connection = data;

	connection->on_opened(connection->err.code ? &connection->err : NULL, connection->data);
}

void http_connection_want(struct http_connection *connection, bool wants_read, bool wants_write)
{
	loop_watch_enable(connection->readable, wants_read);
	loop_watch_enable(connection->writable, wants_write);
}

int http_connection_read(struct http_connection *connection, void *bytes, size_t size,
			 size_t *ret_len, struct err *err)
{
	size_t len = 0;

	*connection->detail = '\0';
	CURLcode code = curl_easy_recv(connection->easy, bytes, size, &len);

	if (code == CURLE_AGAIN) {
		*ret_len = 0;
		return 0;
	}
	if (code)
		return set_connection_lost_error(connection, connection->detail, code, err);
	if (!len)
		return set_connection_lost_error(connection, "it closed the connection", CURLE_OK,
						 err);
	*ret_len = len;
	return 0;
}

int http_connection_write(struct http_connection *connection, const void *bytes, size_t len,
			  size_t *ret_taken, struct err *err)
{
	size_t taken = 0;

	*connection->detail = '\0';
	CURLcode code = curl_easy_send(connection->easy, bytes, len, &taken);

	if (code && code != CURLE_AGAIN)
		return set_connection_lost_error(connection, connection->detail, code, err);
	*ret_taken = code ? 0 : taken;
	return 0;
}
