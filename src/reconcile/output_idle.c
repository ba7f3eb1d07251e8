#include "reconcile/output_idle.h"

/* Replicas that fall silent at almost the same time are reported together. */
#define TOGETHER MSEC_PER_SECOND

static msec patience_of(const struct output_idle *output_idle)
{
	return output_idle->patience ? output_idle->patience : OUTPUT_IDLE_FIRST;
}

static void note_life(struct output_idle *output_idle, msec at)
{
	if (at <= output_idle->last_life)
		return;
	msec gap = at - output_idle->last_life;

	if (output_idle->is_told && 2 * gap > patience_of(output_idle))
		output_idle->patience = 2 * gap;
	output_idle->is_told = output_idle->is_pending = false;
	output_idle->last_life = at;
}

void output_idle_record_start(struct output_idle *output_idle, msec at)
{
	if (at <= output_idle->start)
		return;
	output_idle->start = at;
	output_idle->has_printed = output_idle->prints_regularly = false;
	note_life(output_idle, at);
}

void output_idle_record_output(struct output_idle *output_idle, msec at)
{
	if (at != MSEC_UNSET && at >= output_idle->start)
		output_idle->has_printed = true;
	if (output_idle->has_printed && at - output_idle->start >= OUTPUT_IDLE_FIRST)
		output_idle->prints_regularly = true;
	note_life(output_idle, at);
}

msec output_idle_report_start(const struct output_idle *list, size_t count, msec now,
			      struct text *text)
{
	size_t n_running = 0, n_wanted = 0;
	msec since = MSEC_NEVER;

	for (size_t i = 0; i < count; i++) {
		if (list[i].has_printed)
			return MSEC_NEVER;
		n_wanted += !list[i].is_stopped;
		if (!list[i].is_running || list[i].start == MSEC_UNSET)
			continue;
		n_running++;
		since = msec_min(since, list[i].start);
	}
	if (n_running == 0)
		return MSEC_NEVER;
	msec age = now > since ? now - since : 0;

	if (age >= MSEC_PER_SECOND) {
		text_addf(text, "%zu of %zu running, nothing printed yet (", n_running, n_wanted);
		text_add_duration(text, age);
		text_add_char(text, ')');
	}
	return now + MSEC_PER_SECOND - age % MSEC_PER_SECOND;
}

/* When a replica will have been silent for too long; MSEC_NEVER if it is not watched. */
static msec due_at(const struct output_idle *output_idle)
{
	return output_idle->is_watched && !output_idle->is_told &&
			       output_idle->last_life != MSEC_UNSET
		       ? output_idle->last_life + patience_of(output_idle)
		       : MSEC_NEVER;
}

/* Whether the job prints, as far as its silent replicas are concerned. */
static bool is_printing(const struct output_idle *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (list[i].is_watched && list[i].has_printed && !list[i].is_told)
			return true;
	return false;
}

/* Whether its silence, which was found, is to be reported. */
static bool is_reportable(const struct output_idle *output_idle, bool prints)
{
	return output_idle->is_watched && output_idle->is_pending &&
	       (!prints || output_idle->prints_regularly);
}

msec output_idle_wake_at(const struct output_idle *list, size_t count)
{
	bool prints = is_printing(list, count);
	msec wake_at = MSEC_NEVER;

	for (size_t i = 0; i < count; i++) {
		wake_at = msec_min(wake_at, due_at(&list[i]));
		/* Those that printed have ended. */
		if (is_reportable(&list[i], prints))
			wake_at = msec_min(wake_at, list[i].last_life + patience_of(&list[i]));
	}
	return wake_at;
}

/* Silent replicas, in order. */
struct silent {
	const struct output_idle *first, *last;
	size_t count;
	msec age; /* all of them have been silent for at least this long */
};

static void add_silent(struct silent *silent, const struct output_idle *output_idle)
{
	msec age = patience_of(output_idle);

	silent->age = silent->count ? msec_min(silent->age, age) : age;
	if (silent->count++ == 0)
		silent->first = output_idle;
	silent->last = output_idle;
}

/* "worker-0 has printed nothing for 30s" */
static void add_silence_sentence(const struct silent *silent, struct text *text)
{
	if (silent->count == 0)
		return;
	text_addf(text, "%s-%d", silent->first->role, silent->first->index);
	if (silent->count == 2)
		text_addf(text, " and %s-%d", silent->last->role, silent->last->index);
	else if (silent->count > 2)
		text_addf(text, " and %zu more", silent->count - 1);
	text_addf(text, " %s printed nothing for ", silent->count > 1 ? "have" : "has");
	text_add_duration(text, silent->age);
}

bool output_idle_report(struct output_idle *list, size_t count, msec now, struct text *text)
{
	struct silent silent = {0};
	bool was_printing = is_printing(list, count);

	for (size_t i = 0; i < count; i++) {
		list[i].is_news = due_at(&list[i]) <= now + TOGETHER;
		if (list[i].is_news || (was_printing && !list[i].prints_regularly))
			list[i].is_pending = list[i].is_news || list[i].is_told;
		list[i].is_told |= list[i].is_news;
	}
	bool prints = is_printing(list, count);

	for (size_t i = 0; i < count; i++) {
		if (!is_reportable(&list[i], prints))
			continue;
		list[i].is_pending = false;
		add_silent(&silent, &list[i]);
	}
	add_silence_sentence(&silent, text);
	return silent.count > 0;
}

void output_idle_add_lasting(const struct output_idle *list, size_t count, struct text *text)
{
	struct silent silent = {0};
	bool prints = is_printing(list, count);

	for (size_t i = 0; i < count; i++)
		if (list[i].is_watched && list[i].is_told && (!prints || list[i].prints_regularly))
			add_silent(&silent, &list[i]);
	add_silence_sentence(&silent, text);
}

void output_idle_add_cause(const struct output_idle *list, size_t count, const struct job *job,
			   struct text *text)
{
	size_t n_silent = 0;

	for (size_t i = 0; i < count; i++) {
		if (list[i].is_watched && !list[i].is_told)
			return;
		n_silent += list[i].is_watched;
	}
	if (n_silent > 0 && job_role_of_kind(job, ROLE_PS) && !job_leader_role(job))
		text_add(text, "; no chief coordinates this job: add --chief if it waits for one");
}

bool output_idle_is_meaningful(const struct job *job, const char *role_name)
{
	const struct role *role = job_role(job, role_name);

	if (!role || role->kind == ROLE_PS)
		return false;
	return role->kind != ROLE_WORKER || !job_leader_role(job) ||
	       !job_role_of_kind(job, ROLE_PS);
}
