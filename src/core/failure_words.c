#include "core/failure_words.h"

#include "base/own.h"
#include "base/text.h"

#include <stddef.h>

struct word {
	const char *reason;
	const char *phrase;
};

static const struct word ends[] = {
	{FAILURE_START_FAILED, "could not be started"},
	{FAILURE_REFUSED, "was refused by the cluster"},
	{"OOMKilled", "ran out of memory and was killed (OOMKilled)"},
	/* Of the whole Pod. */
	{"Evicted", "was evicted by its node"},
	{"Preempting", "was preempted on its node for something more important"},
	{"DeadlineExceeded", "ran longer than its Pod may (activeDeadlineSeconds)"},
	{"NodeLost", "was lost with its node"},
	{"NodeShutdown", "was ended by the shutdown of its node"},
	{"Terminated", "was ended by the shutdown of its node"},
	{"NodeAffinity", "was refused by its node (NodeAffinity)"},
	{"OutOfcpu", "was refused by its node (OutOfcpu)"},
	{"OutOfmemory", "was refused by its node (OutOfmemory)"},
	{"OutOfpods", "was refused by its node (OutOfpods)"},
	{"UnexpectedAdmissionError", "was refused by its node"},
	{FAILURE_SIDECAR_FAILED, "failed with a container beside it"},
	{FAILURE_INIT_FAILED, "did not begin"},
	/* What took it away: the condition DisruptionTarget. */
	{"PreemptionByScheduler", "was preempted by something more important"},
	{"DeletionByTaintManager", "was taken away from its node (tainted, or gone)"},
	{"DeletionByPodGC", "was lost with its node"},
	{"EvictionByEvictionAPI", "was evicted by somebody (as `kubectl drain` does)"},
	{"TerminationByKubelet", "was ended by its node"},
};

static const struct word obstacles[] = {
	{"FailedCreate", "cannot be made yet"},
	{"Forbidden", "may not be made"},
	{"ExceededQuota", "waits until there is room in the quota"},
	{"Unschedulable", "cannot be placed"},
	{"FailedScheduling", "cannot be placed"},
	{"SchedulingGated", "waits for its scheduling gates"},
	{"ErrImagePull", "cannot get its image"},
	{"ImagePullBackOff", "cannot get its image"},
	{"ErrImageNeverPull", "cannot get its image"},
	{"InvalidImageName", "cannot get its image"},
	{"ImageInspectError", "cannot get its image"},
	{"RegistryUnavailable", "cannot get its image"},
	{"SignatureValidationFailed", "cannot get its image"},
	{"CreateContainerConfigError", "cannot be set up"},
	{"CreateContainerError", "cannot be set up"},
	{"RunContainerError", "cannot be set up"},
	{"FailedCreatePodSandBox", "cannot be set up"},
	{"NetworkNotReady", "cannot be set up"},
	{"FailedMount", "waits for its volumes"},
	{"FailedAttachVolume", "waits for its volumes"},
	{"FailedMapVolume", "waits for its volumes"},
	{"CrashLoopBackOff", "waits for a container of its Pod that fails again and again"},
	{FAILURE_SECRET_MISSING, "waits for a Secret that is not there"},
	{FAILURE_PROCESS_STOPPED, "is stopped"},
	{FAILURE_NODE_NOT_READY, "may be lost with its node"},
	{FAILURE_NOT_ENDING, "waits for an attempt that does not end"},
	{FAILURE_STILL_RUNS, "still runs after it was asked to end"},
	{FAILURE_NODE_SILENT, "waits for a node that does not answer"},
};

static const char *find(const struct word *words, size_t n_words, const char *reason)
{
	for (size_t i = 0; reason && i < n_words; i++)
		if (text_equals(words[i].reason, reason))
			return words[i].phrase;
	return NULL;
}

const char *failure_phrase_of_end(const char *reason)
{
	return find(ends, ARRAY_LEN(ends), reason);
}

const char *failure_phrase_of_obstacle(const char *reason)
{
	const char *phrase = find(obstacles, ARRAY_LEN(obstacles), reason);

	return phrase ? phrase : "waits";
}
