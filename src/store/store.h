/* Stores jobs: documents with versions. A struct of functions.
 *
 * The store does not know what a job is: a record is three texts (JSON) under a name. Several
 * processes use one store at the same time; every change names the version it was made from. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "base/own.h"

struct store_record {
	char *name; /* unique key */
	char *uid; /* unique for ever; distinguishes a job from a later one of the same name */
	int64_t version; /* increases with every change; a later record of the same name starts
			    above the last version of the earlier one */
	char *document; /* the TFJob without its status (JSON) */
	char *status; /* its status (JSON) */
	char *summary; /* the `ps` row (JSON), so that a list reads little */
	char *supervisor; /* the identity of its supervisor (JSON: pid, start time, boot id, pid
			     namespace, …); "" without one */
	msec created;
	bool is_lasting; /* for a record to write: as in struct store_change */
};

struct store_list {
	struct store_record *records;
	size_t count;
};

/* The parts that a list reads; the others are NULL. */
enum store_parts {
	STORE_SUMMARY = 1,
	STORE_DOCUMENT = 2,
	STORE_STATUS = 4,
	STORE_ALL = 7,
};

/* Parts to change; NULL parts stay unchanged. */
struct store_change {
	const char *document;
	const char *status;
	const char *summary;
	/* "": removes its supervisor. Its claims are released in the same step: its next supervisor
	 * may claim again immediately. */
	const char *supervisor;
	/* On disk when the call returns. Any other change survives every process, and the kernel
	 * writes it within half a minute; a power failure before that undoes it. */
	bool is_lasting;
};

/* The result of a change: the new version, or an error (else NULL). */
typedef void (*store_done_fn)(int64_t version, const struct err *err, void *data);

struct store;
struct store_functions {
	/* ERR_EXISTS when the name is taken. *ret_version is the first version. */
	int (*create)(struct store *store, const struct store_record *record, int64_t *ret_version,
		      struct err *err);
	/* Like create, but also removes, in the same step, the record `old_name` with the uid
	 * `old_uid` and its claims; the new one may have another name, and the same uid.
	 * ERR_NOT_FOUND when the old one no longer exists. After an error nothing has changed. */
	int (*replace)(struct store *store, const char *old_name, const char *old_uid,
		       const struct store_record *record, int64_t *ret_version, struct err *err);
	/* ERR_NOT_FOUND. The caller frees the record with store_record_done. */
	int (*get)(struct store *store, const char *name, struct store_record *ret_record,
		   struct err *err);
	/* ERR_CONFLICT when the version is no longer `version`; ERR_NOT_FOUND; ERR_SPACE. */
	int (*change)(struct store *store, const char *name, int64_t version,
		      const struct store_change *change, int64_t *ret_version, struct err *err);
	/* Removes the record with this uid, and its claims. ERR_NOT_FOUND. */
	int (*remove)(struct store *store, const char *name, const char *uid, struct err *err);
	/* The same without waiting: `done` is called once, later, from the loop; not after the
	 * store was freed. `change` and `name` are needed until this returns. NULL: the store is
	 * not remote and never waits (store_begin_change). */
	void (*begin_change)(struct store *store, const char *name, int64_t version,
			     const struct store_change *change, store_done_fn done, void *data);
	void (*begin_remove)(struct store *store, const char *name, const char *uid,
			     store_done_fn done, void *data);
	/* From here on, `done` with this data is not called; calls in progress continue. */
	void (*let_go)(struct store *store, const void *data);
	/* In the order of creation, oldest first. */
	int (*list)(struct store *store, enum store_parts parts, struct store_list *ret_list,
		    struct err *err);
	void (*free)(struct store *store);
};

struct store {
	const struct store_functions *functions;
	struct claims *claims; /* of its jobs, on this machine; NULL: the store is not of one
				  machine */
	/* Statuses are stored without the facts that the replicas themselves show, and such a fact
	 * alone is not written: each write is a call, and a record has little room. */
	bool is_small;
	/* They are statuses of TFJob objects: other clients read the counts of replicas by state in
	 * them, and no summary is stored. */
	bool is_of_tfjobs;
};
void store_cleanup(struct store **store); /* frees it; NULL is fine */

/* Changes in any store, from within a loop: in a local store `done` is called before these return.
 * The version of a removed record is 0. */
void store_begin_change(struct store *store, const char *name, int64_t version,
			const struct store_change *change, store_done_fn done, void *data);
