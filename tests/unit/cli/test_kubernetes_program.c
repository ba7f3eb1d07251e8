/* One program goes on as another. What is "installed" lies in the folder in which the test stands:
 * MUSTER_LIBEXEC is /proc/self/cwd here. */
#include "unit.h"

#include "base/mem.h"
#include "cli/kubernetes_program.h"
#include "command/command.h"
#include "command/output.h"
#include "own_folder.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* What is not tried here: command lines, and how their errors are printed. */
char **options_call(const struct options *options)
{
	(void) options;
	return NULL;
}

int output_fail(const struct err *err)
{
	(void) err;
	return EXIT_FAILED;
}

static char folder[OWN_FOLDER_SIZE];

static int begin(void **state)
{
	(void) state;
	own_folder_make(folder);
	return chdir(folder) || mkdir("bin", 0700) || mkdir("libexec", 0700);
}

static int end(void **state)
{
	(void) state;
	own_folder_remove(folder);
	return 0;
}

static void write_program(const char *path, const char *script, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, mode);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, script, strlen(script)), strlen(script));
	close(fd);
}

static char *find(struct err *err)
{
	char *own CLEANUP(mem_free_text) = mem_format("%s/bin/muster", folder);
	char *libexec CLEANUP(mem_free_text) = mem_format("%s/libexec", folder);
	char *path = NULL;

	if (kubernetes_program_find(own, libexec, &path, err) < 0)
		return NULL;
	return path;
}

TEST_WITH(begin, end, the_program_beside_comes_before_the_installed_one)
{
	write_program("bin/muster-kubernetes", "", 0700);
	write_program("libexec/muster-kubernetes", "", 0700);
	char *path CLEANUP(mem_free_text) = find(NULL);
	char *expected CLEANUP(mem_free_text) = mem_format("%s/bin/muster-kubernetes", folder);

	assert_string_equal(path, expected);
}

TEST_WITH(begin, end, an_installation_can_be_moved)
{
	char *own CLEANUP(mem_free_text) = mem_format("%s/bin/muster", folder);
	char *expected CLEANUP(mem_free_text) =
		mem_format("%s/bin/../libexec/muster-kubernetes", folder);
	char *path CLEANUP(mem_free_text) = NULL;

	write_program("libexec/muster-kubernetes", "", 0700);
	assert_int_equal(kubernetes_program_find(own, "../libexec", &path, NULL), 0);
	assert_string_equal(path, expected);
}

TEST_WITH(begin, end, what_cannot_be_executed_is_no_program)
{
	write_program("bin/muster-kubernetes", "", 0600);
	write_program("libexec/muster-kubernetes", "", 0700);
	char *path CLEANUP(mem_free_text) = find(NULL);
	char *expected CLEANUP(mem_free_text) = mem_format("%s/libexec/muster-kubernetes", folder);

	assert_string_equal(path, expected);
}

TEST_WITH(begin, end, a_missing_program_is_told_with_both_places)
{
	struct err err = {0};

	assert_null(find(&err));
	assert_int_equal(err.code, ERR_NOT_FOUND);
	assert_non_null(strstr(err.text, "/bin/muster-kubernetes"));
	assert_non_null(strstr(err.text, "/libexec/muster-kubernetes"));
}

/* The exit code of a process that hands over with these arguments; 99 when it could not. */
static int code_of_hand_over(char *const *argv)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(kubernetes_program_exec(argv, NULL) < 0 ? 99 : 98);
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

TEST_WITH(begin, end, the_other_program_gets_all_arguments_and_its_code_is_ours)
{
	char *const argv[] = {"muster", "run", "--on", "kubernetes", "two words", NULL};

	write_program(
		"muster-kubernetes",
		"#!/bin/sh\n[ \"$*\" = 'run --on kubernetes two words' ] && exit $#\nexit 1\n",
		0700);
	assert_int_equal(code_of_hand_over(argv), 4);
}

TEST_WITH(begin, end, without_the_other_program_this_one_goes_on)
{
	char *const argv[] = {"muster", NULL};

	assert_int_equal(code_of_hand_over(argv), 99);
}
