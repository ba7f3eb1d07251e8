#include "unit.h"

#include "base/mem.h"
#include "io/folder.h"
#include "local/control.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A supervisor's socket in a folder whose path is longer than a socket's address. */
struct supervisor {
	char top[64];
	char *folder;
	struct loop *loop;
	struct control *control;
	int n_woken;
};

static void on_wake(void *data)
{
	((struct supervisor *) data)->n_woken++;
}

static int make(void **state)
{
	struct supervisor *supervisor = mem_new(sizeof(*supervisor));

	*state = supervisor;
	strcpy(supervisor->top, "/tmp/muster-test-control-XXXXXX");
	if (!mkdtemp(supervisor->top))
		return -1;
	supervisor->folder = mem_format("%s/%0100d/%0100d", supervisor->top, 1, 2);
	if (folder_create(supervisor->folder, NULL) < 0 || loop_new(&supervisor->loop, NULL) < 0)
		return -1;
	return control_new(supervisor->loop, supervisor->folder, on_wake, supervisor,
			   &supervisor->control, NULL);
}

static int release(void **state)
{
	struct supervisor *supervisor = *state;

	control_free(supervisor->control);
	loop_free(supervisor->loop);
	int rc = folder_remove(AT_FDCWD, supervisor->top, NULL);
	free(supervisor->folder);
	free(supervisor);
	return rc;
}

/* Lets the supervisor do what it has to: accept, read, and what was deferred. */
static void let_supervisor_work(struct supervisor *supervisor)
{
	for (int turn = 0; turn < 4; turn++)
		loop_run_ready(supervisor->loop);
}

static int watch(struct supervisor *supervisor)
{
	int fd;

	assert_int_equal(control_watch(supervisor->folder, getpid(), &fd), 0);
	let_supervisor_work(supervisor);
	return fd;
}

static int64_t next_version(int fd)
{
	int64_t version = -1;

	assert_int_equal(control_next_version(fd, INSTANT_NEVER, &version, NULL), 1);
	return version;
}

#define SUPERVISOR_TEST(name) TEST_IN(make, release, struct supervisor *supervisor, name)

SUPERVISOR_TEST(a_supervisor_is_woken_from_afar)
{
	control_wake(supervisor->folder, getpid());
	let_supervisor_work(supervisor);
	assert_int_equal(supervisor->n_woken, 1);
}

SUPERVISOR_TEST(who_watches_hears_the_present_version_and_every_later_one)
{
	control_send_version(supervisor->control, 7);
	int fd = watch(supervisor);
	assert_int_equal(next_version(fd), 7);
	control_send_version(supervisor->control, 8);
	control_send_version(supervisor->control, 9);
	assert_int_equal(next_version(fd), 8);
	assert_int_equal(next_version(fd), 9);
	close(fd);
}

SUPERVISOR_TEST(whoever_stops_the_job_is_heard_among_many_who_wait)
{
	int watching[70], silent[70];
	int64_t version;

	for (size_t i = 0; i < ARRAY_LEN(watching); i++)
		watching[i] = watch(supervisor);
	assert_true(control_next_version(watching[69], INSTANT_NEVER, &version, NULL) < 0);
	/* Connections that never say what they want: the line is not the supervisor's yet. */
	for (size_t i = 0; i < ARRAY_LEN(silent); i++) {
		struct sockaddr_un address = {.sun_family = AF_UNIX};
		int folder = open(supervisor->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);

		snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/socket",
			 folder);
		silent[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		assert_int_equal(connect(silent[i], (struct sockaddr *) &address, sizeof(address)),
				 0);
		close(folder);
		let_supervisor_work(supervisor);
	}
	control_wake(supervisor->folder, getpid());
	let_supervisor_work(supervisor);
	assert_int_equal(supervisor->n_woken, 1);
	assert_int_equal(next_version(watching[0]), 0);
	for (size_t i = 0; i < ARRAY_LEN(watching); i++) {
		close(watching[i]);
		close(silent[i]);
	}
}

SUPERVISOR_TEST(waiting_ends_when_the_time_is_over)
{
	int fd = watch(supervisor);
	int64_t version = -1;

	assert_int_equal(next_version(fd), 0);
	assert_int_equal(control_next_version(fd, loop_monotonic_now(), &version, NULL), 0);
	assert_int_equal(version, -1);
	close(fd);
}

SUPERVISOR_TEST(who_does_not_read_is_dropped_and_others_still_hear)
{
	int lazy = watch(supervisor), eager = watch(supervisor);
	int64_t version = 0;

	assert_int_equal(next_version(eager), 0);
	/* More than any socket keeps for a reader. */
	for (int64_t i = 1; i <= 5000; i++) {
		control_send_version(supervisor->control, i);
		assert_int_equal(next_version(eager), i);
	}
	while (control_next_version(lazy, INSTANT_NEVER, &version, NULL) == 1)
		;
	assert_true(version < 5000);
	close(lazy);
	close(eager);
}

SUPERVISOR_TEST(nobody_there_is_unreachable)
{
	int fd;

	assert_int_equal(control_watch(supervisor->top, getpid(), &fd), ERR_UNREACHABLE);
	assert_int_equal(control_watch("/tmp/muster-test-no-such-folder", getpid(), &fd),
			 ERR_UNREACHABLE);
}

SUPERVISOR_TEST(a_socket_of_another_process_is_not_the_supervisors)
{
	int fd;

	assert_int_equal(control_watch(supervisor->folder, getppid(), &fd), ERR_UNREACHABLE);
}

SUPERVISOR_TEST(without_its_socket_a_supervisor_is_woken_by_a_signal)
{
	control_remove_left(supervisor->folder);
	control_wake(supervisor->folder, getpid());
	let_supervisor_work(supervisor);
	assert_int_equal(supervisor->n_woken, 1);
}

SUPERVISOR_TEST(the_end_of_the_supervisor_is_noticed)
{
	int fd = watch(supervisor);
	int64_t version;

	assert_int_equal(next_version(fd), 0);
	control_free(supervisor->control);
	supervisor->control = NULL;
	assert_int_equal(control_next_version(fd, INSTANT_NEVER, &version, NULL), ERR_UNREACHABLE);
	close(fd);
}

SUPERVISOR_TEST(noise_is_hung_up_on)
{
	static const char *const noises[] = {
		"train faster\n",
		"wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww",
	};

	for (size_t i = 0; i < ARRAY_LEN(noises); i++) {
		int fd = watch(supervisor);
		int64_t version;

		assert_int_equal(next_version(fd), 0);
		assert_true(send(fd, noises[i], strlen(noises[i]), MSG_NOSIGNAL) > 0);
		let_supervisor_work(supervisor);
		assert_int_equal(control_next_version(fd, INSTANT_NEVER, &version, NULL),
				 ERR_UNREACHABLE);
		close(fd);
	}
	assert_int_equal(supervisor->n_woken, 0);
}
