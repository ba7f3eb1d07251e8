#include "io/own_scope.h"

#include "base/mem.h"
#include "base/text.h"
#include "io/file.h"
#include "io/loop.h"
#include "io/program_call.h"

#include <stdio.h>
#include <unistd.h>

#define TIME_LIMIT (10 * MSEC_PER_SECOND)
#define OUTPUT_LIMIT 4096
#define SPACING_USEC 5000
#define SECOND_USEC 1000000.0

/* Whether the manager of this user, or root's, accepts calls. */
static bool is_systemd_there(void)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char *socket CLEANUP(mem_free_text) =
		geteuid() == 0 ? mem_copy_text("/run/systemd/private")
			       : mem_format("%s/systemd/private", runtime ? runtime : "");

	return access(socket, F_OK) == 0;
}

/* systemd moves the process soon after its answer. */
static bool wait_until_in(const char *unit)
{
	instant until = loop_instant_after(TIME_LIMIT);

	for (;;) {
		char *groups CLEANUP(mem_free_text) = file_read_text("/proc/self/cgroup");

		if (groups && strstr(groups, unit))
			return true;
		if (instant_has_come(until, loop_monotonic_now()))
			return false;
		usleep(SPACING_USEC);
	}
}

/* StartTransientUnit of org.freedesktop.systemd1(5), by systemd's own client: a property is a name,
 * a type and a value. */
static int start_scope(const char *unit, const struct own_scope *scope, struct text *output,
		       struct err *err)
{
	struct text call CLEANUP(text_done) = {0};

	text_addf(&call,
		  "busctl %s call org.freedesktop.systemd1 /org/freedesktop/systemd1 "
		  "org.freedesktop.systemd1.Manager StartTransientUnit 'ssa(sv)a(sa(sv))' %s fail "
		  "%d PIDs au 1 %d Delegate b true CollectMode s inactive-or-failed ",
		  geteuid() == 0 ? "--system" : "--user", unit,
		  3 + 2 * (scope->memory > 0) + (scope->cores > 0), (int) getpid());
	if (scope->memory > 0)
		text_addf(&call, "MemoryMax t %.0f MemorySwapMax t 0 ", scope->memory);
	if (scope->cores > 0)
		text_addf(&call, "CPUQuotaPerSecUSec t %.0f ", scope->cores * SECOND_USEC);
	text_add(&call, "0 2>&1 || :"); /* no further units */
	char *const arguments[] = {"sh", "-c", (char *) text_of(&call), NULL};
	const struct program_question question = {
		.program = "/bin/sh",
		.arguments = arguments,
		.environment = environ,
		.limit = OUTPUT_LIMIT,
		.time_limit = TIME_LIMIT,
	};

	return program_call_wait(&question, output, err);
}

int own_scope_enter(const struct own_scope *scope, struct err *err)
{
	char *unit CLEANUP(mem_free_text) =
		mem_format("muster-%s-%d.scope", scope->name, (int) getpid());
	struct text output CLEANUP(text_done) = {0};

	if (!is_systemd_there())
		return err_set(err, ERR_UNSUPPORTED, "systemd does not run for this user");
	if (start_scope(unit, scope, &output, err) < 0)
		return err->code;
	if (!text_starts_with(text_of(&output), "o \"/")) /* the path of its start */
		return err_set(err, ERR_UNSUPPORTED, "systemd says: %.*s",
			       (int) strcspn(text_of(&output), "\n"), text_of(&output));
	if (!wait_until_in(unit))
		return err_set(err, ERR_UNSUPPORTED, "systemd did not start the scope %s", unit);
	return 0;
}
