/* Numbers that jobs of this machine have claimed: ports, GPUs. They go with the record of their
 * owner (store/store.h). */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>

struct claim {
	int number;
	char *owner_uid;
	char *job_name; /* NULL: the job is gone */
};

struct claim_list {
	struct claim *list;
	size_t count;
};
void claim_list_done(struct claim_list *claims);

struct claim_request {
	const char *kind; /* "port"; a word for its errors, too */
	const char *owner_uid;
	int low, high;
	size_t count;
	bool (*is_free)(int number, void *data); /* tries to bind */
	void *data;
};

struct claims;
struct claims_functions {
	/* Claims `count` numbers in low..high that nobody has claimed and `is_free` accepts, all or
	 * none, in one transaction. ERR_LIMIT when there are not enough. The search may begin
	 * anywhere in the range. */
	int (*claim)(struct claims *claims, const struct claim_request *request, int *ret_numbers,
		     struct err *err);
	/* From now on the owner's numbers of this kind are these, and no others: what it claimed
	 * before and is not among them is given back. ERR_CONFLICT when another owner has one of
	 * them; nothing has changed then. */
	int (*hold)(struct claims *claims, const char *kind, const char *owner_uid,
		    const int *numbers, size_t count, struct err *err);
	/* All claims of this kind, by number; the caller ends them with claim_list_done. */
	int (*list)(struct claims *claims, const char *kind, struct claim_list *ret_list,
		    struct err *err);
	/* Gives all of the owner's numbers of this kind back; of every kind where it is NULL. */
	int (*release)(struct claims *claims, const char *kind, const char *owner_uid,
		       struct err *err);
};

struct claims {
	const struct claims_functions *functions;
};
