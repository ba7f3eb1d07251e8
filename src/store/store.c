/* Shared by all stores: changes in local and remote ones, copying and freeing of records. */
#include "store/store.h"

#include "base/mem.h"
#include "base/text.h"

void claim_list_done(struct claim_list *claims)
{
	for (size_t i = 0; i < claims->count; i++) {
		free(claims->list[i].owner_uid);
		free(claims->list[i].job_name);
	}
	free(claims->list);
	*claims = (struct claim_list){0};
}

void claim_queue_done(struct claim_queue *queue)
{
	for (size_t i = 0; i < queue->count; i++) {
		free(queue->list[i].owner_uid);
		free(queue->list[i].job_name);
	}
	free(queue->list);
	*queue = (struct claim_queue){0};
}

void store_cleanup(struct store **store)
{
	if (*store)
		(*store)->functions->free(*store);
}

void store_begin_change(struct store *store, const char *name, int64_t version,
			const struct store_change *change, store_done_fn done, void *data)
{
	const struct store_functions *functions = store->functions;
	int64_t new_version = 0;
	struct err err = {0};

	if (functions->begin_change) {
		functions->begin_change(store, name, version, change, done, data);
		return;
	}
	int rc = functions->change(store, name, version, change, &new_version, &err);

	done(new_version, rc < 0 ? &err : NULL, data);
}

void store_begin_remove(struct store *store, const char *name, const char *uid, store_done_fn done,
			void *data)
{
	const struct store_functions *functions = store->functions;
	struct err err = {0};

	if (functions->begin_remove) {
		functions->begin_remove(store, name, uid, done, data);
		return;
	}
	int rc = functions->remove(store, name, uid, &err);

	done(0, rc < 0 ? &err : NULL, data);
}

void store_let_go(struct store *store, const void *data)
{
	if (store->functions->let_go)
		store->functions->let_go(store, data);
}

struct store_record store_record_copy(const struct store_record *record, enum store_parts parts)
{
	return (struct store_record){
		.name = mem_copy_text(record->name),
		.uid = mem_copy_text(record->uid),
		.version = record->version,
		.document = parts & STORE_DOCUMENT ? mem_copy_text(record->document) : NULL,
		.status = parts & STORE_STATUS ? mem_copy_text(record->status) : NULL,
		.summary = parts & STORE_SUMMARY ? mem_copy_text(record->summary) : NULL,
		.supervisor = mem_copy_text(record->supervisor),
		.created = record->created,
	};
}

void store_record_done(struct store_record *record)
{
	if (!record)
		return;
	free(record->name);
	free(record->uid);
	free(record->document);
	free(record->status);
	free(record->summary);
	free(record->supervisor);
	*record = (struct store_record){0};
}

void store_list_done(struct store_list *list)
{
	if (!list)
		return;
	for (size_t i = 0; i < list->count; i++)
		store_record_done(&list->records[i]);
	free(list->records);
	*list = (struct store_list){0};
}

/* Keeps the record as it was last read, and the parts that could not be written.
 *
 * While changes wait, versions are counted from a number that no store reaches. So a caller that
 * knows a record by its version never takes a written record for one that was only in memory. */

#define FIRST_VERSION_AHEAD ((int64_t) 1 << 52)

struct retrying_store {
	struct store base;
	struct store *behind;
	void (*on_trouble)(const char *sentence, void *data);
	void *data;
	struct store_record last; /* as it was last read or created */
	struct store_record waiting; /* parts that could not be written; NULL: none */
	int64_t versions_ahead; /* changes since writing started to fail; 0: all is written */
};

static const struct store_functions retrying_functions;

static bool is_disk_trouble(int rc)
{
	return rc == ERR_SPACE || rc == ERR_IO;
}

static void replace_if_given(char **text, const char *with)
{
	if (!with)
		return;
	free(*text);
	*text = mem_copy_text(with);
}

static void apply_store_change(struct store_record *record, const struct store_change *change)
{
	replace_if_given(&record->document, change->document);
	replace_if_given(&record->status, change->status);
	replace_if_given(&record->summary, change->summary);
	replace_if_given(&record->supervisor, change->supervisor);
}

static struct store_change waiting_change(const struct retrying_store *store)
{
	return (struct store_change){
		.document = store->waiting.document,
		.status = store->waiting.status,
		.summary = store->waiting.summary,
		.supervisor = store->waiting.supervisor,
		.is_lasting = true, /* one of the changes that it combines may have been */
	};
}

/* Writes the waiting changes over the present record. */
static int catch_up(struct retrying_store *store, const struct store_record *record,
		    struct err *err)
{
	const struct store_change change = waiting_change(store);
	int64_t version;
	int rc = store->behind->functions->change(store->behind, record->name, record->version,
						  &change, &version, err);

