#include "local/machine_gpus.h"

#include "io/gpu_list.h"
#include "jobs/orphaned_job.h"
#include "jobs/record.h"

void machine_gpus_find(const char *visible, struct arena *arena, struct gpus *ret_gpus)
{
	struct text text CLEANUP(text_done) = {0};
	struct err err = {0};

	*ret_gpus = (struct gpus){0};
	if (text_equals(visible, "") || text_equals(visible, "-1"))
		return;
	if (gpu_list_read(&text, &err) < 0)
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

int machine_gpus_assign(const struct gpus *gpus, const struct job *job, struct claims *claims,
			const struct gpu_assignment *last, struct arena *arena,
			struct gpu_assignment *ret_deal, struct text *told, struct err *err)
{
	struct text holders CLEANUP(text_done) = {0};
	gpu_set held, free;
	int rc = machine_gpus_held(gpus, claims, job->uid, &held, &holders, err);

	if (rc < 0)
		return rc;
	free = gpus_all(gpus) & ~held & ~gpu_assignment_all(last);
	rc = gpu_assignment_create(job, gpus, free, last, text_of(&holders), arena, ret_deal, err);
	if (rc == 0)
		gpu_assignment_describe(job, gpus, ret_deal, free, text_of(&holders), told);
	return rc;
}

/* A job that cannot be cleaned up keeps its GPUs, and is named. A deleted job has none. */
static void clean_up_gpu_holders(struct store *store, const struct claim_list *claims)
{
	for (size_t i = 0; i < claims->count; i++) {
		struct store_record record CLEANUP(store_record_done) = {0};
		const struct claim *claim = &claims->list[i];
		int rc = claim->job_name
				 ? orphaned_job_get(store, claim->job_name, &record, NULL)
				 : store->claims->functions->release(store->claims, CLAIM_GPU,
								     claim->owner_uid, NULL);

		(void) rc;
	}
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
	if (rc < 0)
		return rc;
	clean_up_gpu_holders(store, &claims);
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
