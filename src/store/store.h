/* Where jobs are remembered: documents with versions, and a history. A struct of functions.
 *
 * The store does not know what a job is: a record is three texts (JSON) under a name. Several
 * processes use one store at the same time; every change names the version it was made from. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "base/own.h"
#include "store/claims.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store_record {
	char *name; /* unique key */
	char *uid; /* unique for ever; told apart a job from a later one of the same name */
	int64_t version; /* goes up with every change; a later record of the same name begins above
			    the last version of the earlier one */
	char *document; /* the TFJob without its status (JSON) */
	char *status; /* its status (JSON) */
	char *summary; /* what `ps` shows (JSON), so that a list reads little */
	char *supervisor; /* the identity of its supervisor (JSON: pid, start time, boot id, pid
			     namespace, …);
			     "" when nobody */
	msec created;
	bool is_lasting; /* of one that is written: as in struct store_change */
};

struct store_list {
	struct store_record *records;
	size_t count;
};

/* Which parts a list reads; the others are NULL. */
enum store_parts {
	STORE_SUMMARY = 1,
	STORE_DOCUMENT = 2,
	STORE_STATUS = 4,
	STORE_ALL = 7,
};

/* Parts to change; NULL parts stay as they are. */
struct store_change {
	const char *document;
	const char *status;
	const char *summary;
	/* "": nobody looks after it from here on. Its claims are given back in the same step:
	 * the supervisor that takes it over next may make new ones at once. */
	const char *supervisor;
	/* On disk when the call returns. Any other change outlives every process, and the kernel
	 * has written it within half a minute; a failure of power before that undoes it. */
	bool is_lasting;
};

/* How a change ended: with the new version, or with an error (else NULL). */
typedef void (*store_done_fn)(int64_t version, const struct err *err, void *data);

struct store;
struct store_functions {
	/* ERR_EXISTS when the name is taken. *ret_version is the first version. */
	int (*create)(struct store *store, const struct store_record *record, int64_t *ret_version,
		      struct err *err);
	/* Like create, but in one step with the removal of the record `old_name` whose uid is
	 * `old_uid`, and of its claims; the new one may have another name, and the same uid.
	 * ERR_NOT_FOUND when the old one is no longer there. After an error all is as it was. */
	int (*replace)(struct store *store, const char *old_name, const char *old_uid,
		       const struct store_record *record, int64_t *ret_version, struct err *err);
	/* ERR_NOT_FOUND. The caller ends the record with store_record_done. */
	int (*get)(struct store *store, const char *name, struct store_record *ret_record,
		   struct err *err);
	/* ERR_CONFLICT when the version is no longer `version`; ERR_NOT_FOUND; ERR_SPACE. */
	int (*change)(struct store *store, const char *name, int64_t version,
		      const struct store_change *change, int64_t *ret_version, struct err *err);
	/* Removes the record with this uid, and its claims. ERR_NOT_FOUND. */
	int (*remove)(struct store *store, const char *name, const char *uid, struct err *err);
	/* The same for a caller that does not wait: `done` is called once, later, from the loop; a
	 * store that is freed calls none. What change and name point to is needed until this
	 * returns. NULL: nothing is far away, and no change is waited for (store_begin_change). */
	void (*begin_change)(struct store *store, const char *name, int64_t version,
			     const struct store_change *change, store_done_fn done, void *data);
	void (*begin_remove)(struct store *store, const char *name, const char *uid,
			     store_done_fn done, void *data);
	/* No `done` with this data is called from here on; what was started goes on. */
	void (*let_go)(struct store *store, const void *data);
	/* In the order of creation, oldest first. */
	int (*list)(struct store *store, enum store_parts parts, struct store_list *ret_list,
		    struct err *err);
	void (*free)(struct store *store);
};

struct store {
	const struct store_functions *functions;
	struct claims *claims; /* of its jobs, on this machine; NULL: it is not of one */
	/* Statuses are kept here without what the replicas themselves show, and no change is
	 * written for that alone: each is a call, and a record has not much room. */
	bool is_small;
	/* They are those of TFJob objects: others read the counts of replicas by their states
	 * there, and no summary is kept. */
	bool is_of_tfjobs;
};
void store_cleanup(struct store **store); /* frees it; NULL is fine */

/* Changes in any store, from within a loop: `done` is called before these return where nothing is
 * far away. The version of a record that was removed is 0. */
void store_begin_change(struct store *store, const char *name, int64_t version,
			const struct store_change *change, store_done_fn done, void *data);
void store_begin_remove(struct store *store, const char *name, const char *uid, store_done_fn done,
			void *data);
void store_let_go(struct store *store, const void *data);

/* A copy with these parts only; the caller ends it with store_record_done. */
struct store_record store_record_copy(const struct store_record *record,
				      enum store_parts parts) MUST_USE;
void store_record_done(struct store_record *record);
void store_list_done(struct store_list *list);

/* SQLite in `folder`/muster.db, made when absent (folder mode 0700). WAL with full sync; a rollback
 * journal where the folder is on a network file system. Where nothing can be written, what is there
 * is read, and changes end with ERR_IO. ERR_IO names the folder and says what to do (no rights,
 * damaged). */
int store_sqlite_open(const char *folder, struct store **ret_store, struct err *err) MUST_USE;
/* What is wrong with the one in that folder: damaged, of a newer muster, not to be written. Changes
 * nothing, and finds nothing wrong where there is none. */
int store_sqlite_check(const char *folder, struct err *err) MUST_USE;
