/* What all stores share: copying and releasing what they give out. */
#include "store/store.h"

#include "base/mem.h"

#include <stdlib.h>

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

void store_claims_done(struct store_claims *claims)
{
	for (size_t i = 0; i < claims->count; i++) {
		free(claims->list[i].owner_uid);
		free(claims->list[i].job_name);
	}
	free(claims->list);
	*claims = (struct store_claims){0};
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
