#include "local/machine_gpus.h"

#include "jobs/orphaned_job.h"
#include "jobs/record.h"
#include "local/nvml.h"

/* Those that may be assigned, and who holds them. */

void machine_gpus_find(const char *visible, struct arena *arena, struct gpus *ret_gpus)
{
	struct text text CLEANUP(text_done) = {0};
	struct err err = {0};

	*ret_gpus = (struct gpus){.is_limited = visible};
	if (text_equals(visible, "") || text_equals(visible, "-1"))
		return;
	if (nvml_list(&text, &err) < 0)
		ret_gpus->fault = arena_copy_text(arena, err.text);
	else if (text.len)
		gpus_read(text_of(&text), arena, ret_gpus);
	gpus_limit(ret_gpus, visible, arena);
}

static gpu_set position_of(const struct gpus *gpus, int number)
{
	for (size_t i = 0; i < gpus->count; i++)
		if (gpus->list[i].number == number)
			return (gpu_set) 1 << i;
	return 0;
}

/* GPUs of the owner of claim `first`; none if an earlier claim had the same owner. */
static gpu_set held_by_owner(const struct gpus *gpus, const struct claim_list *claims, size_t first)
{
	const char *owner = claims->list[first].owner_uid;
	gpu_set held = 0;

	for (size_t i = 0; i < claims->count; i++) {
		if (!text_equals(claims->list[i].owner_uid, owner))
			continue;
		if (i < first)
			return 0;
		held |= position_of(gpus, claims->list[i].number);
	}
	return held;
}

int machine_gpus_held(const struct gpus *gpus, struct claims *claims, const char *own_uid,
		      gpu_set *ret_held, struct text *holders, struct err *err)
{
	struct claim_list all CLEANUP(claim_list_done) = {0};
	int rc = claims->functions->list(claims, CLAIM_GPU, &all, err);

	if (rc < 0)
		return rc;
	*ret_held = 0;
	for (size_t i = 0; i < all.count; i++) {
		gpu_set held = held_by_owner(gpus, &all, i);

		if (!held || text_equals(all.list[i].owner_uid, own_uid))
			continue;
		*ret_held |= held;
		text_addf(holders, "%sjob '%s' holds ", holders->len ? "; " : "",
			  all.list[i].job_name ? all.list[i].job_name : all.list[i].owner_uid);
		gpus_add_names(gpus, held, holders);
	}
	return 0;
}

/* Those on which the driver sees a process, as another user's. MIG devices are not distinguished.
 */
static gpu_set find_used(const struct gpus *gpus, gpu_set free, struct arena *arena)
{
	struct gpu_loads *loads CLEANUP(mem_free_any) = mem_new(sizeof(*loads));
	gpu_set used = 0;

	if (gpus_have_mig(gpus) || nvml_loads(arena, loads, NULL) < 0)
		return 0;
	for (size_t i = 0; i < loads->count; i++)
		if (loads->list[i].n_processes > 0)
			used |= position_of(gpus, loads->list[i].number);
	return used & free;
}

/* Prefers GPUs that nobody uses, if they are enough for a part each. */
static void avoid_used(const struct gpus *gpus, const struct job *job, gpu_set free,
		       const struct gpu_assignment *last, struct arena *arena,
		       struct gpu_assignment *deal, struct text *told)
{
	bool takes_any = gpu_assignment_all(deal) & free;
	gpu_set used = takes_any ? find_used(gpus, free, arena) : 0;
	struct gpu_assignment other;

	if (!used)
		return;
	text_add(told, "; other processes use ");
	gpus_add_names(gpus, used, told);
	if (gpu_assignment_create(job, gpus, free & ~used, last, "", arena, &other, NULL) == 0 &&
	    (other.share > 0 || deal->share == 0))
		*deal = other;
}

/* gpu_assignment_create with the GPUs that other jobs do not hold. */
static int machine_gpus_assign(const struct gpus *gpus, const struct job *job,
			       struct claims *claims, const struct gpu_assignment *last,
			       struct arena *arena, struct gpu_assignment *ret_deal,
			       struct text *told, struct err *err)
{
	struct text holders CLEANUP(text_done) = {0}, users CLEANUP(text_done) = {0};
	gpu_set held, free;
	int rc = machine_gpus_held(gpus, claims, job->uid, &held, &holders, err);

	if (rc < 0)
		return rc;
	free = gpus_all(gpus) & ~held & ~gpu_assignment_all(last);
	rc = gpu_assignment_create(job, gpus, free, last, text_of(&holders), arena, ret_deal, err);
	if (rc < 0)
		return rc;
	avoid_used(gpus, job, free, last, arena, ret_deal, &users);
	gpu_assignment_describe(job, gpus, ret_deal, free, text_of(&holders), told);
	text_add(told, text_of(&users));
	return 0;
}

static bool has_claims(const struct claim_list *claims, const char *uid)
{
	for (size_t i = 0; i < claims->count; i++)
		if (text_equals(claims->list[i].owner_uid, uid))
			return true;
	return false;
}

int machine_gpus_check(const struct gpus *gpus, const struct job *job, struct store *store,
		       struct text *told, struct err *err)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct claim_list claims CLEANUP(claim_list_done) = {0};
	struct gpu_assignment deal;
	int rc = gpu_assignment_check(job, gpus, err);

	if (rc == 0)
		rc = store->claims->functions->list(store->claims, CLAIM_GPU, &claims, err);
	if (rc < 0 || (job->waits_for_gpus && !has_claims(&claims, job->uid)))
		return rc;
	/* A job that cannot be cleaned up keeps its GPUs, and is named. A deleted job has none. */
	for (size_t i = 0; i < claims.count; i++) {
		struct store_record record CLEANUP(store_record_done) = {0};
		const struct claim *claim = &claims.list[i];

		if (claim->job_name)
			(void) !orphaned_job_get(store, claim->job_name, &record, NULL);
		else
			(void) !store->claims->functions->release(store->claims, CLAIM_GPU,
								  claim->owner_uid, NULL);
	}
	return machine_gpus_assign(gpus, job, store->claims, NULL, arena, &deal, told, err);
}

int machine_gpus_check_free(const struct gpus *gpus, const struct job *job,
			    const char *state_folder, struct text *told, struct err *err)
{
	struct store *store CLEANUP(store_cleanup) = NULL;

	if (gpus->count == 0)
		return 0;
	int rc = store_sqlite_open(state_folder, &store, err);

	return rc < 0 ? rc : machine_gpus_check(gpus, job, store, told, err);
}

/* Those of one job. */

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

	if (!gpus->gpus || gpus->gpus->count == 0 || gpu_assignment_find(&gpus->deal, role, index))
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
