#include "local/gpus.h"

#include "jobs/record.h"
#include "local/machine_gpus.h"

static bool are_there(const struct local_gpus *gpus)
{
	return gpus->gpus && gpus->gpus->count > 0;
}

/* The store records all shares together. */
static int save_gpu_claims(const struct local_gpus *gpus, const struct gpu_assignment *deal,
			   const char *uid, struct err *err)
{
	gpu_set all = gpu_assignment_all(deal);
	int numbers[GPUS_LIMIT];
	size_t count = 0;

	for (size_t i = 0; i < gpus->gpus->count; i++)
		if (all >> i & 1)
			numbers[count++] = gpus->gpus->list[i].number;
	return gpus->claims->functions->hold(gpus->claims, CLAIM_GPU, uid, numbers, count, err);
}

/* One try; ERR_CONFLICT when another job was faster. */
static int try_to_deal(struct local_gpus *gpus, const struct job *job, bool is_new,
		       struct text *told, struct err *err)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct gpu_assignment deal;

	text_clear(told);
	int rc = machine_gpus_assign(gpus->gpus, job, gpus->claims, is_new ? NULL : &gpus->deal,
				     arena, &deal, told, err);

	if (rc == 0)
		rc = save_gpu_claims(gpus, &deal, job->uid, err);
	if (rc < 0)
		return rc;
	arena_free(gpus->arena);
	gpus->arena = TAKE(arena);
	gpus->deal = deal;
	return 0;
}

int local_gpus_assign(struct local_gpus *gpus, const struct job *job, const char *role, int index,
		      struct text *told, struct err *err)
{
	bool is_new = !gpus->arena || job_resizes_whole(job, job_role(job, role));
	int rc = ERR_CONFLICT;

	if (!are_there(gpus) || gpu_assignment_find(&gpus->deal, role, index))
		return 0;
	while (rc == ERR_CONFLICT)
		rc = try_to_deal(gpus, job, is_new, told, err);
	if (rc != ERR_LIMIT || !job->elastic_id)
		return rc;
	if (!gpus->has_told_shortage)
		text_add(told, err->text);
	gpus->has_told_shortage = true;
	return 0;
}

int local_gpus_release(struct local_gpus *gpus, const char *uid, const char *role, int index,
		       struct err *err)
{
	struct gpu_share *hands = gpus->deal.hands;
	const struct gpu_share *hand = gpu_assignment_find(&gpus->deal, role, index);

	if (!hand)
		return 0;
	hands[hand - hands] = hands[--gpus->deal.count];
	int rc = save_gpu_claims(gpus, &gpus->deal, uid, err);

	if (gpus->deal.count == 0)
		local_gpus_done(gpus);
	return rc;
}

void local_gpus_done(struct local_gpus *gpus)
{
	arena_free(gpus->arena);
	gpus->arena = NULL;
	gpus->deal = (struct gpu_assignment){0};
}

static const struct gpu_share *find_assigned_gpus(const struct local_gpus *gpus, const char *role,
						  int index)
{
	const struct gpu_share *hand = gpu_assignment_find(&gpus->deal, role, index);

	return hand && !hand->is_own ? hand : NULL;
}

/* The first GPU of each replica comes first: LOCAL_RANK is its place. */
static void add_common_ids(const struct local_gpus *gpus, struct text *text)
{
	const struct gpu_assignment *deal = &gpus->deal;
	gpu_set rest = gpu_assignment_all(deal);

	for (size_t i = 0; i < deal->count; i++) {
		gpu_set first = deal->hands[i].set & -deal->hands[i].set & rest;

		if (first)
			text_add(text, text->len ? "," : "");
		if (first)
			gpus_add_ids(gpus->gpus, first, text);
		rest &= ~first;
	}
	if (rest)
		text_add(text, ",");
	if (rest)
		gpus_add_ids(gpus->gpus, rest, text);
}

const char *local_gpus_visible(const struct local_gpus *gpus, const struct job *job,
			       const char *role, int index, struct arena *arena)
{
	const struct gpu_share *hand = find_assigned_gpus(gpus, role, index);
	struct text text CLEANUP(text_done) = {0}, all CLEANUP(text_done) = {0};

	if (!hand)
		return NULL;
	if (job->has_common_gpus && hand->set && !gpus_have_mig(gpus->gpus))
		add_common_ids(gpus, &text);
	else
		gpus_add_ids(gpus->gpus, hand->set, &text);
	gpus_add_ids(gpus->gpus, gpus_all(gpus->gpus), &all);
	return text_equals(text_of(&text), text_of(&all)) ? NULL
							  : arena_copy_text(arena, text_of(&text));
}

char *local_gpus_names(const struct local_gpus *gpus, const char *role, int index)
{
	const struct gpu_share *hand = find_assigned_gpus(gpus, role, index);
	struct text text = {0};

	if (!hand)
		return NULL;
	gpus_add_names(gpus->gpus, hand->set, &text);
	return text_take(&text);
}
