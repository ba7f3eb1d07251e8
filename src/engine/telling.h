/* What is told of one job while it is seen through: to the terminal and into the job's own log; and
 * its status as it was written last, which is there when the record is gone. */
#pragma once

#include "base/json.h"
#include "base/mem.h"
#include "base/msec.h"
#include "base/own.h"
#include "core/status.h"
#include "engine/console.h"
#include "engine/driver.h"
#include "engine/job_log.h"

#include <stdint.h>

/* Zero it to begin, but for the exit code of a job of which nothing was written. */
struct telling {
	struct console *console; /* NULL without a terminal to write to */
	struct job_log *log;
	char *last_trouble; /* told already */
	struct arena *arena; /* of `status` */
	struct status status; /* as it was last written */
	struct json *document; /* and the job it belongs to; NULL: none was written */
};

void telling_done(struct telling *telling);

/* A sentence of muster's own. */
void telling_say(struct telling *telling, const char *sentence);
/* Somebody pressed Ctrl-C, and its `parts` ("Pods") have the job's grace time. */
void telling_say_stopping(struct telling *telling, const struct job *job, const char *parts);
/* What fails is tried again and again; it is said once, not every second. NULL: nothing fails. */
void telling_say_trouble(struct telling *telling, const char *sentence);
/* How far the start of its Pods has come. */
void telling_show_startup(const struct telling *telling, const struct startup *startup);
/* There is more in the logs. */
void telling_show_output(const struct telling *telling);
/* Hears what the driver tells. */
struct driver_listener telling_listener(struct telling *telling);

/* The TFJob with its status on stdout, where anything is known. Where that cannot be written it is
 * told, and a job that succeeded has the exit code 125 from then on. */
void telling_print(struct telling *telling, const char *uid, msec created, int64_t version);
