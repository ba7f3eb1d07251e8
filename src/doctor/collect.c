/* Facts about this machine, part by part; this file has the small ones. */
#include "doctor/collect.h"

#include "doctor/facts.h"

#include <sys/statvfs.h>
#include <sys/timex.h>
#include <unistd.h>

#define SHARED_MEMORY "/dev/shm"

static int64_t size_of_shared_memory(void)
{
	struct statvfs space;

	if (access(SHARED_MEMORY, W_OK) < 0 || statvfs(SHARED_MEMORY, &space) < 0)
		return DOCTOR_UNKNOWN;
	return (int64_t) space.f_blocks * (int64_t) space.f_frsize;
}

/* Reads, and changes nothing: `modes` is 0. */
static void collect_clock(struct doctor_facts *facts)
{
	struct timex clock = {.modes = 0};

	facts->is_clock_known = adjtimex(&clock) >= 0;
	facts->is_clock_synchronized = facts->is_clock_known && !(clock.status & STA_UNSYNC);
}

void doctor_collect(const char *state_folder, struct arena *arena, struct doctor_facts *ret_facts)
{
	*ret_facts = (struct doctor_facts){
		.shared_memory = size_of_shared_memory(),
		.is_superuser = geteuid() == 0,
	};
	doctor_collect_software(ret_facts, arena);
	doctor_collect_network(&ret_facts->network, arena);
	doctor_collect_limits(&ret_facts->limits, arena);
	doctor_collect_state_folder(&ret_facts->state_folder, state_folder, arena);
	doctor_collect_gpu(&ret_facts->gpu, state_folder, arena);
	doctor_collect_kubernetes(&ret_facts->kubernetes, arena);
	collect_clock(ret_facts);
}
