/* What commands speak to: list, get, patch, delete, watch; of this machine or of a cluster
 * (cluster/client.h).
 *
 * Here a change is written to the store, and the job's supervisor is woken through its Unix socket;
 * nobody polls. A job whose supervisor died without a word is settled when it is read: its
 * leftovers are ended, its status says what happened. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/msec.h"
#include "base/own.h"
#include "io/loop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct client;
struct job;
struct store_record;
struct summary;

/* What `ps` shows of a job. */
struct client_row {
	char *name;
	char *uid;
	char *state; /* newest condition: "Running", "Succeeded" …, "Pending" before the first */
	char *roles; /* "worker=2 ps=1" */
	char *where; /* "local", "kubernetes/NAMESPACE": with a slash and the name, what names it */
	char *namespace_name; /* on a cluster; NULL here */
	char *message; /* one line: why it failed, what it waits for; "" */
	int64_t version;
	int running; /* replicas that run */
	int wanted;
	int restarts;
	int exit_code; /* -1 until finished */
	bool is_finished;
	bool is_unsupervised; /* on a cluster: nobody restarts what fails */
	bool is_untouched; /* the same, and nobody ever has: record_is_untouched */
	msec created;
	msec start_time;
	msec completion_time;
};

struct client_logs; /* logs that are on their way here */

/* Which logs are fetched, and where. */
struct client_logs_request {
	struct loop *loop; /* run by the caller */
	const char *folder; /* is there, and empty */
	const char *role; /* NULL: every role; lives as long as the logs */
	int index, attempt; /* -1: every one */
	msec since; /* lines of then or later; MSEC_UNSET: all */
	int64_t tail; /* of what is there now the last so many lines of each replica; -1: all */
	bool follows; /* on until the job has ended */
	void (*on_known)(void *data); /* logs_known_until may be later now; NULL is fine */
	void (*on_over)(void *data); /* all of it is there; may be called again */
	void (*on_trouble)(const char *sentence, void *data);
	void *data;
};

struct client_functions {
	/* Rows by age, oldest first. The caller frees them with client_rows_free. */
	int (*list)(struct client *client, struct client_row **ret_rows, size_t *ret_count,
		    struct err *err);
	/* The TFJob with its status; the caller frees it. ERR_NOT_FOUND. */
	int (*get)(struct client *client, const char *name, struct json **ret_job, struct err *err);
	/* JSON merge patch (RFC 7396) of the document; the result is validated (ERR_INVALID) and
	 * the supervisor woken. ERR_REFUSED where nobody would do it. */
	int (*patch)(struct client *client, const char *name, const struct json *patch,
		     struct err *err);
	/* Asks for an orderly end (see JOB_ANNOTATION_STOP); 0 also when it has ended already.
	 * ERR_REFUSED where nobody would do it. */
	int (*stop)(struct client *client, const char *name, const char *reason, msec grace,
		    struct err *err);
	/* Ends it when it runs (with its own grace), and removes logs, record and claims, on a
	 * cluster all its objects. Returns when that is done. What this machine remembers of a job
	 * on a cluster is forgotten alone; ERR_REFUSED while a process here watches that job. */
	int (*remove)(struct client *client, const char *name, struct err *err);
	/* Waits for the next change after `version`, which an earlier call gave (0: any), and at
	 * most until the moment `until` (MSEC_NEVER: no end). *ret_is_gone when the job no longer
	 * exists. Returns at once, with the version as it was, when nobody looks after the job any
	 * more: it has ended, and nothing will change it. ERR_UNREACHABLE only for clients of other
	 * machines. */
	int (*wait_for_change)(struct client *client, const char *name, int64_t version, msec until,
			       int64_t *ret_version, bool *ret_is_gone, struct err *err);
	/* Folder of the job's log files. Caller frees. ERR_NOT_FOUND too where another machine has
	 * them. */
	int (*log_folder)(struct client *client, const char *name, char **ret_folder,
			  struct err *err);
	/* Begins to fetch the job's logs into a folder, where log_folder says ERR_NOT_FOUND; NULL
	 * where it never does. Give them back before the client. */
	int (*fetch_logs)(struct client *client, const char *name,
			  const struct client_logs_request *request, struct client_logs **ret_logs,
			  struct err *err);
	/* Up to this time every line is in the folder; MSEC_UNSET: none for sure, MSEC_NEVER: all
	 * are. */
	msec (*logs_known_until)(const struct client_logs *logs);
	void (*end_logs)(struct client_logs *logs); /* NULL is fine */
	void (*free)(struct client *client);
};

struct client {
	const struct client_functions *functions;
};

/* In the status of a job on a cluster: its supervisor, "" without an active one. Not there where
 * that is not known. */
#define CLIENT_SUPERVISED_BY "supervisedBy"
/* In the status of a TFJob object: what serves it, as its own status shows (CLIENT_OPERATOR_*), ""
 * where nothing has so far. Of any other job it is not there. */
#define CLIENT_SERVED_BY "servedBy"
#define CLIENT_OPERATOR_OURS "muster operator"
#define CLIENT_OPERATOR_OTHER "another operator"
/* A job as get gave it is a TFJob object, which an operator serves. */
bool client_job_is_served(const struct json *job);
/* The job of a TFJob, as get gave it. Caller frees. ERR_IO names the first fault. */
int client_read_job(const struct json *tfjob, struct job **ret_job, struct err *err) MUST_USE;
/* A job on a cluster, as get gave it, without an active supervisor. */
bool client_job_is_unsupervised(const struct json *job);

/* The row of a job, whose texts are the row's; `namespace_name` on a cluster, NULL here. */
struct client_row client_row_new(const struct store_record *record, const struct summary *summary,
				 const char *namespace_name) MUST_USE;
void client_row_done(struct client_row *row);
void client_rows_free(struct client_row *rows, size_t count);

/* The jobs of this user on this machine. `state_folder` is $XDG_STATE_HOME/muster. */
int client_local_new(const char *state_folder, struct client **ret_client,
		     struct err *err) MUST_USE;
