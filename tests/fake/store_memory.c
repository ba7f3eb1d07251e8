#include "fake/store_memory.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

struct memory_claim {
	char *kind;
	char *owner_uid;
	int number;
};

struct memory_store;
struct memory_claims {
	struct claims base;
	struct memory_store *store;
};

struct memory_store {
	struct store base;
	struct memory_claims own_claims;
	struct store_record *records; /* by age */
	size_t n_records;
	size_t records_capacity;
	struct memory_claim *claims;
	size_t n_claims;
	size_t claims_capacity;
	int64_t last_version; /* of all records together, so that none comes twice */
};

static struct memory_store *of(struct store *base)
{
	return (struct memory_store *) base;
}

static struct memory_store *of_claims(struct claims *base)
{
	return ((struct memory_claims *) base)->store;
}

static struct store_record *find(struct memory_store *store, const char *name)
{
	for (size_t i = 0; i < store->n_records; i++)
		if (text_equals(store->records[i].name, name))
			return &store->records[i];
	return NULL;
}

static int memory_create(struct store *base, const struct store_record *record,
			 int64_t *ret_version, struct err *err)
{
	struct memory_store *store = of(base);

	if (find(store, record->name))
		return err_set(err, ERR_EXISTS, "job '%s' already exists", record->name);
	mem_grow(&store->records, &store->records_capacity, store->n_records,
		 sizeof(*store->records));
	struct store_record *kept = &store->records[store->n_records++];

	*kept = store_record_copy(record, STORE_ALL);
	kept->version = ++store->last_version;
	*ret_version = kept->version;
	return 0;
}

static int memory_get(struct store *base, const char *name, struct store_record *ret_record,
		      struct err *err)
{
	const struct store_record *record = find(of(base), name);

	if (!record)
		return err_set(err, ERR_NOT_FOUND, "job '%s' not found", name);
	*ret_record = store_record_copy(record, STORE_ALL);
	return 0;
}

static void replace(char **text, const char *changed)
{
	if (!changed)
		return;
	free(*text);
	*text = mem_copy_text(changed);
}

static void drop_claims(struct memory_store *store, const char *kind, const char *owner_uid)
{
	size_t kept = 0;

	for (size_t i = 0; i < store->n_claims; i++) {
		struct memory_claim *claim = &store->claims[i];

		if (text_equals(claim->owner_uid, owner_uid) &&
		    (!kind || text_equals(claim->kind, kind))) {
			free(claim->kind);
			free(claim->owner_uid);
		} else {
			store->claims[kept++] = *claim;
		}
	}
	store->n_claims = kept;
}

static int memory_change(struct store *base, const char *name, int64_t version,
			 const struct store_change *change, int64_t *ret_version, struct err *err)
{
	struct memory_store *store = of(base);
	struct store_record *record = find(store, name);

	if (!record)
		return err_set(err, ERR_NOT_FOUND, "job '%s' not found", name);
	if (record->version != version)
		return err_set(err, ERR_CONFLICT, "job '%s' changed since it was read", name);
	replace(&record->document, change->document);
	replace(&record->status, change->status);
	replace(&record->summary, change->summary);
	replace(&record->supervisor, change->supervisor);
	if (change->supervisor && !*change->supervisor)
		drop_claims(store, NULL, record->uid);
	record->version = ++store->last_version;
	*ret_version = record->version;
	return 0;
}

static int memory_remove(struct store *base, const char *name, const char *uid, struct err *err)
{
	struct memory_store *store = of(base);
	struct store_record *record = find(store, name);

	if (!record || !text_equals(record->uid, uid))
		return err_set(err, ERR_NOT_FOUND, "job '%s' not found", name);
	drop_claims(store, NULL, uid);
	store_record_done(record);
	size_t index = (size_t) (record - store->records);

	memmove(record, record + 1, (store->n_records - index - 1) * sizeof(*record));
	store->n_records--;
	return 0;
}

static int memory_replace(struct store *base, const char *old_name, const char *old_uid,
			  const struct store_record *record, int64_t *ret_version, struct err *err)
{
	if (!text_equals(old_name, record->name) && find(of(base), record->name))
		return err_set(err, ERR_EXISTS, "job '%s' already exists", record->name);
	int rc = memory_remove(base, old_name, old_uid, err);

	return rc < 0 ? rc : memory_create(base, record, ret_version, err);
}

static int memory_list(struct store *base, enum store_parts parts, struct store_list *ret_list,
		       struct err *err)
{
	struct memory_store *store = of(base);

	(void) err;
	*ret_list = (struct store_list){
		.records = mem_new_array(store->n_records, sizeof(*ret_list->records)),
		.count = store->n_records,
	};
	for (size_t i = 0; i < store->n_records; i++)
		ret_list->records[i] = store_record_copy(&store->records[i], parts);
	return 0;
}

