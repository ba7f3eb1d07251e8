/* libcurl reports which sockets it waits for and until when; the loop waits. */
#include "http/pool.h"

#include "base/mem.h"

struct http_pool {
	struct loop *loop;
	CURLM *multi;
	struct loop_watch *timer;
	http_ended_fn on_ended;
	bool is_busy, keeps_ended;
};

/* A socket that libcurl waits for. */
struct http_socket {
	struct http_pool *pool;
	curl_socket_t fd;
	struct loop_watch *readable, *writable; /* NULL: not watched */
};

static int watch_socket(CURL *easy, curl_socket_t fd, int what, void *data, void *socket_data);
static int set_timer(CURLM *multi, long delay, void *data);
static void call_timer(void *data);

struct http_pool *http_pool_new(struct loop *loop, http_ended_fn on_ended, long most_idle,
				bool keeps_ended)
{
	struct http_pool *pool = mem_new(sizeof(*pool));

	pool->loop = loop;
	pool->on_ended = on_ended;
	pool->keeps_ended = keeps_ended;
	pool->timer = loop_new_timer(loop, call_timer, pool);
	pool->multi = curl_multi_init();
	if (!pool->multi)
		mem_abort();
	curl_multi_setopt(pool->multi, CURLMOPT_SOCKETFUNCTION, watch_socket);
	curl_multi_setopt(pool->multi, CURLMOPT_SOCKETDATA, pool);
	curl_multi_setopt(pool->multi, CURLMOPT_TIMERFUNCTION, set_timer);
	curl_multi_setopt(pool->multi, CURLMOPT_TIMERDATA, pool);
	curl_multi_setopt(pool->multi, CURLMOPT_MAXCONNECTS, most_idle);
	return pool;
}

void http_pool_free(struct http_pool *pool)
{
	if (!pool)
		return;
	curl_multi_cleanup(pool->multi);
	loop_watch_free(pool->timer);
	free(pool);
}

bool http_pool_is_busy(const struct http_pool *pool)
{
	return pool->is_busy;
}

/* One message at a time, because the callback may add and remove transfers. */
static void report_ended_transfers(struct http_pool *pool)
{
	int n_left;

	for (const CURLMsg *message; (message = curl_multi_info_read(pool->multi, &n_left));) {
		if (message->msg != CURLMSG_DONE)
			continue;
		CURL *easy = message->easy_handle;
		CURLcode code = message->data.result;

		if (!pool->keeps_ended)
			curl_multi_remove_handle(pool->multi, easy);
		pool->on_ended(easy, code);
	}
}

static void drive_pool_socket(struct http_pool *pool, curl_socket_t fd, int what)
{
	int n_running;

	pool->is_busy = true;
	curl_multi_socket_action(pool->multi, fd, what, &n_running);
	pool->is_busy = false;
	report_ended_transfers(pool);
}

static void act_readable(void *data)
{
	const struct http_socket *watched = data;

	drive_pool_socket(watched->pool, watched->fd, CURL_CSELECT_IN);
}

static void act_writable(void *data)
{
	const struct http_socket *watched = data;

	drive_pool_socket(watched->pool, watched->fd, CURL_CSELECT_OUT);
}

static void want(struct http_socket *watched, struct loop_watch **watch, bool is_wanted,
		 struct loop_watch *(*begin)(struct loop *, int, loop_fn, void *), loop_fn fn)
{
	if (is_wanted && !*watch)
		*watch = begin(watched->pool->loop, watched->fd, fn, watched);
	if (!is_wanted)
		loop_watch_free(TAKE(*watch));
}

static int watch_socket(CURL *easy, curl_socket_t fd, int what, void *data, void *socket_data)
{
	struct http_pool *pool = data;
	struct http_socket *watched = socket_data;
	bool is_gone = what == CURL_POLL_REMOVE;

	(void) easy;
	if (!watched && is_gone)
		return 0;
	if (!watched) {
		watched = mem_new(sizeof(*watched));
		watched->pool = pool;
		watched->fd = fd;
		curl_multi_assign(pool->multi, fd, watched);
	}
	want(watched, &watched->readable, !is_gone && (what & CURL_POLL_IN), loop_watch_readable,
	     act_readable);
	want(watched, &watched->writable, !is_gone && (what & CURL_POLL_OUT), loop_watch_writable,
	     act_writable);
	if (is_gone)
		free(watched);
	return 0;
}

static int set_timer(CURLM *multi, long delay, void *data)
{
	const struct http_pool *pool = data;

	(void) multi;
	loop_timer_arm_after(pool->timer, delay < 0 ? MSEC_NEVER : delay);
	return 0;
}

static void call_timer(void *data)
{
	drive_pool_socket(data, CURL_SOCKET_TIMEOUT, 0);
}

void http_pool_add(struct http_pool *pool, CURL *easy)
{
	if (curl_multi_add_handle(pool->multi, easy) != CURLM_OK)
		mem_abort();
}

void http_pool_remove(struct http_pool *pool, CURL *easy)
{
	curl_multi_remove_handle(pool->multi, easy);
}
