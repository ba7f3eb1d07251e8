/* Numbers that jobs of this machine have claimed: ports, GPUs. They are deleted with the record of
 * their owner (store/store.h). */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>

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

struct claims;
struct claims_functions {
	/* Claims `count` unclaimed numbers in low..high that `is_free` accepts, all or none, in one
	 * transaction. ERR_LIMIT when there are not enough. The search may start anywhere in the
	 * range. */
	int (*claim)(struct claims *claims, const struct claim_request *request, int *ret_numbers,
		     struct err *err);
	/* Sets the owner's numbers of this kind: other numbers that it claimed before are released.
	 * ERR_CONFLICT when another owner has one of them; then nothing has changed. */
	int (*hold)(struct claims *claims, const char *kind, const char *owner_uid,
		    const int *numbers, size_t count, struct err *err);
	/* All claims of this kind, by number; the caller frees them with claim_list_done. */
	int (*list)(struct claims *claims, const char *kind, struct claim_list *ret_list,
		    struct err *err);
	/* Releases all of the owner's numbers of this kind; of every kind if it is NULL. */
	int (*release)(struct claims *claims, const char *kind, const char *owner_uid,
		       struct err *err);
};

struct claims {
	const struct claims_functions *functions;
};
