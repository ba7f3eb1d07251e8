/* A control group of our own; where none can be made, there is nothing to see. */
#include "unit.h"

#include "base/mem.h"
#include "io/own_group.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A child that waits in a group; the caller ends both. */
struct waiting {
	char *folder;
	pid_t child;
	struct process_identity maker;
};

static int begin(void **state)
{
	struct waiting *waiting = calloc(1, sizeof(*waiting));
	struct err err;

	*state = waiting;
	if (own_group_create(&waiting->folder, &err) < 0) {
		print_message("%s\n", err.text);
		return 0;
	}
	assert_int_equal(process_identify(getpid(), &waiting->maker, NULL), 0);
	waiting->child = own_group_fork(waiting->folder);
	if (waiting->child == 0)
		for (;;)
			pause();
	return waiting->child < 0;
}

static int end(void **state)
{
	struct waiting *waiting = *state;

	if (waiting->folder) {
		kill(waiting->child, SIGKILL);
		waitpid(waiting->child, NULL, 0);
		own_group_end(waiting->folder);
		assert_int_equal(access(waiting->folder, F_OK), -1);
	}
	free(waiting->folder);
	free(waiting);
	return 0;
}

static bool is_alive(const struct waiting *waiting)
{
	return waitpid(waiting->child, NULL, WNOHANG) == 0;
}

static struct waiting *need_group(void **state)
{
	struct waiting *waiting = *state;

	if (!waiting->folder)
		skip();
	return waiting;
}

TEST_WITH(begin, end, the_child_is_in_it_and_the_caller_is_not)
{
	const struct waiting *waiting = need_group(state);
	char *path CLEANUP(mem_free_text) = mem_format("%s/cgroup.procs", waiting->folder);
	FILE *file = fopen(path, "r");
	int pid = 0, other = 0;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%d %d", &pid, &other), 1);
	assert_int_equal(pid, waiting->child);
	fclose(file);
	assert_null(own_group_folder());
	assert_true(is_alive(waiting));
}

/* As after fork(3): what libc says of the thread is true of this one. */
TEST_WITH(begin, end, the_child_is_a_process_like_any)
{
	const struct waiting *waiting = need_group(state);
	int status = 0;
	pid_t child = own_group_fork(waiting->folder);

	if (child == 0) {
		if (!text_equals(own_group_folder(), waiting->folder))
			_exit(1);
		raise(SIGUSR1);
		_exit(2);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGUSR1);
}

TEST_WITH(begin, end, all_that_is_in_it_is_killed)
{
	const struct waiting *waiting = need_group(state);
	int status = 0;

	own_group_clean_up(waiting->folder, &waiting->maker);
	assert_int_equal(waitpid(waiting->child, &status, 0), waiting->child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
	assert_int_equal(access(waiting->folder, F_OK), -1);
}

/* A muster that a worker of that job calls. */
TEST_WITH(begin, end, one_that_is_in_it_ends_all_but_itself)
{
	const struct waiting *waiting = need_group(state);
	int status = 0;
	pid_t caller = own_group_fork(waiting->folder);

	if (caller == 0) {
		own_group_clean_up(waiting->folder, &waiting->maker);
		_exit(access(waiting->folder, F_OK) == 0);
	}
	assert_int_equal(waitpid(waiting->child, &status, 0), waiting->child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(waitpid(caller, &status, 0), caller);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* As the filters of some containers do, which let folders be made. */
static void refuse_clone3(void)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {ARRAY_LEN(rules), rules};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0)
		_exit(2);
}

TEST_WITH(begin, end, a_trial_begins_a_process)
{
	const struct waiting *waiting = need_group(state);
	struct err err;
	int status = 0;

	assert_int_equal(own_group_try(&err), ERR_IO); /* of that name there is one */
	pid_t child = fork();

	if (child == 0) {
		own_group_end(waiting->folder);
		if (own_group_try(&err) < 0)
			_exit(3);
		refuse_clone3();
		_exit(own_group_try(&err) != ERR_UNSUPPORTED || !strstr(err.text, "clone3"));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

TEST_WITH(begin, end, what_another_made_is_left_alone)
{
	const struct waiting *waiting = need_group(state);
	struct process_identity other = waiting->maker;

	other.pid++;
	own_group_clean_up(waiting->folder, &other);
	other = waiting->maker;
	other.start_time++;
	own_group_clean_up(waiting->folder, &other);
	other = waiting->maker;
	other.boot_id[0] ^= 1;
	own_group_clean_up(waiting->folder, &other);
	own_group_clean_up("", &waiting->maker);
	own_group_clean_up("/tmp", &waiting->maker);
	assert_true(is_alive(waiting));
}
