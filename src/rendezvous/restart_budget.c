#include "rendezvous/restart_budget.h"

const char *const restart_budget_end_words[RESTARTS_END_COUNT] = {
	[RESTARTS_LEFT] = "left",
	[RESTARTS_SPENT] = "spent",
	[RESTARTS_NO_PROGRESS] = "fruitless",
};

static bool has_times(const struct restart_terms *terms)
{
	return terms->window > 0 && terms->most > 0;
}

struct restart_budget restart_budget_restore(const struct restart_terms *terms,
					     const struct restart_budget *past, instant now)
{
	struct restart_budget budget = *past;

	budget.terms = *terms;
	budget.is_timed = has_times(terms);
	if (budget.is_timed && budget.n_charged > terms->most)
		budget.n_charged = terms->most;
	for (int i = 0; budget.is_timed && i < budget.n_charged; i++)
		budget.charged_at[i] =
			instant_add(budget.charged_at[i], instant_since(INSTANT_UNSET, now));
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

	if (!budget->is_timed)
		return;
	while (n_old < budget->n_charged &&
	       instant_since(budget->charged_at[n_old], now) >= budget->terms.window)
		n_old++;
	budget->n_charged -= n_old;
	memmove(budget->charged_at, budget->charged_at + n_old,
		(size_t) budget->n_charged * sizeof(instant));
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

bool restart_budget_charge(struct restart_budget *budget, instant now)
{
	refund_expired_charges(budget, now);
	if (budget->progress > budget->failed_at)
		budget->n_charged = budget->n_no_progress = 0;
	else
		budget->n_no_progress++;
	budget->failed_at = budget->progress;
	budget->end = check_budget_end(budget);
	if (budget->end != RESTARTS_LEFT)
		return false;
	budget->is_timed = has_times(&budget->terms);
	if (budget->is_timed)
		budget->charged_at[budget->n_charged] = now;
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