static bool is_claimed(const struct memory_store *store, const char *kind, int number)
{
	for (size_t i = 0; i < store->n_claims; i++)
		if (store->claims[i].number == number && text_equals(store->claims[i].kind, kind))
			return true;
	return false;
}

static void add_claim(struct memory_store *store, const char *kind, const char *owner_uid,
		      int number)
{
	mem_grow(&store->claims, &store->claims_capacity, store->n_claims, sizeof(*store->claims));
	store->claims[store->n_claims++] = (struct memory_claim){
		.kind = mem_copy_text(kind),
		.owner_uid = mem_copy_text(owner_uid),
		.number = number,
	};
}

static int memory_claim(struct claims *base, const struct claim_request *request, int *ret_numbers,
			struct err *err)
{
	struct memory_store *store = of_claims(base);
	int *numbers CLEANUP(mem_free_any) = mem_new_array(request->count, sizeof(*numbers));
	size_t n_found = 0;

	for (int number = request->low; number <= request->high && n_found < request->count;
	     number++)
		if (!is_claimed(store, request->kind, number) &&
		    request->is_free(number, request->data))
			numbers[n_found++] = number;
	if (n_found < request->count)
		return err_set(err, ERR_LIMIT, "no %zu free numbers of kind '%s' in %d..%d",
			       request->count, request->kind, request->low, request->high);
	for (size_t i = 0; i < request->count; i++) {
		add_claim(store, request->kind, request->owner_uid, numbers[i]);
		ret_numbers[i] = numbers[i];
	}
	return 0;
}

static int memory_hold(struct claims *base, const char *kind, const char *owner_uid,
		       const int *numbers, size_t count, struct err *err)
{
	struct memory_store *store = of_claims(base);

	for (size_t i = 0; i < store->n_claims; i++)
		for (size_t k = 0; k < count; k++)
			if (store->claims[i].number == numbers[k] &&
			    text_equals(store->claims[i].kind, kind) &&
			    !text_equals(store->claims[i].owner_uid, owner_uid))
				return err_set(err, ERR_CONFLICT, "%s %d is held by another job",
					       kind, numbers[k]);
	drop_claims(store, kind, owner_uid);
	for (size_t k = 0; k < count; k++)
		add_claim(store, kind, owner_uid, numbers[k]);
	return 0;
}

static const char *name_of(const struct memory_store *store, const char *uid)
{
	for (size_t i = 0; i < store->n_records; i++)
		if (text_equals(store->records[i].uid, uid))
			return store->records[i].name;
	return NULL;
}

static int by_number(const void *a, const void *b)
{
	return ((const struct claim *) a)->number - ((const struct claim *) b)->number;
}

static int memory_list_claims(struct claims *base, const char *kind, struct claim_list *ret_claims,
			      struct err *err)
{
	const struct memory_store *store = of_claims(base);
	struct claim_list claims = {
		.list = mem_new_array(store->n_claims + 1, sizeof(*claims.list)),
	};

	(void) err;
	for (size_t i = 0; i < store->n_claims; i++) {
		const struct memory_claim *claim = &store->claims[i];

		if (text_equals(claim->kind, kind))
			claims.list[claims.count++] = (struct claim){
				.number = claim->number,
				.owner_uid = mem_copy_text(claim->owner_uid),
				.job_name = mem_copy_text(name_of(store, claim->owner_uid)),
			};
	}
	qsort(claims.list, claims.count, sizeof(*claims.list), by_number);
	*ret_claims = claims;
	return 0;
}

static int memory_release(struct claims *base, const char *kind, const char *owner_uid,
			  struct err *err)
{
	(void) err;
	drop_claims(of_claims(base), kind, owner_uid);
	return 0;
}

static void memory_free(struct store *base)
{
	struct memory_store *store = of(base);

	for (size_t i = 0; i < store->n_records; i++)
		store_record_done(&store->records[i]);
	for (size_t i = 0; i < store->n_claims; i++) {
		free(store->claims[i].kind);
		free(store->claims[i].owner_uid);
	}
	free(store->records);
	free(store->claims);
	free(store);
}

static const struct store_functions memory_functions = {
	.create = memory_create,
	.replace = memory_replace,
	.get = memory_get,
	.change = memory_change,
	.remove = memory_remove,
	.list = memory_list,
	.free = memory_free,
};

static const struct claims_functions claims_functions = {
	.claim = memory_claim,
	.hold = memory_hold,
	.list = memory_list_claims,
	.release = memory_release,
};

struct store *store_memory_new(void)
{
	struct memory_store *store = mem_new(sizeof(*store));

	store->base.functions = &memory_functions;
	store->base.claims = &store->own_claims.base;
	store->own_claims = (struct memory_claims){{&claims_functions}, store};
	return &store->base;
}
