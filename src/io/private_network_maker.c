/* A separate process creates the namespaces, sends them to us and exits: the creator is in them,
 * and we have to stay where other jobs and their processes can be seen. */
#include "io/private_network.h"

#include "base/mem.h"
#include "base/text.h"
#include "io/child.h"
#include "io/file.h"

#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define MAP_SIZE 64

/* In the process that creates it. */

/* A process that gives up the permission to leave groups may map its own one
 * (user_namespaces(7)). */
static bool map_own_ids(uid_t uid, gid_t gid)
{
	char user[MAP_SIZE], group[MAP_SIZE];

	snprintf(user, sizeof(user), "%u %u 1", (unsigned) uid, (unsigned) uid);
	snprintf(group, sizeof(group), "%u %u 1", (unsigned) gid, (unsigned) gid);
	return file_write_text("/proc/self/setgroups", "deny") &&
	       file_write_text("/proc/self/uid_map", user) &&
	       file_write_text("/proc/self/gid_map", group);
}

static bool raise_loopback(void)
{
	struct ifreq request = {.ifr_name = "lo"};
	int fd CLEANUP(file_close) = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &request) < 0)
		return false;
	request.ifr_flags = (short) (request.ifr_flags | IFF_UP);
	return ioctl(fd, SIOCSIFFLAGS, &request) == 0;
}

/* Descriptors are sent with at least one byte (unix(7)): it is an errno, 0 on success. */
static void send_network(int fd, int errno_value, const struct private_network *network)
{
	struct iovec part = {&errno_value, sizeof(errno_value)};
	char control[CMSG_SPACE(sizeof(*network))] = {0};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	size_t n_fds = network->user_fd < 0 ? 1 : 2;

	if (errno_value == 0) {
		message.msg_control = control;
		message.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
		struct cmsghdr *header = CMSG_FIRSTHDR(&message);

		*header = (struct cmsghdr){.cmsg_len = CMSG_LEN(n_fds * sizeof(int)),
					   .cmsg_level = SOL_SOCKET,
					   .cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(header), &network->net_fd, sizeof(int));
		if (n_fds == 2)
			memcpy(CMSG_DATA(header) + sizeof(int), &network->user_fd, sizeof(int));
	}
	sendmsg(fd, &message, MSG_NOSIGNAL);
}

/* 0 or errno. Root may create a network without a user namespace, unless it is the root of a
 * container. */
static int make_network(struct private_network *ret_network)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	bool needs_user = unshare(CLONE_NEWNET) < 0;

	/* A process that may not dump core loses access to its /proc/self. */
	prctl(PR_SET_DUMPABLE, 1);
	if (needs_user && (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0 || !map_own_ids(uid, gid)))
		return errno;
	if (!raise_loopback())
		return errno;
	ret_network->net_fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (needs_user)
		ret_network->user_fd = open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
	return ret_network->net_fd < 0 || (needs_user && ret_network->user_fd < 0) ? errno : 0;
}

NORETURN static void make_and_send(int fd)
{
	struct private_network network = PRIVATE_NETWORK_NONE;
	int errno_value = make_network(&network);

	send_network(fd, errno_value, &network);
	_exit(0);
}

/* In the process that requests it. */

/* 0 or errno, as received. */
static int receive_network(int fd, struct private_network *ret_network)
{
	int errno_value = ECHILD, fds[2] = {-1, -1};
	struct iovec part = {&errno_value, sizeof(errno_value)};
	char control[CMSG_SPACE(sizeof(fds))];
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	ssize_t len;

	while ((len = recvmsg(fd, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
		;
	if (len != sizeof(errno_value) || errno_value)
		return len < 0 ? errno : errno_value;
	const struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	if (!header || header->cmsg_type != SCM_RIGHTS)
		return EPROTO;
	memcpy(fds, CMSG_DATA(header), header->cmsg_len - CMSG_LEN(0));
	*ret_network = (struct private_network){.net_fd = fds[0], .user_fd = fds[1]};
	return 0;
}

/* Settings of an administrator that forbid it, and how to change them. */
static const struct waiting_reason {
	const char *file, *value;
	const char *sentence;
} obstacles[] = {
	{"/proc/sys/user/max_user_namespaces", "0",
	 "user namespaces are disabled on this machine; to enable them: sysctl -w "
	 "user.max_user_namespaces=10000"},
	{"/proc/sys/user/max_net_namespaces", "0",
	 "network namespaces are disabled on this machine; to enable them: sysctl -w "
	 "user.max_net_namespaces=10000"},
	{"/proc/sys/kernel/unprivileged_userns_clone", "0",
	 "only root may create user namespaces here: sysctl -w kernel.unprivileged_userns_clone=1"},
	{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1",
	 "AppArmor allows user namespaces only to programs with a profile; to allow them: sysctl "
	 "-w kernel.apparmor_restrict_unprivileged_userns=0, or a profile with 'userns,'"},
};

static const struct waiting_reason *find_obstacle(void)
{
	for (size_t i = 0; i < ARRAY_LEN(obstacles); i++) {
		char *value CLEANUP(mem_free_text) = file_read_text(obstacles[i].file);

		if (value)
			value[strcspn(value, "\n")] = '\0';
		if (text_equals(value, obstacles[i].value))
			return &obstacles[i];
	}
	return NULL;
}

static int refuse_private_network(int errno_value, struct err *err)
{
	const struct waiting_reason *obstacle = find_obstacle();

	if (obstacle)
		return err_set(err, ERR_REFUSED, "%s", obstacle->sentence);
	return err_set(err, ERR_REFUSED, "cannot create its network namespace (%s)%s",
		       strerror(errno_value),
		       errno_value == EPERM ? "; a container must allow it in its seccomp profile"
					    : "");
}

int private_network_create(struct private_network *ret_network, struct err *err)
{
	struct private_network network = PRIVATE_NETWORK_NONE;
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds) < 0)
		return err_set_errno(err, errno, "cannot create a pair of sockets");
	pid_t pid = child_fork();
	int errno_value = errno;

	if (pid == 0)
		make_and_send(fds[1]);
	close(fds[1]);
	if (pid > 0) {
		errno_value = receive_network(fds[0], &network);
		waitpid(pid, NULL, 0);
	}
	close(fds[0]);
	if (errno_value)
		return refuse_private_network(errno_value, err);
	*ret_network = network;
	return 0;
}
