#include "rendezvous/restart_budget.h"

#include "base/mem.h"
#include "spec/limits.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const char *const restart_budget_end_words[RESTARTS_END_COUNT] = {
	[RESTARTS_LEFT] = "left",
	[RESTARTS_SPENT] = "spent",
	[RESTARTS_NO_PROGRESS] = "fruitless",
};

void restart_budget_done(struct restart_budget *budget)
{
	free(TAKE(budget->charged_at));
}

void restart_budget_take_snapshot(const struct restart_budget *budget, instant now,
				  struct arena *arena, struct restart_budget_snapshot *snapshot)
{
	*snapshot = (struct restart_budget_snapshot){
		.progress = budget->progress,
		.failed_at = budget->failed_at,
		.n_no_progress = budget->n_no_progress,
		.n_charged = budget->n_charged,
		.end = budget->end,
	};
	if (!budget->charged_at)
		return;
	snapshot->ages = arena_take_array(arena, (size_t) budget->n_charged, sizeof(msec));
	for (int i = 0; i < budget->n_charged; i++)
		snapshot->ages[i] = instant_since(budget->charged_at[i], now);
}

static bool has_times(const struct restart_terms *terms)
{
	return terms->window > 0 && terms->most > 0;
}

static void allocate_charge_times(struct restart_budget *budget)
{
	assert(budget->terms.most <= LIMIT_TIMED_RESTARTS);
	if (!budget->charged_at)
		budget->charged_at = mem_new_array((size_t) budget->terms.most, sizeof(instant));
}

struct restart_budget restart_budget_restore(const struct restart_terms *terms,
					     const struct restart_budget_snapshot *snapshot,
					     instant now)
{
	struct restart_budget budget = {
		.terms = *terms,
		.progress = snapshot->progress,
		.failed_at = snapshot->failed_at,
		.n_no_progress = snapshot->n_no_progress,
		.n_charged = snapshot->n_charged,
		.end = snapshot->end,
	};

	if (!has_times(terms))
		return budget;
	allocate_charge_times(&budget);
	budget.n_charged = snapshot->n_charged < terms->most ? snapshot->n_charged : terms->most;
	for (int i = 0; i < budget.n_charged; i++)
		budget.charged_at[i] = instant_add(now, snapshot->ages ? -snapshot->ages[i] : 0);
	return budget;
}

void restart_budget_progress(struct restart_budget *budget, int64_t progress)
{
	if (progress > budget->progress)
		budget->progress = progress;
}

static void refund_expired_charges(struct restart_budget *budget, instant now)
{
	int n_old = 0;

	if (!budget->charged_at)
		return;
	while (n_old < budget->n_charged &&
	       instant_since(budget->charged_at[n_old], now) >= budget->terms.window)
		n_old++;
	budget->n_charged -= n_old;
	memmove(budget->charged_at, budget->charged_at + n_old,
		(size_t) budget->n_charged * sizeof(instant));
}

static void note_progress(struct restart_budget *budget)
{
	if (budget->progress > budget->failed_at)
		budget->n_charged = budget->n_no_progress = 0;
	else
		budget->n_no_progress++;
	budget->failed_at = budget->progress;
}

static enum restart_budget_end check_budget_end(const struct restart_budget *budget)
{
	const struct restart_terms *terms = &budget->terms;

	if (terms->most >= 0 && budget->n_charged >= terms->most)
		return RESTARTS_SPENT;
	if (terms->max_no_progress && budget->progress &&
	    budget->n_no_progress >= terms->max_no_progress)
		return RESTARTS_NO_PROGRESS;
	return RESTARTS_LEFT;
}

static void record_charge_time(struct restart_budget *budget, instant now)
{
	if (!has_times(&budget->terms))
		return;
	allocate_charge_times(budget);
	budget->charged_at[budget->n_charged] = now;
}

bool restart_budget_charge(struct restart_budget *budget, instant now)
{
	refund_expired_charges(budget, now);
	note_progress(budget);
	budget->end = check_budget_end(budget);
	if (budget->end != RESTARTS_LEFT)
		return false;
	record_charge_time(budget, now);
	budget->n_charged++;
	return true;
}

void restart_budget_give_back(struct restart_budget *budget)
{
	if (budget->end == RESTARTS_LEFT)
		budget->n_charged--;
	if (budget->n_no_progress)
		budget->n_no_progress--;
	budget->end = RESTARTS_LEFT;
}
