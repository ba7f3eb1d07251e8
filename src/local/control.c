/* The path in a socket's address has at most 107 bytes; a home directory can be deeper. So both
 * ends open the directory and name the socket through /proc/self/fd. */
#include "local/control.h"

#include "base/mem.h"
#include "base/text.h"
#include "io/file.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/un.h>

#define SOCKET_NAME "socket"
#define WATCHERS_MAX 64
#define OTHERS_MAX 64 /* that have not sent their line yet */
#define LINE_SIZE 64 /* the longest message, "changed " and a number, has 28 bytes */

struct connection {
	struct control *control;
	LIST_ENTRY(connection) link;
	struct loop_watch *watch;
	int fd;
	bool is_watching;
	size_t len;
	char line[LINE_SIZE];
};

struct control {
	struct loop *loop;
	loop_fn on_wake;
	void *data;
	int folder_fd;
	int fd;
	struct loop_watch *watch, *signal;
	LIST_HEAD(, connection) connections; /* the newest comes first */
	size_t n_watching, n_others;
	int64_t version;
};

/* The socket's address in its open directory. */
static struct sockaddr_un address_in(int folder_fd)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/" SOCKET_NAME,
		 folder_fd);
	return address;
}

static void connection_free(struct connection *connection)
{
	struct control *control = connection->control;

	LIST_REMOVE(connection, link);
	--*(connection->is_watching ? &control->n_watching : &control->n_others);
	loop_watch_free(connection->watch);
	close(connection->fd);
	free(connection);
	if (control->watch)
		loop_watch_enable(control->watch, true);
}

/* False when it could not be sent whole immediately: the reader has exited or does not read. */
static bool send_version(const struct connection *connection)
{
	char line[LINE_SIZE];
	int len = snprintf(line, sizeof(line), "changed %lld\n",
			   (long long) connection->control->version);

	return send(connection->fd, line, (size_t) len, MSG_NOSIGNAL | MSG_DONTWAIT) == len;
}

/* One line that a client sent; false when the connection is to be closed. */
static bool run_control_command(struct connection *connection, const char *line)
{
	struct control *control = connection->control;

	if (strcmp(line, "wake") == 0) {
		/* Deferred, because on_wake may send versions, and so close this connection. */
		loop_defer(control->loop, control->on_wake, control->data);
		return true;
	}
	if (strcmp(line, "watch") != 0 || control->n_watching == WATCHERS_MAX)
		return false;
	if (!connection->is_watching) {
		connection->is_watching = true;
		control->n_watching++;
		control->n_others--;
	}
	return send_version(connection);
}

/* Obeys all complete lines that arrived; false when the connection is to be closed. */
static bool run_control_commands(struct connection *connection)
{
	char *end;

	while ((end = memchr(connection->line, '\n', connection->len))) {
		size_t used = (size_t) (end - connection->line) + 1;

		*end = '\0';
		if (!run_control_command(connection, connection->line))
			return false;
		connection->len -= used;
		memmove(connection->line, connection->line + used, connection->len);
	}
	return connection->len < sizeof(connection->line);
}

static void on_control_readable(void *data)
{
	struct connection *connection = data;
	ssize_t got = recv(connection->fd, connection->line + connection->len,
			   sizeof(connection->line) - connection->len, MSG_DONTWAIT);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got > 0) {
		connection->len += (size_t) got;
		if (run_control_commands(connection))
			return;
	}
	connection_free(connection);
}

static bool is_same_user(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
	       (peer.uid == geteuid() || peer.uid == 0);
}

/* A client sends its line at once: one that does not gives way. */
static void drop_oldest_silent(struct control *control)
{
	struct connection *oldest = NULL, *one;

	LIST_FOREACH (one, &control->connections, link)
		if (!one->is_watching)
			oldest = one;
	if (oldest)
		connection_free(oldest);
}

static void on_control_connection(void *data)
{
	struct control *control = data;
	int fd = accept4(control->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0) {
		/* No descriptor left: the next client waits until a connection was closed. */
		if (errno == EMFILE || errno == ENFILE)
			loop_watch_enable(control->watch, false);
		return;
	}
	if (!is_same_user(fd)) {
		close(fd);
		return;
	}
	struct connection *connection = mem_new(sizeof(*connection));

	connection->control = control;
	connection->fd = fd;
	connection->watch = loop_watch_readable(control->loop, fd, on_control_readable, connection);
	LIST_INSERT_HEAD(&control->connections, connection, link);
	if (++control->n_others > OTHERS_MAX)
		drop_oldest_silent(control);
}

static void on_control_signal(int number, void *data)
{
	const struct control *control = data;

	(void) number;
	control->on_wake(control->data);
}

