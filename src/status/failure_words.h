/* Turns the reason words of back ends into the middle of a sentence that begins with a replica's
 * name.
 *
 * Sources: k8s.io/api/core/v1/types.go (PodReason…), pkg/kubelet/eviction/eviction_manager.go,
 * pkg/kubelet/preemption/preemption.go, pkg/kubelet/lifecycle/predicate.go,
 * pkg/controller/tainteviction, pkg/controller/podgc, pkg/util/node (NodeLost). */
#pragma once

/* Our own reason words. */
#define FAILURE_TOO_LATE "DeadlineExceeded" /* the job exceeded its active deadline */
#define FAILURE_STOPPED "Stopped" /* the job: a user stopped it */
#define FAILURE_START_FAILED "StartFailed" /* the replica could not be started */
#define FAILURE_REFUSED "Refused" /* it can never start: retrying is useless */
#define FAILURE_SIDECAR_FAILED "SidecarFailed" /* another container; it itself succeeded */
#define FAILURE_INIT_FAILED "InitContainerFailed" /* a container that runs before it failed */
#define FAILURE_NODE_NOT_READY "NodeNotReady" /* it is probably still running */
#define FAILURE_NOT_ENDING "NotEnding" /* no node confirmed its end, long after it was due */
#define FAILURE_PROCESS_STOPPED "ProcessStopped" /* by a signal such as SIGSTOP */
#define FAILURE_SECRET_MISSING "SecretMissing" /* with the variables of the command line */
#define FAILURE_PROCESS_OOM_KILLED "ProcessOOMKilled" /* a process that it had started */
#define FAILURE_MACHINE_LOST "MachineLost" /* machines of an elastic job */
#define FAILURE_STILL_RUNS "StillRuns" /* a while after its stop signal */
#define FAILURE_NODE_SILENT                                                                        \
	"NodeSilent" /* the previous attempt has not ended, as far as the cluster knows */

/* How a replica ended: "was evicted". NULL for an unknown word, and for NULL. */
const char *failure_phrase_of_end(const char *reason);

/* What a starting replica waits for, or what threatens a running one: "cannot be scheduled". Words
 * of one problem share a phrase (ErrImagePull and ImagePullBackOff alternate). Never NULL for a
 * word; "is waiting" for an unknown one. */
const char *failure_phrase_of_waiting_reason(const char *reason);
