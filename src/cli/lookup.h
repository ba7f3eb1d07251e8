/* From what a person writes to the jobs behind it: the state folder, the client, a job by its name.
 */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/own.h"
#include "cli/options.h"
#include "engine/client.h"

/* Where jobs are remembered: --state-dir, else the folder of engine/state_folder.h. Caller frees.
 * ERR_NOT_FOUND when there is no home. */
int lookup_state_folder(const struct options *options, char **ret_folder, struct err *err) MUST_USE;

/* The client for the jobs of this machine, which lookup_close gives back. */
int lookup_open(const struct options *options, struct client **ret_client,
		struct err *err) MUST_USE;
void lookup_close(struct client **client);

/* The name in "digits" or "local/digits", borrowed from `argument`. ERR_UNSUPPORTED for another
 * place. */
int lookup_name(const char *argument, const char **ret_name, struct err *err) MUST_USE;

/* Adds to an ERR_NOT_FOUND what the person may have meant: "; did you mean 'digits'?". Gives the
 * code. */
int lookup_hint(struct client *client, const char *name, struct err *err);
