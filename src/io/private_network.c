#include "io/private_network.h"

#include "io/file.h"

#include <sched.h>
#include <stdio.h>

#define PATH_SIZE 64

void private_network_done(struct private_network *network)
{
	file_close(&network->user_fd);
	file_close(&network->net_fd);
}

int private_network_enter(const struct private_network *network)
{
	if (network->user_fd >= 0 && setns(network->user_fd, CLONE_NEWUSER) < 0)
		return errno;
	return network->net_fd >= 0 && setns(network->net_fd, CLONE_NEWNET) < 0 ? errno : 0;
}

/* 0 or errno. Our own namespace is not opened: a process cannot enter the one it is in. */
static int open_other(pid_t pid, const char *kind, int *ret_fd)
{
	char own[PATH_SIZE], path[PATH_SIZE];
	struct stat ours, theirs;

	snprintf(own, sizeof(own), "/proc/self/ns/%s", kind);
	snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int) pid, kind);
	int fd CLEANUP(file_close) = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || stat(own, &ours) < 0 || fstat(fd, &theirs) < 0)
		return errno;
	if (ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev)
		return 0;
	*ret_fd = fd;
	fd = -1;
	return 0;
}

int private_network_open(pid_t pid, struct private_network *network)
{
	int errno_value = open_other(pid, "user", &network->user_fd);

	return errno_value ? errno_value : open_other(pid, "net", &network->net_fd);
}

int private_network_join(pid_t pid, struct err *err)
{
	struct private_network network CLEANUP(private_network_done) = PRIVATE_NETWORK_NONE;
	int errno_value = private_network_open(pid, &network);

	if (!errno_value)
		errno_value = private_network_enter(&network);
	return errno_value
		       ? err_set_errno(err, errno_value,
				       "cannot enter the private network of process %d", (int) pid)
		       : 0;
}
