#include "kube/log_seen.h"

#include "base/hash.h"

#include <string.h>

/* base/text reads the whole seconds. The fraction is finer than its milliseconds and is read
 * here. */

#define NSEC_PER_MSEC ((log_stamp) 1000000)
#define NSEC_PER_SECOND ((log_stamp) 1000000000)
#define FRACTION_DIGITS 9
#define LAST_SECOND (INT64_MAX / NSEC_PER_SECOND - 1)

/* The nanoseconds of *ret_len digits; -1: no digits, or too many. */
static log_stamp read_fraction(const char *digits, size_t *ret_len)
{
	log_stamp fraction = 0;
	size_t len = 0;

	for (; digits[len] >= '0' && digits[len] <= '9'; len++) {
		if (len == FRACTION_DIGITS)
			return -1;
		fraction = fraction * 10 + (digits[len] - '0');
	}
	*ret_len = len;
	if (len == 0)
		return -1;
	for (; len < FRACTION_DIGITS; len++)
		fraction *= 10;
	return fraction;
}

log_stamp log_stamp_read(const char *bytes, size_t len)
{
	char text[LOG_STAMP_SIZE + 1] = "";
	log_stamp fraction = 0;
	msec time;

	if (len > LOG_STAMP_SIZE || memchr(bytes, '\0', len))
		return LOG_STAMP_NONE;
	memcpy(text, bytes, len);
	char *dot = strchr(text, '.');

	if (dot) {
		size_t n_digits = 0;

		fraction = read_fraction(dot + 1, &n_digits);
		memmove(dot, dot + 1 + n_digits, strlen(dot + 1 + n_digits) + 1);
	}
	if (fraction < 0 || strchr(text, '.') || text_read_time(text, &time, NULL) < 0)
		return LOG_STAMP_NONE;
	log_stamp second = time / MSEC_PER_SECOND;

	if (time < 0 || second > LAST_SECOND)
		return LOG_STAMP_NONE;
	return second * NSEC_PER_SECOND + fraction;
}

msec log_stamp_time(log_stamp stamp)
{
	return stamp / NSEC_PER_MSEC;
}

void log_stamp_add_second(struct text *text, log_stamp stamp, int seconds)
{
	text_add_time(text, (stamp / NSEC_PER_SECOND - seconds) * MSEC_PER_SECOND);
}

/* The run of that stamp if it is among the newest; else a new run replaces the oldest. */
static unsigned run_of(struct log_seen *seen, log_stamp stamp)
{
	for (unsigned i = 0; i < LOG_SEEN_RUNS; i++)
		if (seen->runs[i].count > 0 && seen->runs[i].stamp == stamp)
			return i;
	seen->newest = (seen->newest + 1) % LOG_SEEN_RUNS;
	seen->runs[seen->newest] = (struct log_run){.stamp = stamp, .hash = HASH_BEGIN};
	return seen->newest;
}

void log_seen_add(struct log_seen *seen, log_stamp stamp, uint64_t hash)
{
	bool is_same = seen->runs[seen->last].count > 0 && seen->runs[seen->last].stamp == stamp;

	if (!is_same)
		seen->last = run_of(seen, stamp);
	struct log_run *run = &seen->runs[seen->last];

	run->hash = hash_add(run->hash, (const char *) &hash, sizeof(hash));
	run->count++;
}

bool log_seen_is_empty(const struct log_seen *seen)
{
	return seen->runs[seen->last].count == 0;
}

bool log_seen_is_same_place(const struct log_seen *a, const struct log_seen *b)
{
	const struct log_run *run_a = &a->runs[a->last], *run_b = &b->runs[b->last];

	return run_a->stamp == run_b->stamp && run_a->count == run_b->count &&
	       run_a->hash == run_b->hash;
}

log_stamp log_seen_earliest(const struct log_seen *seen)
{
	log_stamp earliest = LOG_STAMP_NONE;

	for (unsigned i = 0; i < LOG_SEEN_RUNS; i++) {
		log_stamp stamp = seen->runs[i].stamp;

		if (stamp != LOG_STAMP_NONE && (earliest == LOG_STAMP_NONE || stamp < earliest))
			earliest = stamp;
	}
	return earliest;
}

log_stamp log_seen_latest(const struct log_seen *seen)
{
	log_stamp latest = LOG_STAMP_NONE;

	for (unsigned i = 0; i < LOG_SEEN_RUNS; i++)
		if (seen->runs[i].stamp > latest)
			latest = seen->runs[i].stamp;
	return latest;
}
