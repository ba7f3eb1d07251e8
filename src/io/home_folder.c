#include "io/home_folder.h"

#include "base/mem.h"

#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

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
