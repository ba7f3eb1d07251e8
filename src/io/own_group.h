/* A control group (cgroups(7), version 2) for a process and all its descendants. None of them can
 * leave it without permission to write into another group of the same tree, whatever happens to its
 * parent, its session and its environment. All of them can be killed in one step (cgroup.kill,
 * Linux 5.14).
 *
 * Possible if this user may create directories below the group of this process: as root, and where
 * systemd delegates (user@.service, a scope or service with Delegate=yes). */
#pragma once

#include "base/err.h"
#include "io/process.h"

#include <sys/types.h>

/* Creates an empty group below that of the calling process, named for this process, and returns its
 * directory; the caller frees the text. ERR_UNSUPPORTED or ERR_REFUSED, with the reason, if this is
 * not possible. */
int own_group_create(char **ret_folder, struct err *err) MUST_USE;

/* fork(2) whose child starts in that group; moving a process into it would take ten milliseconds.
 * The caller has one thread. -1: not possible, and there is no child. */
pid_t own_group_fork(const char *folder);
/* The group in which own_group_fork started the calling process; NULL: none. */
const char *own_group_folder(void);

/* Tests whether both functions work on this machine; leaves nothing. Errors as above. The caller
 * has one thread. */
int own_group_try(struct err *err) MUST_USE;

/* Kills all processes in it except the caller, which first moves to the parent group if it is in
 * it; removes it with the groups below it. Waits up to a second for a process in uninterruptible
 * sleep. The group stays if such a process remains, or if the caller cannot move. */
void own_group_end(const char *folder);

/* Kills and removes what an exited `maker` has left. Does nothing if `folder` is not the group that
 * it would have created. */
void own_group_clean_up(const char *folder, const struct process_identity *maker);
