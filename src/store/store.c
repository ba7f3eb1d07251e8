/* What all stores share: releasing what they gave out. */
#include "store/store.h"

#include <stdlib.h>

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
