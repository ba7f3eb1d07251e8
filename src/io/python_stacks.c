#include "io/python_stacks.h"

#include "base/mem.h"
#include "io/folder.h"
#include "io/process.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PATH_SIZE 64

/* How the main thread handles the signal. */
struct signal_state {
	bool is_pending, is_blocked, is_caught;
};

static bool read_state(pid_t pid, struct signal_state *ret_state)
{
	char *status CLEANUP(mem_free_text) = process_stat_status(pid);

	if (!status)
		return false;
	*ret_state = (struct signal_state){
		.is_pending = process_stat_has_signal(status, "\nSigPnd:", PYTHON_STACKS_SIGNAL),
		.is_blocked = process_stat_has_signal(status, "\nSigBlk:", PYTHON_STACKS_SIGNAL),
		.is_caught = process_stat_has_signal(status, "\nSigCgt:", PYTHON_STACKS_SIGNAL),
	};
	return true;
}

/* By the descriptors, because a program may have closed the file. */
static bool has_open(pid_t pid, const struct stat *file)
{
	char path[PATH_SIZE];
	const struct dirent *entry;
	struct stat found;
	bool is_open = false;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int) pid);
	DIR *folder CLEANUP(folder_close) = opendir(path);

	while (folder && !is_open && (entry = readdir(folder)))
		is_open = fstatat(dirfd(folder), entry->d_name, &found, 0) == 0 &&
			  found.st_dev == file->st_dev && found.st_ino == file->st_ino;
	return is_open;
}

const char *python_stacks_obstacle(pid_t pid, int fd)
{
	struct signal_state state;
	struct process_stat stat;
	struct stat file;

	if (fstat(fd, &file) < 0 || !read_state(pid, &state))
		return "has exited";
	if (!state.is_caught || !has_open(pid, &file))
		return "not a Python process, or it did not load muster's sitecustomize "
		       "(PYTHONPATH was replaced, or python -I, -E or -S)";
	if (state.is_blocked)
		return "its main thread blocks the signal";
	if (process_stat_read(pid, &stat) && (stat.state == 'T' || stat.state == 't'))
		return "stopped by a signal (SIGSTOP)";
	return NULL;
}

int python_stacks_ask(pid_t pid, struct err *err)
{
	/* To the main thread, so that its own masks show when it is done. */
	if (syscall(SYS_tgkill, pid, pid, PYTHON_STACKS_SIGNAL) == 0)
		return 0;
	return errno == ESRCH
		       ? err_set(err, ERR_NOT_FOUND, "process %d no longer exists", (int) pid)
		       : err_set_errno(err, errno, "cannot signal process %d", (int) pid);
}

/* The file first: after the signal is no longer pending and before it is blocked, nothing is
 * written. So if the file has grown, its writer had started. */
bool python_stacks_are_written(pid_t pid, int fd, off_t size)
{
	struct signal_state state;
	struct stat file;
	bool has_begun = fstat(fd, &file) == 0 && file.st_size > size;

	if (!read_state(pid, &state))
		return true;
	return has_begun && !state.is_pending && !state.is_blocked;
}