static int listen_in(struct control *control, const char *job_folder, struct err *err)
{
	control->folder_fd = open(job_folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (control->folder_fd < 0)
		return err_set_errno(err, errno, "cannot open directory '%s'", job_folder);
	control->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (control->fd < 0)
		return err_set_errno(err, errno, "cannot create a socket");
	struct sockaddr_un address = address_in(control->folder_fd);
	if (bind(control->fd, (const struct sockaddr *) &address, sizeof(address)) < 0 ||
	    listen(control->fd, OTHERS_MAX) < 0)
		return err_set_errno(err, errno, "cannot listen on '%s/" SOCKET_NAME "'",
				     job_folder);
	return 0;
}

int control_new(struct loop *loop, const char *job_folder, loop_fn on_wake, void *data,
		struct control **ret_control, struct err *err)
{
	struct control *control = mem_new(sizeof(*control));

	*control = (struct control){
		.loop = loop, .on_wake = on_wake, .data = data, .folder_fd = -1, .fd = -1};
	int rc = listen_in(control, job_folder, err);
	if (rc < 0) {
		control_free(control);
		return rc;
	}
	control->watch = loop_watch_readable(loop, control->fd, on_control_connection, control);
	control->signal = loop_watch_signal(loop, SIGCONT, on_control_signal, control);
	*ret_control = control;
	return 0;
}

void control_remove_left(const char *job_folder)
{
	char *path CLEANUP(mem_free_text) = mem_format("%s/" SOCKET_NAME, job_folder);

	unlink(path);
}

void control_close(struct control *control)
{
	loop_watch_free(TAKE(control->watch));
	loop_watch_free(TAKE(control->signal));
	if (control->fd < 0)
		return;
	unlinkat(control->folder_fd, SOCKET_NAME, 0);
	file_close(&control->fd);
}

void control_free(struct control *control)
{
	if (!control)
		return;
	control_close(control);
	for (struct connection *one = LIST_FIRST(&control->connections), *next; one; one = next) {
		next = LIST_NEXT(one, link);
		connection_free(one);
	}
	file_close(&control->folder_fd);
	free(control);
}

void control_send_version(struct control *control, int64_t version)
{
	struct connection *connection, *next;

	if (version == control->version)
		return;
	control->version = version;
	for (connection = LIST_FIRST(&control->connections); connection; connection = next) {
		next = LIST_NEXT(connection, link);
		if (connection->is_watching && !send_version(connection))
			connection_free(connection);
	}
}

/* The client's side. */

/* Any process of the user can put its own socket into the directory, and not accept what connects
 * to it. */
static bool connect_in(int folder_fd, int fd, pid_t supervisor)
{
	struct sockaddr_un address = address_in(folder_fd);
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return connect(fd, (const struct sockaddr *) &address, sizeof(address)) == 0 &&
	       getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid == supervisor;
}

static int send_control_command(const char *job_folder, pid_t supervisor, const char *line,
				int *ret_fd)
{
	int folder_fd CLEANUP(file_close) = open(job_folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd CLEANUP(file_close) = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (folder_fd < 0 || fd < 0 || !connect_in(folder_fd, fd, supervisor) ||
	    send(fd, line, strlen(line), MSG_NOSIGNAL) != (ssize_t) strlen(line))
		return ERR_UNREACHABLE;
	*ret_fd = fd;
	fd = -1;
	return 0;
}

void control_wake(const char *job_folder, pid_t supervisor)
{
	int fd CLEANUP(file_close) = -1;

	if (send_control_command(job_folder, supervisor, "wake\n", &fd) < 0 && supervisor > 0)
		kill(supervisor, SIGCONT);
}

int control_watch(const char *job_folder, pid_t supervisor, int *ret_fd)
{
	return send_control_command(job_folder, supervisor, "watch\n", ret_fd);
}

/* Reads one line, byte by byte: messages are rare and short, and nothing is read ahead. */
static int read_control_line(int fd, instant until, char line[LINE_SIZE])
{
	size_t len = 0;

	while (len < LINE_SIZE - 1) {
		struct pollfd ready = {.fd = fd, .events = POLLIN};
		int n_ready = poll(&ready, 1, loop_milliseconds_until(until));

		if (n_ready < 0 && errno == EINTR)
			continue;
		if (n_ready == 0)
			return 0;
		if (n_ready < 0 || read(fd, line + len, 1) != 1)
			return ERR_UNREACHABLE;
		if (line[len] == '\n') {
			line[len] = '\0';
			return 1;
		}
		len++;
	}
	return ERR_UNREACHABLE;
}

int control_next_version(int watch_fd, instant until, int64_t *ret_version, struct err *err)
{
	char line[LINE_SIZE];
	int rc = read_control_line(watch_fd, until, line);

	if (rc == 0)
		return 0;
	if (rc < 0 || !text_starts_with(line, "changed ") ||
	    text_read_int(line + strlen("changed "), 0, INT64_MAX, ret_version, NULL) < 0)
		return err_set(err, ERR_UNREACHABLE, "the supervisor hung up");
	return 1;
}
