#include "io/own_process.h"

#include "base/mem.h"
#include "io/file.h"

#include <limits.h>
#include <malloc.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static bool is_changed(const char *entry, const char *const *changes)
{
	size_t len = strcspn(entry, "=");

	for (; *changes; changes++)
		if (strcspn(*changes, "=") == len && strncmp(*changes, entry, len) == 0)
			return true;
	return false;
}

char **own_environment_with(const char *const *changes)
{
	size_t most = 1, count = 0;

	for (char **entry = environ; *entry; entry++)
		most++;
	for (const char *const *change = changes; *change; change++)
		most++;
	char **list = mem_new_array(most, sizeof(*list));

	for (char **entry = environ; *entry; entry++)
		if (!is_changed(*entry, changes))
			list[count++] = *entry;
	for (; *changes; changes++)
		if (strchr(*changes, '='))
			list[count++] = (char *) *changes;
	return list;
}

const char *search_path_next(const char **rest, size_t *ret_len)
{
	if (!*rest)
		return NULL;
	const char *folder = *rest + strspn(*rest, ":");

	*ret_len = strcspn(folder, ":");
	*rest = folder + *ret_len;
	return *ret_len ? folder : NULL;
}

bool search_path_has_empty(const char *path)
{
	size_t len = strlen(path);

	return len == 0 || path[0] == ':' || path[len - 1] == ':' || strstr(path, "::");
}

char *search_path_find(const char *path, const char *name)
{
	const char *folder;
	size_t len;

	if (strchr(name, '/'))
		return file_is_program(name) ? mem_copy_text(name) : NULL;
	while ((folder = search_path_next(&path, &len))) {
		char *program CLEANUP(mem_free_text) =
			mem_format("%.*s/%s", (int) len, folder, name);

		if (file_is_program(program))
			return TAKE(program);
	}
	return NULL;
}

void own_virtual_env_activate(const char *called)
{
	const char *active = getenv("VIRTUAL_ENV");

	if ((active && *active) || getenv("CONDA_PREFIX"))
		return;
	char *program CLEANUP(mem_free_text) = search_path_find(getenv("PATH"), called);
	char *bin CLEANUP(mem_free_text) = program ? file_folder_of(program) : NULL;
	char *file CLEANUP(mem_free_text) = bin ? mem_format("%s/../pyvenv.cfg", bin) : NULL;
	char *found CLEANUP(mem_free_text) = file ? realpath(file, NULL) : NULL;
	char *folder CLEANUP(mem_free_text) = found ? file_folder_of(found) : NULL;

	if (folder)
		setenv("VIRTUAL_ENV", folder, true);
}

static const char *home(void)
{
	const char *given = getenv("HOME");

	if (given && given[0] == '/')
		return given;
	const struct passwd *user = getpwuid(geteuid());
	return user && user->pw_dir && user->pw_dir[0] == '/' ? user->pw_dir : NULL;
}

char *home_folder(const char *variable, const char *below)
{
	const char *given = getenv(variable);

	if (given && given[0] == '/')
		return mem_format("%s/muster", given);
	return home() ? mem_format("%s/%s/muster", home(), below) : NULL;
}

int time_zone_offset(msec time)
{
	time_t seconds = (time_t) (time / MSEC_PER_SECOND);
	struct tm local;

	tzset(); /* localtime_r need not */
	return localtime_r(&seconds, &local) ? (int) (local.tm_gmtoff / 60) : 0;
}

int time_zone_offset_on(int fd, msec time)
{
	return time != MSEC_UNSET && isatty(fd) ? time_zone_offset(time) : 0;
}

/* The running program. argv[0] is only the name that it was called by. */

#define OWN_LINK "/proc/self/exe"
#define LARGEST ((size_t) 256 * 1024 * 1024)

char *own_program_path(void)
{
	char path[PATH_MAX];
	ssize_t len = readlink(OWN_LINK, path, sizeof(path) - 1);

	if (len > 0) {
		path[len] = '\0';
		if (access(path, X_OK) == 0)
			return mem_copy_text(path);
	}
	return mem_copy_text(OWN_LINK);
}

/* 0 or errno. Whatever the umask is, other users may execute it. */
static int write_program(const char *path, const char *bytes, size_t len)
{
	int fd CLEANUP(file_close) = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);

	if (fd < 0 || fchmod(fd, 0755) < 0)
		return errno;
	return file_write_all(fd, bytes, len, NULL);
}

int own_program_copy(const char *path, struct err *err)
{
	char *temporary CLEANUP(mem_free_text) = mem_format("%s.%d", path, (int) getpid());
	char *bytes CLEANUP(mem_free_text) = NULL;
	size_t len;
	int rc = file_read_whole(OWN_LINK, LARGEST, &bytes, &len, err);

	if (rc < 0)
		return rc;
	unlink(temporary); /* of an earlier process with our number */
	int failure = write_program(temporary, bytes, len);

	if (!failure && rename(temporary, path) == 0)
		return 0;
	failure = failure ? failure : errno;
	unlink(temporary);
	return err_set_errno(err, failure, "cannot copy this program to '%s'", path);
}

void heap_give_back(void)
{
	malloc_trim(0);
}
