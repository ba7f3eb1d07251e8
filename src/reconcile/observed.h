/* What is true now of a job's replicas, as a back end sees it. Facts only; no wishes. */
#pragma once

#include "base/msec.h"
#include "base/own.h"
#include "rendezvous/rendezvous.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum observed_phase {
	OBSERVED_STARTING, /* made, not running yet */
	OBSERVED_RUNNING,
	OBSERVED_SUCCEEDED, /* ended with code 0; the object is still there until it is removed */
	OBSERVED_FAILED, /* ended in another way, or could not be started (reason "StartFailed") */
	OBSERVED_PHASE_COUNT,
};
extern const char *const observed_phase_words[OBSERVED_PHASE_COUNT];

/* How far one is that starts, where a back end knows. */
enum observed_stage {
	OBSERVED_MADE,
	OBSERVED_SCHEDULED, /* it has a node */
	OBSERVED_SET_UP, /* volumes and network are there */
};

/* How a process ended that its node starts again by itself, in the place where it was. */
struct observed_end {
	int exit_code; /* -1: by a signal */
	int signal; /* 0: none */
	const char *reason; /* "OOMKilled", or NULL */
	msec started_at, ended_at;
};

struct observed_replica {
	const char *role; /* lower case; may be one that the job no longer has */
	int index;
	int attempt;
	enum observed_phase phase;
	enum observed_stage stage;
	bool is_object_running; /* a TFJob's Pod as a whole, by which it counts, whatever the
				   process that trains does */
	int64_t pid;
	int exit_code; /* -1: not ended, or by a signal */
	int signal; /* 0: none */
	const char *reason; /* "OOMKilled", "Evicted", "StartFailed" …; NULL: none */
	const char *message; /* a sentence, or NULL */
	const char
		*container; /* of several of its object, that `reason` is of: it waits; or NULL */
	const char *node; /* where it is, or NULL */
	bool is_node_silent; /* and nobody has heard of that node for a while */
	bool is_reason_from_elsewhere; /* the replica itself does not show `reason` */
	msec started_at;
	msec ended_at;
	msec printed_at; /* last; MSEC_UNSET: not yet, or not known here */
	msec stop_asked_at; /* MSEC_UNSET: nobody asked it to end; on Kubernetes the
			       deletionTimestamp */
	msec kill_at; /* when a stop that was asked becomes a kill; MSEC_UNSET: no stop */
	bool is_killed; /* the kill was sent */
	bool is_held; /* it stays until its folders were fetched */
	bool is_unmade; /* a start that waits, or was refused: there is nothing of it yet */
	int n_ends_in_place; /* so often it has ended like that */
	struct observed_end last_end; /* the last time */
	const char *log; /* path of this attempt's log, or NULL */
	const char *gpus; /* "0,1", "none"; NULL: none are dealt out where it runs */
};

struct observed_address {
	const char *role;
	int index;
	const char *address;
};

/* What the server of an elastic job has ordered (rendezvous/member.h). */
struct observed_world {
	int generation; /* whose processes are to run, as the attempt of this number; 0: none */
	int size; /* machines of that world */
	bool may_save; /* those that are to end: nobody has failed */
	bool is_over; /* the member has left its job, or gave up; nothing of it is left */
	enum rendezvous_verdict verdict; /* of a job that is over; OPEN: this member alone is */
	const char *why; /* of OPEN: what kept it from its server; NULL: it was drained */
	const char *news; /* what has changed, as a sentence; NULL: it was told */
	const struct failure *failure; /* of all machines, the newest of the job; NULL: none */
	bool is_failure_news; /* it is that of another machine, and was not told */
};

/* Habits of a back end that a decision has to know. */
struct backend_traits {
	bool sends_signals; /* a stop is the signal that it names; on Kubernetes the image's */
	bool kills_after_grace; /* it turns a stop into a kill by itself */
	bool names_carry_attempt; /* a new attempt may start while the old object is still there */
	bool ends_finished_jobs; /* a finished job always ends its processes, whatever
				    cleanPodPolicy says */
	bool waits_for_workers; /* a job without chief, master and workers goes on, as a TFJob does:
				   they may come. Else it has succeeded when all replicas have:
				   nothing is left that could run */
	bool gives_whole_grace; /* what ends when the job has, or when another replica has failed,
				   has as much time as when it is asked to end, as Kubeflow has it
				 */
	bool repeats_attempts; /* what another process began and is not there is begun again as the
				  same attempt: there is no log, and no number, for people to see
				  two in one by; and what others delete is begun again without being
				  counted */
};

struct observed {
	struct observed_replica *replicas;
	size_t n_replicas;
	struct observed_address *addresses; /* published ones */
	size_t n_addresses;
	const struct observed_world *world; /* NULL: the job is not elastic */
	/* How far the wall clock was set since the last look: the moments of the replicas were
	 * moved with it, and those of the status are to be. */
	msec clock_step;
	bool holds_starts; /* nothing may be started yet: a scheduler has not let the job in */
	struct backend_traits traits;
	/* The process that looks has done nothing for the job so far: what another wrote that it
	 * starts may never have been made. */
	bool is_first_look;
};

bool observed_is_live(const struct observed_replica *replica); /* starting or running */
/* It was asked to end or killed on purpose, by anybody. */
bool observed_was_asked_to_end(const struct observed_replica *replica);
