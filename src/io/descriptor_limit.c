#include "io/descriptor_limit.h"

#include <errno.h>
#include <inttypes.h>

#define BESIDES_CONNECTIONS 32

int descriptor_limit_raise(size_t n_needed, rlim_t *ret_before, struct err *err)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return err_set_errno(err, errno, "cannot read the limit on open files");
	if (limit.rlim_max < n_needed)
		return err_set(err, ERR_LIMIT,
			       "muster needs up to %zu open files, but the limit is %" PRIuMAX
			       " (ulimit -Hn)",
			       n_needed, (uintmax_t) limit.rlim_max);
	*ret_before = limit.rlim_cur;
	descriptor_limit_set(limit.rlim_max);
	return 0;
}

void descriptor_limit_raise_to_most(void)
{
	rlim_t before;
	int rc = descriptor_limit_raise(0, &before, NULL);

	(void) rc;
}

size_t descriptor_limit_connections(size_t wanted)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= wanted + BESIDES_CONNECTIONS)
		return wanted;
	return limit.rlim_cur > BESIDES_CONNECTIONS ? limit.rlim_cur - BESIDES_CONNECTIONS : 1;
}

void descriptor_limit_set(rlim_t soft)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = soft;
	setrlimit(RLIMIT_NOFILE, &limit);
}
