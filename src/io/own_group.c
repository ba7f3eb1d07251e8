#include "io/own_group.h"

#include "base/mem.h"
#include "io/file.h"
#include "io/folder.h"
#include "io/loop.h"

#include <dirent.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#define DEATH_LIMIT MSEC_PER_SECOND
#define MODE 0755
#define DEPTH_LIMIT 32 /* of nested groups */

static char *own_folder; /* like the pid, constant for the process */

/* Our own group. */

/* The rest of the line that starts with these words; cuts the text after it. */
static char *line_of(char *text, const char *words)
{
	for (char *line; text && (line = strsep(&text, "\n"));)
		if (text_starts_with(line, words))
			return line + strlen(words);
	return NULL;
}

static bool is_control_group(const char *folder)
{
	struct statfs system;

	return statfs(folder, &system) == 0 && system.f_type == CGROUP2_SUPER_MAGIC;
}

/* The directory of the calling process's group; NULL if version 2 is mounted in neither place that
 * systemd uses. A container that sees the path of its host has no such directory. */
static char *find_own_folder(void)
{
	static const char *const places[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
	char *groups CLEANUP(mem_free_text) = file_read_text("/proc/self/cgroup");
	const char *group = line_of(groups, "0::");

	for (size_t i = 0; group && i < ARRAY_LEN(places); i++)
		if (is_control_group(places[i]))
			return mem_format("%s%s", places[i], text_equals(group, "/") ? "" : group);
	return NULL;
}

/* No two processes of one boot share both numbers. */
static char *name_for(const struct process_identity *maker)
{
	return mem_format("muster-%d-%" PRIu64, (int) maker->pid, maker->start_time);
}

/* Creating. */

int own_group_create(char **ret_folder, struct err *err)
{
	char *above CLEANUP(mem_free_text) = find_own_folder();
	struct process_identity self;

	if (!above)
		return err_set(err, ERR_UNSUPPORTED, "control groups version 2 are not mounted");
	int rc = process_identify(getpid(), &self, err);
	if (rc < 0)
		return rc;
	char *name CLEANUP(mem_free_text) = name_for(&self);
	char *folder CLEANUP(mem_free_text) = mem_format("%s/%s", above, name);

	if (mkdir(folder, MODE) < 0)
		return err_set(err, errno == EACCES || errno == EPERM ? ERR_REFUSED : ERR_IO,
			       "cannot create one under %s: %s", above, strerror(errno));
	char *kill_file CLEANUP(mem_free_text) = mem_format("%s/cgroup.kill", folder);

	if (access(kill_file, W_OK) < 0) {
		rmdir(folder);
		return err_set(err, ERR_UNSUPPORTED, "this kernel has no cgroup.kill (Linux 5.14)");
	}
	*ret_folder = TAKE(folder);
	return 0;
}

/* Forking. */

/* As fork(3), which takes no group: the child has one thread, whose id libc caches. */
pid_t own_group_fork(const char *folder)
{
	int fd CLEANUP(file_close) = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int *number = NULL;

	if (fd < 0 || prctl(PR_GET_TID_ADDRESS, &number) < 0)
		return -1;
	const struct clone_args args = {
		.flags = CLONE_INTO_CGROUP | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID,
		.child_tid = (uintptr_t) number,
		.exit_signal = SIGCHLD,
		.cgroup = (uint64_t) fd,
	};
	pid_t child = (pid_t) syscall(SYS_clone3, &args, sizeof(args));

	if (child == 0)
		own_folder = mem_copy_text(folder);
	return child;
}

const char *own_group_folder(void)
{
	return own_folder;
}

int own_group_try(struct err *err)
{
	char *folder CLEANUP(mem_free_text) = NULL;
	int rc = own_group_create(&folder, err);

	if (!folder)
		return rc;
	pid_t child = own_group_fork(folder);

	if (child == 0)
		_exit(0);
	if (child < 0)
		rc = err_set(err, ERR_UNSUPPORTED, "no process can be started in one (clone3: %s)",
			     strerror(errno));
	else
		waitpid(child, NULL, 0);
	own_group_end(folder);
	return rc;
}

/* Removing. */

static bool is_populated(int fd)
{
	char text[256];
	size_t len = file_read_at(fd, text, sizeof(text) - 1, 0);

	text[len] = '\0';
	return strstr(text, "populated 1") != NULL;
}

static void wait_until_empty(const char *folder)
{
	char *path CLEANUP(mem_free_text) = mem_format("%s/cgroup.events", folder);
	int fd CLEANUP(file_close) = open(path, O_RDONLY | O_CLOEXEC);
	instant until = loop_instant_after(DEATH_LIMIT);

	while (fd >= 0 && is_populated(fd) && !loop_has_come(until)) {
		struct pollfd change = {.fd = fd, .events = POLLPRI};

		poll(&change, 1, loop_milliseconds_until(until));
	}
}

/* All directories in it are groups. */
static void remove_with_those_below(const char *folder, int depth)
{
	DIR *open_folder CLEANUP(folder_close) = depth < DEPTH_LIMIT ? opendir(folder) : NULL;

	if (!open_folder)
		return;
	for (struct dirent *entry; (entry = readdir(open_folder));) {
		char *below CLEANUP(mem_free_text) = mem_format("%s/%s", folder, entry->d_name);

		if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
			remove_with_those_below(below, depth + 1);
	}
	rmdir(folder);
}

/* Moves to the parent group; false: the caller is still in it. */
static bool leave_own_group(const char *folder)
{
	char *own CLEANUP(mem_free_text) = find_own_folder();
	char *above CLEANUP(mem_free_text) = file_folder_of(folder);
	char *path CLEANUP(mem_free_text) = mem_format("%s/cgroup.procs", above);

	return !own || !file_is_in(own, folder) || file_write_text(path, "0");
}

void own_group_end(const char *folder)
{
	if (rmdir(folder) == 0 || errno == ENOENT || !leave_own_group(folder))
		return;
	char *kill_file CLEANUP(mem_free_text) = mem_format("%s/cgroup.kill", folder);

	file_write_text(kill_file, "1");
	wait_until_empty(folder);
	remove_with_those_below(folder, 0);
}

void own_group_clean_up(const char *folder, const struct process_identity *maker)
{
	char *name CLEANUP(mem_free_text) = name_for(maker);
	const char *slash = strrchr(folder, '/');
	struct process_identity self;

	if (process_identify(getpid(), &self, NULL) == 0 &&
	    text_equals(self.boot_id, maker->boot_id) && slash && text_equals(slash + 1, name) &&
	    is_control_group(folder))
		own_group_end(folder);
}