	if (rc < 0)
		return rc;
	store_record_done(&store->waiting);
	store->versions_ahead = 0;
	store->on_trouble(NULL, store->data);
	return 0;
}

static void store_last_record(struct retrying_store *store, const struct store_record *record,
			      int64_t version)
{
	store_record_done(&store->last);
	store->last = store_record_copy(record, STORE_ALL);
	store->last.version = version;
}

static int retrying_create(struct store *base, const struct store_record *record,
			   int64_t *ret_version, struct err *err)
{
	struct retrying_store *store = (struct retrying_store *) base;
	int rc = store->behind->functions->create(store->behind, record, ret_version, err);

	if (rc == 0)
		store_last_record(store, record, *ret_version);
	return rc;
}

static int retrying_replace(struct store *base, const char *old_name, const char *old_uid,
			    const struct store_record *record, int64_t *ret_version,
			    struct err *err)
{
	struct retrying_store *store = (struct retrying_store *) base;
	int rc = store->behind->functions->replace(store->behind, old_name, old_uid, record,
						   ret_version, err);

	if (rc == 0)
		store_last_record(store, record, *ret_version);
	return rc;
}

/* The last read record, with the waiting changes over it. */
static int get_remembered(struct retrying_store *store, struct store_record *ret_record)
{
	const struct store_change change = waiting_change(store);

	*ret_record = store_record_copy(&store->last, STORE_ALL);
	apply_store_change(ret_record, &change);
	if (store->versions_ahead)
		ret_record->version = FIRST_VERSION_AHEAD + store->versions_ahead;
	return 0;
}

static int retrying_get(struct store *base, const char *name, struct store_record *ret_record,
			struct err *err)
{
	struct retrying_store *store = (struct retrying_store *) base;
	struct store_record record CLEANUP(store_record_done) = {0};
	int rc = store->behind->functions->get(store->behind, name, &record, err);

	if (is_disk_trouble(rc) && text_equals(store->last.name, name))
		return get_remembered(store, ret_record);
	if (rc < 0)
		return rc;
	if (store->versions_ahead && catch_up(store, &record, err) == 0)
		return retrying_get(base, name, ret_record, err);
	store_last_record(store, &record, record.version);
	return get_remembered(store, ret_record);
}

static int retrying_change(struct store *base, const char *name, int64_t version,
			   const struct store_change *change, int64_t *ret_version, struct err *err)
{
	struct retrying_store *store = (struct retrying_store *) base;
	struct err trouble = {0};

	if (store->versions_ahead == 0) {
		int rc = store->behind->functions->change(store->behind, name, version, change,
							  ret_version, &trouble);

		if (!is_disk_trouble(rc) || !text_equals(store->last.name, name)) {
			err_copy(err, &trouble);
			return rc;
		}
	} else if (version != FIRST_VERSION_AHEAD + store->versions_ahead) {
		return err_set(err, ERR_CONFLICT, "job '%s' changed since it was read", name);
	}
	if (store->versions_ahead++ == 0)
		store->on_trouble(trouble.text, store->data);
	apply_store_change(&store->waiting, change);
	*ret_version = FIRST_VERSION_AHEAD + store->versions_ahead;
	return 0;
}

static int retrying_remove(struct store *base, const char *name, const char *uid, struct err *err)
{
	struct store *behind = ((struct retrying_store *) base)->behind;

	return behind->functions->remove(behind, name, uid, err);
}

static int retrying_list(struct store *base, enum store_parts parts, struct store_list *ret_list,
			 struct err *err)
{
	struct store *behind = ((struct retrying_store *) base)->behind;

	return behind->functions->list(behind, parts, ret_list, err);
}

static void retrying_free(struct store *base)
{
	struct retrying_store *store = (struct retrying_store *) base;

	if (!store)
		return;
	store->behind->functions->free(store->behind);
	store_record_done(&store->last);
	store_record_done(&store->waiting);
	free(store);
}

struct store *store_retrying_new(struct store *take_store,
				 void (*on_trouble)(const char *sentence, void *data), void *data)
{
	struct retrying_store *store = mem_new(sizeof(*store));

	*store = (struct retrying_store){
		.base = {.functions = &retrying_functions, .claims = take_store->claims},
		.behind = take_store,
		.on_trouble = on_trouble,
		.data = data,
	};
	return &store->base;
}

bool store_retrying_is_behind(const struct store *base)
{
	return ((const struct retrying_store *) base)->versions_ahead > 0;
}

static const struct store_functions retrying_functions = {
	.create = retrying_create,
	.replace = retrying_replace,
	.get = retrying_get,
	.change = retrying_change,
	.remove = retrying_remove,
	.list = retrying_list,
	.free = retrying_free,
};
