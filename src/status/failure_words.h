/* What the words of back ends mean, as the middle of a sentence that begins with a replica's name.
 *
 * Sources: k8s.io/api/core/v1/types.go (PodReason…), pkg/kubelet/eviction/eviction_manager.go,
 * pkg/kubelet/preemption/preemption.go, pkg/kubelet/lifecycle/predicate.go,
 * pkg/controller/tainteviction, pkg/controller/podgc, pkg/util/node (NodeLost). */
#pragma once

/* Words of our own among those of back ends. */
#define FAILURE_TOO_LATE "DeadlineExceeded" /* the job: it was active for longer than it may */
#define FAILURE_STOPPED "Stopped" /* the job: somebody asked it to end */
#define FAILURE_START_FAILED "StartFailed" /* it could not be started */
#define FAILURE_REFUSED "Refused" /* nobody will ever start it: trying again is no use */
#define FAILURE_SIDECAR_FAILED "SidecarFailed" /* what runs beside it, while it has succeeded */
#define FAILURE_INIT_FAILED "InitContainerFailed" /* what has to end before it begins */
#define FAILURE_NODE_NOT_READY "NodeNotReady" /* it runs, as far as anybody knows */
#define FAILURE_NOT_ENDING "NotEnding" /* nobody confirms that it has, long after it should */
#define FAILURE_PROCESS_STOPPED "ProcessStopped" /* by a signal, SIGSTOP or its like */
#define FAILURE_SECRET_MISSING "SecretMissing" /* that of the variables of the command line */
#define FAILURE_STILL_RUNS "StillRuns" /* a while after the signal that asks it to end */
#define FAILURE_NODE_SILENT                                                                        \
	"NodeSilent" /* the attempt before has not ended, as far as anybody knows */

/* How a replica ended: "was evicted". NULL for a word that is not known, and for NULL. */
const char *failure_phrase_of_end(const char *reason);

/* What a replica waits for that has not started yet, or threatens one that runs: "cannot be
 * scheduled". Words of one trouble share one phrase (ErrImagePull and ImagePullBackOff take turns).
 * Never NULL for a word; "is waiting" for one that is not known. */
const char *failure_phrase_of_waiting_reason(const char *reason);
