#include "kube/log_seen.h"

#define FNV_PRIME UINT64_C(1099511628211)

uint64_t log_hash_add(uint64_t hash, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char) bytes[i]) * FNV_PRIME;
	return hash;
}

/* The run of that stamp, where it is one of the newest; else a new one in the place of the oldest.
 */
static unsigned run_of(struct log_seen *seen, log_stamp stamp)
{
	for (unsigned i = 0; i < LOG_SEEN_RUNS; i++)
		if (seen->runs[i].count > 0 && seen->runs[i].stamp == stamp)
			return i;
	seen->newest = (seen->newest + 1) % LOG_SEEN_RUNS;
	seen->runs[seen->newest] = (struct log_run){.stamp = stamp, .hash = LOG_HASH_BEGIN};
	return seen->newest;
}

void log_seen_add(struct log_seen *seen, log_stamp stamp, uint64_t hash)
{
	bool is_same = seen->runs[seen->last].count > 0 && seen->runs[seen->last].stamp == stamp;

	if (!is_same)
		seen->last = run_of(seen, stamp);
	struct log_run *run = &seen->runs[seen->last];

	run->hash = (run->hash ^ hash) * FNV_PRIME;
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
