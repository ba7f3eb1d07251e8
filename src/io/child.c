/* Children: vfork, a handful of system calls, exec.
 *
 * vfork, because the kernel then copies nothing of us and wakes us only when exec has succeeded or
 * failed; because the memory is shared meanwhile, the child reports a failure by writing it down.
 * posix_spawn does the same inside, but cannot set a parent-death signal. */
#include "io/child.h"

#include "base/exit_code.h"
#include "io/file.h"
#include "io/own_process.h"
#include "io/process.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC 4
#endif

/* The directories that exec itself searches without a PATH (execvp of glibc), and one for programs
 * that an administrator installed. */
#define PATH_OTHERWISE "/usr/local/bin:/usr/bin:/bin"

enum start_step {
	STEP_PREPARE,
	STEP_FOLDER,
	STEP_NETWORK,
	STEP_PROGRAM,
	STEP_INTERPRETER,
};

struct start_failure {
	enum start_step step;
	int errno_value; /* 0: started */
};

/* Tries one possible path of the program; 0, or an errno value. */
typedef int (*try_program_fn)(const struct child_start *start, const char *path, int folder_fd);

static const char *search_path_of(char *const *environment)
{
	for (; *environment; environment++)
		if (strncmp(*environment, "PATH=", 5) == 0)
			return *environment + 5;
	return PATH_OTHERWISE;
}

/* The errors after which execvp(3) tries the next directory. */
static bool is_worth_another_folder(int errno_value)
{
	return errno_value == ENOENT || errno_value == ENOTDIR || errno_value == EACCES ||
	       errno_value == ENODEV || errno_value == ESTALE || errno_value == ETIMEDOUT;
}

/* As execvp(3), except for empty elements, and in the child's own PATH: a program without execute
 * permission is reported rather than a missing one. Allocates nothing. */
static int try_each_place(const struct child_start *start, int folder_fd, try_program_fn try)
{
	if (strchr(start->program, '/') || *start->program == '\0')
		return try(start, start->program, folder_fd);
	const char *rest = search_path_of(start->environment), *folder;
	char candidate[PATH_MAX];
	int outcome = ENOENT;
	size_t len;

	while ((folder = search_path_next(&rest, &len))) {
		bool fits = snprintf(candidate, PATH_MAX, "%.*s/%s", (int) len, folder,
				     start->program) < PATH_MAX;
		int tried = fits ? try(start, candidate, folder_fd) : ENOENT;

		if (tried == 0 || !is_worth_another_folder(tried))
			return tried;
		if (tried == EACCES)
			outcome = EACCES;
	}
	return outcome;
}

static int try_exec(const struct child_start *start, const char *path, int folder_fd)
{
	(void) folder_fd;
	execve(path, start->arguments, start->environment);
	return errno;
}

static int try_access(const struct child_start *start, const char *path, int folder_fd)
{
	struct stat file;

	(void) start;
	if (fstatat(folder_fd, path, &file, 0) < 0)
		return errno;
	if (!S_ISREG(file.st_mode))
		return EACCES;
	return faccessat(folder_fd, path, X_OK, AT_EACCESS) < 0 ? errno : 0;
}

