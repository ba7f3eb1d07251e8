#include "store/claims.h"

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