void store_begin_remove(struct store *store, const char *name, const char *uid, store_done_fn done,
			void *data);
void store_let_go(struct store *store, const void *data);

/* A copy with these parts only; the caller frees it with store_record_done. */
struct store_record store_record_copy(const struct store_record *record,
				      enum store_parts parts) MUST_USE;
void store_record_done(struct store_record *record);
void store_list_done(struct store_list *list);

/* SQLite in `folder`/muster.db, created if missing (directory mode 0700). WAL with full sync; a
 * rollback journal if the directory is on a network file system. If it cannot be written, an
 * existing file is read, and changes fail with ERR_IO. ERR_IO names the directory and says what to
 * do (no permission, damaged). */
int store_sqlite_open(const char *folder, struct store **ret_store, struct err *err) MUST_USE;
/* Checks the store in that directory. The error says that it is damaged, of a newer muster, or not
 * writable. Changes nothing; no store is no error. */
int store_sqlite_check(const char *folder, struct err *err) MUST_USE;

/* Numbers that jobs of this machine have claimed: ports, GPUs. They are deleted with the record of
 * their owner (store/store.h). */

struct claim {
	int number;
	char *owner_uid;
	char *job_name; /* NULL: the job was deleted */
};

struct claim_list {
	struct claim *list;
	size_t count;
};
void claim_list_done(struct claim_list *claims);

struct claim_request {
	const char *kind; /* "port"; also used in its errors */
	const char *owner_uid;
	int low, high;
	size_t count;
	bool (*is_free)(int number, void *data); /* for ports: tries to bind */
	void *data;
};

/* An owner that waits for numbers below 64, in a queue for each kind. */
struct claim_waiter {
	char *owner_uid;
	char *job_name; /* NULL: the job was deleted */
	size_t count; /* the numbers that it waits for, all at once, */
	uint64_t usable; /* out of this set: bit n is number n */
	int n_passed; /* how many that came later have claimed theirs before it */
};

struct claim_queue {
	struct claim_waiter *list; /* the first comer first */
	size_t count;
};
void claim_queue_done(struct claim_queue *queue);

struct claims;
struct claims_functions {
	/* Claims `count` unclaimed numbers in low..high that `is_free` accepts, all or none, in one
	 * transaction. ERR_LIMIT when there are not enough. The search may start anywhere in the
	 * range. */
	int (*claim)(struct claims *claims, const struct claim_request *request, int *ret_numbers,
		     struct err *err);
	/* Sets the owner's numbers of this kind: other numbers that it claimed before are released.
	 * It leaves the queue, and has passed all that are before it there. ERR_CONFLICT when
	 * another owner has one of them; then nothing has changed. */
	int (*hold)(struct claims *claims, const char *kind, const char *owner_uid,
		    const int *numbers, size_t count, struct err *err);
	/* All claims of this kind, by number; the caller frees them with claim_list_done. */
	int (*list)(struct claims *claims, const char *kind, struct claim_list *ret_list,
		    struct err *err);
	/* Releases all of the owner's numbers of this kind; of every kind if it is NULL. It leaves
	 * the queue, too. */
	int (*release)(struct claims *claims, const char *kind, const char *owner_uid,
		       struct err *err);
	/* Puts the owner at the end of the queue, or changes what it waits for at its place. */
	int (*enqueue)(struct claims *claims, const char *kind, const char *owner_uid, size_t count,
		       uint64_t usable, struct err *err);
	/* The caller frees the queue with claim_queue_done. */
	int (*list_queue)(struct claims *claims, const char *kind, struct claim_queue *ret_queue,
			  struct err *err);
};

struct claims {
	const struct claims_functions *functions;
};

/* A store in front of another one, for the supervisor of one job: it continues when the disk is
 * full.
 *
 * A training job must not be lost because its status cannot be written. Changes that the other
 * store rejects (no space, I/O error) are kept in memory, and reading returns the record with them.
 * Every later call tries to write them again. Conflicts and missing records are returned as
 * usual. */

/* Takes the store over and frees it with itself. `on_trouble` gets a sentence when writing starts
 * to fail, and NULL when everything is written. */
struct store *store_retrying_new(struct store *take_store,
				 void (*on_trouble)(const char *sentence, void *data),
				 void *data) MUST_USE;

/* Whether changes wait to be written; unwritten changes are lost with the store. */
bool store_retrying_is_behind(const struct store *store);