/* The handlers are ours and the memory is shared: reset them before a signal can arrive. */
static void restore_signals(void)
{
	const struct sigaction by_default = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		sigaction(number, &by_default, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static bool connect_input(const struct child_start *start)
{
	if (start->input_fd)
		return dup2(start->input_fd, STDIN_FILENO) >= 0;
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (nothing == STDIN_FILENO)
		return fcntl(nothing, F_SETFD, 0) == 0;
	return nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0;
}

static bool connect_streams(const struct child_start *start)
{
	/* First moved away, in case they are among the three that they replace. */
	int output = fcntl(start->output_fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	int error = start->error_fd ? fcntl(start->error_fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
				    : output;

	if (output < 0 || error < 0)
		return false;
	if (!start->uses_terminal && !connect_input(start))
		return false;
	if (dup2(output, STDOUT_FILENO) < 0 || dup2(error, STDERR_FILENO) < 0)
		return false;
	/* Our descriptors all close on exec; inherited ones do not. A kernel before 5.11 cannot do
	 * this, which is no failure. */
	close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
	return true;
}

/* A parent that exited before prctl sends no signal: then we already have another parent. */
static bool die_with(pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return false;
	if (getppid() == parent)
		return true;
	errno = ESRCH;
	return false;
}

/* Returns only when it fails. */
static struct start_failure exec_program(const struct child_start *start)
{
	int outcome = try_each_place(start, AT_FDCWD, try_exec);

	if (outcome == ENOENT && try_each_place(start, AT_FDCWD, try_access) == 0)
		return (struct start_failure){STEP_INTERPRETER, outcome};
	return (struct start_failure){STEP_PROGRAM, outcome};
}

static struct start_failure become_program(const struct child_start *start, pid_t parent)
{
	if ((!start->uses_terminal && setpgid(0, 0) < 0) || !die_with(parent) ||
	    !connect_streams(start))
		return (struct start_failure){STEP_PREPARE, errno};
	if (start->working_dir && chdir(start->working_dir) < 0)
		return (struct start_failure){STEP_FOLDER, errno};
	int network_errno = start->network ? private_network_enter(start->network) : 0;

	if (network_errno)
		return (struct start_failure){STEP_NETWORK, network_errno};
	if (start->nice)
		setpriority(PRIO_PROCESS, 0, start->nice);
	if (start->descriptor_limit)
		descriptor_limit_set(start->descriptor_limit);
	restore_signals();
	return exec_program(start);
}

static int describe_missing(const struct child_start *start, struct err *err)
{
	const char *program = start->program, *path = search_path_of(start->environment);

	if (strchr(program, ' '))
		return err_set(err, ERR_NOT_FOUND,
			       "program '%s' not found; write the program and each argument as a "
			       "word of its own, or let a shell read them: sh -c '…'",
			       program);
	if (strchr(program, '/'))
		return err_set(err, ERR_NOT_FOUND, "program '%s' not found", program);
	return err_set(err, ERR_NOT_FOUND, "program '%s' not found in PATH%s", program,
		       search_path_has_empty(path)
			       ? "; an empty PATH element does not mean the current directory"
			       : "");
}

static int describe_program(const struct child_start *start, int errno_value, struct err *err)
{
	const char *program = start->program;

	switch (errno_value) {
	case ENOENT:
	case ENOTDIR:
		return describe_missing(start, err);
	case EACCES:
	case EPERM:
		return err_set(err, ERR_REFUSED,
			       "program '%s' cannot be run: it is not executable (chmod +x?)",
			       program);
	case ENOEXEC:
		return err_set(err, ERR_REFUSED,
			       "'%s' is not a program for this machine: a script needs a first "
			       "line like #!/bin/sh",
			       program);
	case E2BIG:
		return err_set(
			err, ERR_LIMIT,
			"arguments and environment of '%s' are longer than the kernel allows",
			program);
	default:
		return err_set_errno(err, errno_value, "cannot run '%s'", program);
	}
}

static int describe_folder(const char *folder, int errno_value, struct err *err)
{
	if (errno_value == ENOENT)
		return err_set(err, ERR_NOT_FOUND, "working directory '%s' does not exist", folder);
	if (errno_value == ENOTDIR)
		return err_set(err, ERR_NOT_FOUND, "working directory '%s' is not a directory",
			       folder);
	return err_set_errno(err, errno_value, "cannot change to working directory '%s'", folder);
}

static int describe_failure(const struct child_start *start, enum start_step step, int errno_value,
			    struct err *err)
{
	switch (step) {
	case STEP_PREPARE:
		return err_set_errno(err, errno_value, "cannot start '%s'", start->program);
	case STEP_FOLDER:
		return describe_folder(start->working_dir, errno_value, err);
	case STEP_NETWORK:
		return err_set_errno(err, errno_value,
				     "'%s' cannot enter the job's private network", start->program);
	case STEP_PROGRAM:
		return describe_program(start, errno_value, err);
	case STEP_INTERPRETER:
		return err_set(err, ERR_NOT_FOUND,
			       "'%s' names an interpreter in its first line that does not exist "
			       "(if its lines end with CR LF, convert them: dos2unix)",
			       start->program);
	}
	return ERR_IO;
}

int child_start(const struct child_start *start, pid_t *ret_pid, struct err *err)
{
	volatile struct start_failure failure = {STEP_PREPARE, 0};
	pid_t parent = getpid();
	sigset_t all, before;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid_t pid = vfork();
	if (pid == 0) {
		struct start_failure seen = become_program(start, parent);

		failure.step = seen.step;
		failure.errno_value = seen.errno_value;
		_exit(EXIT_NO_PROGRAM);
	}
	int fork_errno = errno;

	sigprocmask(SIG_SETMASK, &before, NULL);
	if (pid < 0)
		return err_set_errno(err, fork_errno, "cannot start '%s'", start->program);
	if (failure.errno_value) {
		waitpid(pid, NULL, 0);
		return describe_failure(start, failure.step, failure.errno_value, err);
	}
	*ret_pid = pid;
	return 0;
}

int child_exec(const struct child_start *start, struct err *err)
{
	struct start_failure failure = exec_program(start);

	return describe_failure(start, failure.step, failure.errno_value, err);
}

pid_t child_fork(void)
{
	pid_t parent = getpid(), pid = fork();
	sigset_t all;

	if (pid != 0)
		return pid;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_NO_PROGRAM);
	return 0;
}

void child_end(pid_t pid)
{
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static int open_folder(const struct child_start *start, int *ret_fd, struct err *err)
{
	if (!start->working_dir)
		return 0;
	int fd = open(start->working_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return describe_folder(start->working_dir, errno, err);
	*ret_fd = fd;
	return 0;
}

int child_check_folder(const struct child_start *start, struct err *err)
{
	int fd CLEANUP(file_close) = AT_FDCWD;

	return open_folder(start, &fd, err);
}

int child_check_program(const struct child_start *start, struct err *err)
{
	int fd CLEANUP(file_close) = AT_FDCWD;
	int rc = open_folder(start, &fd, err);

	if (rc < 0)
		return rc;
	int outcome = try_each_place(start, fd, try_access);

	return outcome ? describe_program(start, outcome, err) : 0;
}

void child_signal_group(pid_t pid, int signal_number)
{
	kill(-pid, signal_number);
}

bool child_reap(struct child_exit *ret_exit, bool *ret_has_children, child_spares_fn spares,
		const void *data)
{
	siginfo_t ended = {.si_pid = 0};

	if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) < 0) {
		*ret_has_children = false;
		return false;
	}
	*ret_has_children = true;
	if (ended.si_pid == 0)
		return false;
	bool has_code = ended.si_code == CLD_EXITED;

	*ret_exit = (struct child_exit){
		.pid = ended.si_pid,
		.exit_code = has_code ? ended.si_status : -1,
		.signal = has_code ? 0 : ended.si_status,
	};
	/* A child of child_start leads a process group inside our session. It cannot have its own
	 * session, since the leader of a group may not create one (setsid(2)). */
	if (getpgid(ended.si_pid) == ended.si_pid && getsid(ended.si_pid) == getsid(0) &&
	    !(spares && spares(ret_exit, data)))
		child_signal_group(ended.si_pid, SIGKILL);
	waitid(P_PID, (id_t) ended.si_pid, &ended, WEXITED);
	return true;
}

bool child_next_stop(pid_t *ret_pid, int *ret_signal)
{
	siginfo_t news = {.si_pid = 0};

	if (waitid(P_ALL, 0, &news, WSTOPPED | WCONTINUED | WNOHANG) < 0 || news.si_pid == 0)
		return false;
	*ret_pid = news.si_pid;
	*ret_signal = news.si_code == CLD_CONTINUED ? 0 : news.si_status;
	return true;
}

static void kill_and_count(pid_t pid, void *data)
{
	int *killed = data;

	if (kill(pid, SIGKILL) == 0)
		*killed += 1;
}

void child_kill_all(child_exit_fn on_exit, void *data)
{
	for (;;) {
		struct child_exit ended;
		siginfo_t next;
		bool has_children;
		int killed = 0;

		while (child_reap(&ended, &has_children, NULL, NULL))
			if (on_exit)
				on_exit(&ended, data);
		if (!has_children)
			return;
		process_each_child(getpid(), kill_and_count, &killed);
		if (killed == 0)
			return;
		waitid(P_ALL, 0, &next, WEXITED | WNOWAIT);
	}
}
