#include "reconcile/silence.h"

#include <assert.h>

/* Replicas that fall silent nearly together are told of together. */
#define TOGETHER MSEC_PER_SECOND

static msec patience_of(const struct silence *silence)
{
	return silence->patience ? silence->patience : SILENCE_FIRST;
}

static void note_life(struct silence *silence, msec at)
{
	if (at <= silence->last_life)
		return;
	msec gap = at - silence->last_life;

	if (silence->is_told && 2 * gap > patience_of(silence))
		silence->patience = 2 * gap;
	silence->is_told = false;
	silence->last_life = at;
}

void silence_note_start(struct silence *silence, msec at)
{
	if (at <= silence->start)
		return;
	silence->start = at;
	silence->has_printed = false;
	note_life(silence, at);
}

void silence_note_output(struct silence *silence, msec at)
{
	if (at != MSEC_UNSET && at >= silence->start)
		silence->has_printed = true;
	note_life(silence, at);
}

msec silence_tell_start(const struct silence *list, size_t count, msec now, struct text *text)
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

/* When a replica will have been silent for too long; MSEC_NEVER where that is not asked. */
static msec due_at(const struct silence *silence)
{
	return silence->is_watched && !silence->is_told && silence->last_life != MSEC_UNSET
		       ? silence->last_life + patience_of(silence)
		       : MSEC_NEVER;
}

msec silence_wake_at(const struct silence *list, size_t count)
{
	msec wake_at = MSEC_NEVER;

	for (size_t i = 0; i < count; i++)
		wake_at = msec_min(wake_at, due_at(&list[i]));
	return wake_at;
}

/* Silent ones, in order. */
struct silent {
	const struct silence *first, *last;
	size_t count;
};

static void add_silent(struct silent *silent, const struct silence *silence)
{
	if (silent->count++ == 0)
		silent->first = silence;
	silent->last = silence;
}

/* "worker-0 has printed nothing for 30s" */
static void add_sentence(const struct silent *silent, msec age, struct text *text)
{
	text_addf(text, "%s-%d", silent->first->role, silent->first->index);
	if (silent->count == 2)
		text_addf(text, " and %s-%d", silent->last->role, silent->last->index);
	else if (silent->count > 2)
		text_addf(text, " and %zu more", silent->count - 1);
	text_addf(text, " %s printed nothing for ", silent->count > 1 ? "have" : "has");
	text_add_duration(text, age);
}

bool silence_tell(struct silence *list, size_t count, msec now, struct text *text)
{
	struct silent silent = {0};

	if (silence_wake_at(list, count) > now)
		return false;
	for (size_t i = 0; i < count; i++) {
		list[i].is_news = due_at(&list[i]) <= now + TOGETHER;
		if (!list[i].is_news)
			continue;
		list[i].is_told = true;
		add_silent(&silent, &list[i]);
	}
	assert(silent.first); /* the one that silence_wake_at found due */
	add_sentence(&silent, patience_of(silent.first), text);
	return true;
}

void silence_add_lasting(const struct silence *list, size_t count, struct text *text)
{
	struct silent silent = {0};
	msec age = MSEC_NEVER; /* all of them have been silent for so long */

	for (size_t i = 0; i < count; i++) {
		if (!list[i].is_watched || !list[i].is_told)
			continue;
		age = msec_min(age, patience_of(&list[i]));
		add_silent(&silent, &list[i]);
	}
	if (silent.count > 0)
		add_sentence(&silent, age, text);
}

void silence_add_cause(const struct silence *list, size_t count, const struct job *job,
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

bool silence_is_telling(const struct job *job, const char *role_name)
{
	const struct role *role = job_role(job, role_name);

	if (!role || role->kind == ROLE_PS)
		return false;
	return role->kind != ROLE_WORKER || !job_leader_role(job) ||
	       !job_role_of_kind(job, ROLE_PS);
}
