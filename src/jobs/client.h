/* The interface that commands use: list, get, patch, delete, watch jobs of this machine or of a
 * cluster (cluster/client.h).
 *
 * The client of this machine writes changes to the store, and wakes the job's supervisor through
 * its Unix socket; it never polls. It cleans up a job whose supervisor was killed when it reads the
 * job: remaining processes are killed, and the status says what happened. */
#pragma once

#include "base/json.h"
#include "io/loop.h"

struct client;
struct job;
struct store_record;
struct summary;

/* A row of `ps`. */
struct client_row {
	char *name;
	char *uid;
	char *state; /* newest condition: "Running", "Succeeded" …, "Pending" before the first */
	char *roles; /* "worker=2 ps=1" */
	char *where; /* "local", "kubernetes/NAMESPACE": before "/" and the name */
	char *namespace_name; /* on a cluster; NULL on this machine */
	char *command; /* the beginning of what was started; "" if unknown */
	char *message; /* one line: why it failed, or what it waits for; "" */
	char *gpus; /* what its GPUs do; NULL: not asked, or none */
	int64_t version;
	int running; /* running replicas */
	int wanted;
	int restarts;
	int exit_code; /* -1 until finished */
	bool is_finished;
	bool is_unsupervised; /* on a cluster: no supervisor restarts failed replicas */
	bool is_untouched; /* the same, and it never had a supervisor: record_is_untouched */
	msec created;
	msec start_time;
	msec completion_time;
};

struct client_logs; /* logs that are being fetched */

/* The logs to fetch, and their destination. */
struct client_logs_request {
	struct loop *loop; /* run by the caller */
	const char *folder; /* exists, and is empty */
	const char *role; /* NULL: every role; lives as long as the logs */
	int index, attempt; /* -1: every one */
	msec since; /* lines since then; MSEC_UNSET: all */
	int64_t tail; /* the last so many present lines of each replica; -1: all */
	bool follows; /* continues until the job has finished */
	void (*on_known)(void *data); /* logs_known_until may have increased; NULL is fine */
	void (*on_over)(void *data); /* all was fetched; may be called again */
	void (*on_trouble)(const char *sentence, void *data);
	void *data;
};

struct client_functions {
	/* Rows by age, oldest first. The caller frees them with client_rows_free. */
	int (*list)(struct client *client, struct client_row **ret_rows, size_t *ret_count,
		    struct err *err);
	/* The TFJob with its status; the caller frees it. ERR_NOT_FOUND. */
	int (*get)(struct client *client, const char *name, struct json **ret_job, struct err *err);
	/* Applies a JSON merge patch (RFC 7396) to the document; the result is validated
	 * (ERR_INVALID) and the supervisor woken. ERR_REFUSED if the job has no supervisor. */
	int (*patch)(struct client *client, const char *name, const struct json *patch,
		     struct err *err);
	/* Requests a graceful stop (see JOB_ANNOTATION_STOP); 0 also when the job has finished.
	 * ERR_REFUSED if the job has no supervisor. */
	int (*stop)(struct client *client, const char *name, const char *reason, msec grace,
		    struct err *err);
	/* Stops a running job (with its own grace period), and deletes its logs, record and claims,
	 * on a cluster all its objects. Returns when that is done. For this machine's record of a
	 * job on a cluster, only the record and its logs are deleted; ERR_REFUSED while a process
	 * of this machine supervises that job. */
	int (*remove)(struct client *client, const char *name, struct err *err);
	/* Waits until the version is later than `version`, which an earlier call returned (0: any),
	 * and until the moment `until` at most (INSTANT_NEVER: no limit). *ret_is_gone when the job
	 * no longer exists. Returns immediately, with the unchanged version, when the job has no
	 * supervisor: it has finished, and will not change. ERR_UNREACHABLE only for clients of
	 * other machines. */
	int (*wait_for_change)(struct client *client, const char *name, int64_t version,
			       instant until, int64_t *ret_version, bool *ret_is_gone,
			       struct err *err);
	/* Directory of the job's log files. Caller frees. ERR_NOT_FOUND also if the logs are on
	 * another machine. */
	int (*log_folder)(struct client *client, const char *name, char **ret_folder,
			  struct err *err);
	/* Starts to fetch the job's logs into a directory, when log_folder has returned
	 * ERR_NOT_FOUND; NULL if it never does. Call end_logs before freeing the client. */
	int (*fetch_logs)(struct client *client, const char *name,
			  const struct client_logs_request *request, struct client_logs **ret_logs,
			  struct err *err);
	/* Up to then every line is in the directory; MSEC_UNSET: unknown, MSEC_NEVER: all are. */
	msec (*logs_known_until)(const struct client_logs *logs);
	void (*end_logs)(struct client_logs *logs); /* NULL is fine */
	void (*free)(struct client *client);
};

struct client {
	const struct client_functions *functions;
};

/* In the status of a job on a cluster: its active supervisor, or "". Missing when unknown. */
#define CLIENT_SUPERVISED_BY "supervisedBy"
/* In the status of a TFJob object: the operator that manages it, by its own status
 * (CLIENT_OPERATOR_*); "" if none so far. Other jobs do not have it. */
#define CLIENT_SERVED_BY "servedBy"
#define CLIENT_OPERATOR_OURS "muster operator"
#define CLIENT_OPERATOR_OTHER "another operator"
/* In the status of a TFJob that the master of `serve` answers with: operator_waiting_reason. */
#define CLIENT_WAITING "waiting"
/* Whether a job of `get` is a TFJob object, which an operator manages. */
bool client_job_is_served(const struct json *job);
/* The job of a TFJob of `get`. Caller frees. ERR_IO names the first fault. */
int client_read_job(const struct json *tfjob, struct job **ret_job, struct err *err) MUST_USE;
/* Whether a job of `get` is on a cluster without an active supervisor. */
bool client_job_is_unsupervised(const struct json *job);

/* A new row, which owns its texts; `namespace_name` on a cluster, NULL on this machine. */
struct client_row client_row_new(const struct store_record *record, const struct summary *summary,
				 const char *namespace_name) MUST_USE;
void client_row_done(struct client_row *row);
void client_rows_free(struct client_row *rows, size_t count);

/* The jobs of this user on this machine. `state_folder` is $XDG_STATE_HOME/muster. */
int client_local_new(const char *state_folder, struct client **ret_client,
		     struct err *err) MUST_USE;
