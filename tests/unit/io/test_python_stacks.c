#include "io/python_stacks.h"

#include "unit.h"

#include <sys/wait.h>
#include <unistd.h>

/* As one that has called exec since it was looked at. */
TEST(test_a_process_without_a_handler_survives_the_signal)
{
	struct err err;
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	assert_int_equal(python_stacks_ask(pid, &err), 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WTERMSIG(status), SIGKILL);
	assert_int_equal(python_stacks_ask(pid, &err), ERR_NOT_FOUND);
}
