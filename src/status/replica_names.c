#include "status/replica_names.h"

#define MOST_RANGES 8

void replica_names_add_range(struct text *text, const char *role, int first, int last)
{
	text_addf(text, "%s-%d", role, first);
	if (last > first)
		text_addf(text, " to %s-%d", role, last);
}

static bool is_next(const struct replica_status *replica, const struct replica_status *next)
{
	return text_equals(next->role, replica->role) && next->index == replica->index + 1;
}

void replica_names_add_ranks(struct text *text, int first, int count, int n_ranks)
{
	text_addf(text, "%d", first);
	if (count > 1)
		text_addf(text, " to %d", first + count - 1);
	text_addf(text, " of %d", n_ranks);
}

void replica_names_add(struct text *text, const struct status *status,
		       bool (*is_named)(const struct replica_status *replica))
{
	size_t n_ranges = 0, n_more = 0;

	for (size_t i = 0; i < status->n_replicas; i++) {
		const struct replica_status *first = &status->replicas[i], *last = first;

		if (!is_named(first))
			continue;
		if (n_ranges == MOST_RANGES) {
			n_more++;
			continue;
		}
		while (i + 1 < status->n_replicas && is_next(last, last + 1) && is_named(last + 1))
			last = &status->replicas[++i];
		if (last == first + 1)
			last = &status->replicas[--i]; /* two replicas are no range */
		text_add(text, n_ranges++ ? ", " : "");
		replica_names_add_range(text, first->role, first->index, last->index);
	}
	if (n_more > 0)
		text_addf(text, " and %zu more", n_more);
}
