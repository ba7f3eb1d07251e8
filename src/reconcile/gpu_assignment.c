#include "reconcile/gpu_assignment.h"

#define HANDS_TOLD 8

/* Requests of a job. */

/* Its own variables choose the GPUs. */
static bool has_own(const struct role *role)
{
	const struct container *container = &role->container;

	for (size_t i = 0; i < container->n_env; i++)
		if (container->env[i].value && text_equals(container->env[i].name, GPUS_VARIABLE))
			return true;
	return false;
}

static bool is_trainer(const struct role *role)
{
	return role->kind == ROLE_CHIEF || role->kind == ROLE_MASTER || role->kind == ROLE_WORKER;
}

static bool shares(const struct role *role)
{
	return role->gpus == JOB_GPUS_SHARED &&
	       (is_trainer(role) || role->kind == ROLE_EVALUATOR) && !has_own(role);
}

/* Number of replicas that share the rest. */
static size_t count_sharers(const struct job *job, bool only_trainers)
{
	size_t count = 0;

	for (size_t i = 0; i < job->n_roles; i++)
		if (shares(&job->roles[i]) && (!only_trainers || is_trainer(&job->roles[i])))
			count += (size_t) job->roles[i].replicas;
	return count;
}

static bool asks_for_all(const struct job *job)
{
	for (size_t i = 0; i < job->n_roles; i++)
		if (job->roles[i].gpus == JOB_GPUS_ALL && job->roles[i].replicas > 0 &&
		    !has_own(&job->roles[i]))
			return true;
	return false;
}

/* Sum of the requested GPUs of replicas that have no share yet. */
static size_t count_asked(const struct job *job, const struct gpu_assignment *last)
{
	size_t count = 0;

	for (size_t i = 0; i < job->n_roles; i++) {
		const struct role *role = &job->roles[i];

		if (role->gpus <= 0 || has_own(role))
			continue;
		for (int index = 0; index < role->replicas; index++)
			if (!gpu_assignment_find(last, role->name, index))
				count += (size_t) role->gpus;
	}
	return count;
}

static const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

static int check_mig(const struct job *job, const struct gpus *gpus, struct err *err)
{
	for (size_t i = 0; i < job->n_roles && gpus_have_mig(gpus); i++)
		if (job->roles[i].gpus > 1)
			return err_set(err, ERR_LIMIT,
				       "each %s requests %d GPUs, but CUDA gives a process at most "
				       "one MIG device: request one (--gpu 1)",
				       job->roles[i].name, job->roles[i].gpus);
	return 0;
}

int gpu_assignment_check(const struct job *job, const struct gpus *gpus, struct err *err)
{
	size_t n_asked = count_asked(job, NULL);
	const char *fault = gpus->fault        ? gpus->fault
			    : gpus->is_limited ? GPUS_VARIABLE " shows none"
					       : "this machine has none";

	if (gpus->count == 0 && asks_for_all(job))
		return err_set(err, ERR_LIMIT,
			       "the job requests all GPUs, but %s; to run without them: --gpu none",
			       fault);
	if (gpus->count == 0 && n_asked)
		return err_set(
			err, ERR_LIMIT,
			"the job requests %zu GPU%s, but %s; to run without them: --gpu none",
			n_asked, plural(n_asked), fault);
	if (n_asked > gpus->count)
		return err_set(err, ERR_LIMIT,
			       "the job requests %zu GPUs, but %zu %s available%s: request fewer "
			       "per replica (--gpu N, --gpu none), or fewer replicas",
			       n_asked, gpus->count, gpus->count == 1 ? "is" : "are",
			       gpus->is_limited ? " by " GPUS_VARIABLE : "");
	return check_mig(job, gpus, err);
}

size_t gpu_assignment_count(const struct job *job, const struct gpus *gpus)
{
	return asks_for_all(job) ? gpus->count : count_asked(job, NULL);
}

/* Assignment. */

/* Equal parts for the sharing replicas; a process can use only one MIG device of several. */
static size_t find_share(const struct job *job, const struct gpus *gpus, size_t n_left)
{
	size_t n_sharers = count_sharers(job, false), n_trainers = count_sharers(job, true);
	size_t share = n_sharers ? n_left / n_sharers : 0;

	if (share == 0 && n_trainers)
		share = n_left / n_trainers;
	return share > 1 && gpus_have_mig(gpus) ? 1 : share;
}

static gpu_set assign_role_gpus(const struct role *role, const struct gpus *gpus, size_t share,
				gpu_set *free)
{
	if (has_own(role))
		return 0;
	if (role->gpus == JOB_GPUS_ALL)
		return gpus_all(gpus);
	if (role->gpus >= 0)
		return gpus_take_lowest(free, (size_t) role->gpus);
	return shares(role) && gpus_count(*free) >= share ? gpus_take_lowest(free, share) : 0;
}

static void deal_to_role(const struct role *role, const struct gpus *gpus, gpu_set *free,
			 const struct gpu_assignment *last, struct arena *arena,
			 struct gpu_assignment *deal)
{
	const char *name = arena_copy_text(arena, role->name);

	for (int index = 0; index < role->replicas; index++) {
		const struct gpu_share *kept = gpu_assignment_find(last, name, index);

		deal->hands[deal->count++] = (struct gpu_share){
			.role = name,
			.index = index,
			.set = kept ? kept->set : assign_role_gpus(role, gpus, deal->share, free),
			.is_own = has_own(role),
		};
	}
}

