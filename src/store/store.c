/* Shared by all stores: changes in local and remote ones, copying and freeing of records. */
#include "store/store.h"

#include "base/mem.h"

#include <stdlib.h>

void claim_list_done(struct claim_list *claims)
{
	for (size_t i = 0; i < claims->count; i++) {
		free(claims->list[i].owner_uid);
		free(claims->list[i].job_name);
	}
	free(claims->list);
	*claims = (struct claim_list){0};
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
