/* A control group (cgroups(7), version 2) for a process and all that it starts: none of them leaves
 * it without the right to write into another group of the same tree, whatever becomes of its
 * parent, its session and its environment, and all of them are killed at once (cgroup.kill,
 * Linux 5.14).
 *
 * There can be one where this user may make folders below the group that it is in: as root, and
 * where systemd delegates (user@.service, a scope or service with Delegate=yes). */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "io/process.h"

#include <sys/types.h>

/* Makes an empty one below that of the calling process, named for this process, and gives its
 * folder; the caller frees the text. Where there can be none: ERR_UNSUPPORTED, ERR_REFUSED, with
 * why. */
int own_group_create(char **ret_folder, struct err *err) MUST_USE;

/* fork(2), of which the child begins in that group: nothing is moved, which takes ten milliseconds.
 * The caller has one thread. -1: that cannot be, and there is no child. */
pid_t own_group_fork(const char *folder);
/* The group that the calling process began in by that; NULL. */
const char *own_group_folder(void);

/* Whether both can be had here; leaves nothing. Errors as above. The caller has one thread. */
int own_group_try(struct err *err) MUST_USE;

/* Kills all that is in it but the caller, which moves to the group above first where it is in it,
 * and removes it with the groups below it. A process in an uninterruptible sleep is waited for a
 * second; the group stays then, and so it does where the caller cannot move. */
void own_group_end(const char *folder);

/* Ends what a maker that is gone has left. Nothing is done where `folder` is not what it would have
 * made. */
void own_group_clean_up(const char *folder, const struct process_identity *maker);
