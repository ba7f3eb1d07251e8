#include "io/notify.h"

#include "io/file.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

void notify_send(const char *state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const char *path = getenv("NOTIFY_SOCKET");
	size_t len = path ? strlen(path) : 0;

	if (len < 2 || len > sizeof(address.sun_path) || (path[0] != '/' && path[0] != '@'))
		return;
	memcpy(address.sun_path, path, len);
	/* Linux' abstract sockets: a name that begins with a NUL byte. */
	if (path[0] == '@')
		address.sun_path[0] = '\0';
	int fd CLEANUP(file_close) = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd >= 0)
		sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *) &address,
		       (socklen_t) (offsetof(struct sockaddr_un, sun_path) + len));
}
