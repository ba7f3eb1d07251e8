#include "status/failure_words.h"

#include "base/text.h"

struct word {
	const char *reason;
	const char *phrase;
};

static const struct word ends[] = {
	{FAILURE_START_FAILED, "could not be started"},
	{FAILURE_REFUSED, "was rejected by the cluster"},
	{"OOMKilled", "ran out of memory and was killed (OOMKilled)"},
	{FAILURE_PROCESS_OOM_KILLED, "failed after the kernel had killed a process for lack of "
				     "memory (" FAILURE_PROCESS_OOM_KILLED ")"},
	/* Of the whole Pod. */
	{"Evicted", "was evicted by its node"},
	{"Preempting", "was preempted on its node by a Pod of higher priority"},
	{"DeadlineExceeded", "exceeded activeDeadlineSeconds of its Pod"},
	{"NodeLost", "was lost with its node"},
	{"NodeShutdown", "was stopped by the shutdown of its node"},
	{"Terminated", "was stopped by the shutdown of its node"},
	{"NodeAffinity", "was rejected by its node (NodeAffinity)"},
	{"OutOfcpu", "was rejected by its node (OutOfcpu)"},
	{"OutOfmemory", "was rejected by its node (OutOfmemory)"},
	{"OutOfpods", "was rejected by its node (OutOfpods)"},
	{"UnexpectedAdmissionError", "was rejected by its node"},
	{FAILURE_SIDECAR_FAILED, "failed together with another container of its Pod"},
	{FAILURE_INIT_FAILED, "did not start"},
	/* The reason of its removal: the condition DisruptionTarget. */
	{"PreemptionByScheduler", "was preempted by a Pod of higher priority"},
	{"DeletionByTaintManager", "was evicted from its node (tainted, or gone)"},
	{"DeletionByPodGC", "was lost with its node"},
	{"EvictionByEvictionAPI", "was evicted through the API (for example by `kubectl drain`)"},
	{"TerminationByKubelet", "was terminated by its node"},
};

static const struct word obstacles[] = {
	{"FailedCreate", "cannot be created yet"},
	{"Forbidden", "may not be created"},
	{"ExceededQuota", "is waiting for room in the quota"},
	{"Unschedulable", "cannot be scheduled"},
	{"FailedScheduling", "cannot be scheduled"},
	{"SchedulingGated", "is waiting for its scheduling gates"},
	{"ErrImagePull", "cannot pull its image"},
	{"ImagePullBackOff", "cannot pull its image"},
	{"ErrImageNeverPull", "cannot pull its image"},
	{"InvalidImageName", "cannot pull its image"},
	{"ImageInspectError", "cannot pull its image"},
	{"RegistryUnavailable", "cannot pull its image"},
	{"SignatureValidationFailed", "cannot pull its image"},
	{"CreateContainerConfigError", "cannot be set up"},
	{"CreateContainerError", "cannot be set up"},
	{"RunContainerError", "cannot be set up"},
	{"FailedCreatePodSandBox", "cannot be set up"},
	{"NetworkNotReady", "cannot be set up"},
	{"FailedMount", "is waiting for its volumes"},
	{"FailedAttachVolume", "is waiting for its volumes"},
	{"FailedMapVolume", "is waiting for its volumes"},
	{"CrashLoopBackOff", "is waiting for another container of its Pod, which keeps failing"},
	{FAILURE_SECRET_MISSING, "is waiting for a Secret that does not exist"},
	{FAILURE_PROCESS_STOPPED, "is stopped"},
	{FAILURE_NODE_NOT_READY, "may be lost with its node"},
	{FAILURE_NOT_ENDING, "is waiting for its previous attempt to stop"},
	{FAILURE_STILL_RUNS, "is still running after the stop signal"},
	{FAILURE_NODE_SILENT, "is waiting for a node that does not respond"},
};

static const char *find_reason_phrase(const struct word *words, size_t n_words, const char *reason)
{
	for (size_t i = 0; reason && i < n_words; i++)
		if (text_equals(words[i].reason, reason))
			return words[i].phrase;
	return NULL;
}

const char *failure_phrase_of_end(const char *reason)
{
	return find_reason_phrase(ends, ARRAY_LEN(ends), reason);
}

const char *failure_phrase_of_waiting_reason(const char *reason)
{
	const char *phrase = find_reason_phrase(obstacles, ARRAY_LEN(obstacles), reason);

	return phrase ? phrase : "is waiting";
}