/* An elastic job runs all the same, as under torchrun: its error is a warning. */
static int refuse_shortage(const struct job *job, const struct gpus *gpus, size_t n_asked,
			   size_t n_free, const char *holders, struct err *err)
{
	if (job->elastic_id)
		return err_set(err, ERR_LIMIT,
			       "the processes see all %zu GPU%s, but %zu %s in use%s%s%s; to "
			       "choose others: CUDA_VISIBLE_DEVICES",
			       gpus->count, plural(gpus->count), gpus->count - n_free,
			       gpus->count - n_free == 1 ? "is" : "are", *holders ? " (" : "",
			       holders, *holders ? ")" : "");
	return err_set(err, ERR_LIMIT,
		       "the job requests %zu GPU%s, but %zu of %zu %s free%s%s%s; wait for "
		       "a job to end (muster wait JOB, or run --wait-for-gpu), or run without them "
		       "(--gpu none)",
		       n_asked, plural(n_asked), n_free, gpus->count, n_free == 1 ? "is" : "are",
		       *holders ? " (" : "", holders, *holders ? ")" : "");
}

int gpu_assignment_create(const struct job *job, const struct gpus *gpus, gpu_set free,
			  const struct gpu_assignment *last, const char *holders,
			  struct arena *arena, struct gpu_assignment *ret_deal, struct err *err)
{
	size_t n_asked = count_asked(job, last), n_free = gpus_count(free);
	size_t n_replicas = (size_t) job_replica_count(job);

	if (asks_for_all(job) && (free | gpu_assignment_all(last)) != gpus_all(gpus))
		return refuse_shortage(job, gpus, gpus->count, n_free, holders, err);
	if (n_asked > n_free)
		return refuse_shortage(job, gpus, n_asked, n_free, holders, err);
	*ret_deal = (struct gpu_assignment){
		.hands = arena_take_array(arena, n_replicas, sizeof(*ret_deal->hands)),
		.share = last ? last->share : find_share(job, gpus, n_free - n_asked),
	};
	for (int is_last = 0; is_last <= 1; is_last++)
		for (size_t i = 0; i < job->n_roles; i++)
			if ((job->roles[i].kind == ROLE_EVALUATOR) == is_last)
				deal_to_role(&job->roles[i], gpus, &free, last, arena, ret_deal);
	return 0;
}

const struct gpu_share *gpu_assignment_find(const struct gpu_assignment *deal, const char *role,
					    int index)
{
	for (size_t i = 0; deal && i < deal->count; i++)
		if (deal->hands[i].index == index && text_equals(deal->hands[i].role, role))
			return &deal->hands[i];
	return NULL;
}

gpu_set gpu_assignment_all(const struct gpu_assignment *deal)
{
	gpu_set all = 0;

	for (size_t i = 0; deal && i < deal->count; i++)
		all |= deal->hands[i].set;
	return all;
}

bool gpu_assignment_is_disjoint(const struct gpu_assignment *deal)
{
	gpu_set seen = 0;

	for (size_t i = 0; i < deal->count; i++) {
		if (deal->hands[i].set & seen)
			return false;
		seen |= deal->hands[i].set;
	}
	return seen != 0;
}

/* Description. */

static void describe_shortage(const struct job *job, const struct gpus *gpus, gpu_set free,
			      const char *holders, struct text *text)
{
	size_t n_free = gpus_count(free), n_trainers = count_sharers(job, true);

	text_addf(text, "%zu of %zu GPU%s %s free", n_free, gpus->count, plural(gpus->count),
		  n_free == 1 ? "is" : "are");
	if (*holders)
		text_addf(text, " (%s)", holders);
	if (n_trainers == 1)
		text_add(text, ": the job runs without GPUs (to wait for one: --wait-for-gpu)");
	else
		text_addf(text,
			  ", fewer than the %zu training replicas: no replica gets a GPU, because "
			  "all must be alike%s",
			  n_trainers,
			  free == gpus_all(gpus)      ? " (--gpu all: they share all)"
			  : n_trainers <= gpus->count ? " (to wait for them: --wait-for-gpu)"
						      : "");
}

/* Replicas that should get some; the others (a ps, `--gpu none`) are not mentioned. */
static void describe_hands(const struct job *job, const struct gpus *gpus,
			   const struct gpu_assignment *deal, struct text *text)
{
	size_t n_told = 0;

	for (size_t i = 0; i < deal->count; i++) {
		const struct gpu_share *hand = &deal->hands[i];

		if (!hand->set && !shares(job_role(job, hand->role)))
			continue;
		if (n_told++ == HANDS_TOLD) {
			text_add(text, " …");
			return;
		}
		text_addf(text, "%s%s-%d ", n_told == 1 ? "GPUs: " : "; ", hand->role, hand->index);
		gpus_add_names(gpus, hand->set, text);
	}
}

void gpu_assignment_describe(const struct job *job, const struct gpus *gpus,
			     const struct gpu_assignment *deal, gpu_set free, const char *holders,
			     struct text *text)
{
	if (deal->share == 0 && count_sharers(job, true))
		describe_shortage(job, gpus, free, holders, text);
	else
		describe_hands(job, gpus, deal, text);
	if (job->has_common_gpus && gpus_count(gpu_assignment_all(deal)) > 1 &&
	    !gpus_have_mig(gpus))
		text_add(text, "; each sees all of these and chooses by LOCAL_RANK "
			       "(--visible-gpus replica: only its own)");
	for (size_t i = 0; i < job->n_roles; i++)
		if (has_own(&job->roles[i]))
			text_addf(text, "%s%s uses the GPUs in the job's own " GPUS_VARIABLE,
				  text->len ? "; " : "", job->roles[i].name);
}
