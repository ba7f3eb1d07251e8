/* A separate process creates the namespaces and waits until we have opened them: the creator is in
 * them, and we have to stay where other jobs and their processes can be seen. */
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

/* 0 or errno. Root may create a network without a user namespace, unless it is the root of a
 * container. */
static int make_network(void)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	bool needs_user = unshare(CLONE_NEWNET) < 0;

	/* Neither it nor we may otherwise read its /proc/PID. */
	prctl(PR_SET_DUMPABLE, 1);
	if (needs_user && (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0 || !map_own_ids(uid, gid)))
		return errno;
	return raise_loopback() ? 0 : errno;
}

NORETURN static void make_and_wait(int fd)
{
	int errno_value = make_network();

	file_write_all(fd, &errno_value, sizeof(errno_value), NULL);
	for (;;)
		pause();
}

/* In the process that requests it. */

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
	struct private_network network CLEANUP(private_network_done) = PRIVATE_NETWORK_NONE;
	int ends[2], errno_value = ECHILD;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_set_errno(err, errno, "cannot create a pipe");
	pid_t pid = child_fork();

	if (pid == 0)
		make_and_wait(ends[1]);
	if (pid < 0)
		errno_value = errno;
	file_close(&ends[1]);
	if (pid > 0) {
		while (read(ends[0], &errno_value, sizeof(errno_value)) < 0 && errno == EINTR)
			continue;
		if (errno_value == 0)
			errno_value = private_network_open(pid, &network);
		child_end(pid);
	}
	file_close(&ends[0]);
	if (errno_value)
		return refuse_private_network(errno_value, err);
	*ret_network = network;
	network = PRIVATE_NETWORK_NONE;
	return 0;
}
