#include "kube/container_log.h"

#include "base/backoff.h"
#include "base/hash.h"

/* Streams: one question after the other, as in kube/retry.c; the first "yes" decides. */

#define SHORTEST_WAIT ((msec) 250)
#define LONGEST_WAIT (8 * MSEC_PER_SECOND)

bool log_follow_begin(struct log_follow *follow)
{
	const struct log_container *container = &follow->container;
	bool was_previous = follow->reads_previous;

	if (!follow->has_started && container->n_restarts > 0)
		follow->n_restarts = container->n_restarts - 1;
	follow->has_started = true;
	follow->reads_previous = container->n_restarts > follow->n_restarts;
	follow->began_after_end = container->has_ended;
	follow->has_news = false;
	return was_previous && !follow->reads_previous;
}

/* The next step after a stream that may deserve another one. */
static struct log_next decide_next_log_stream(const struct log_follow *follow, enum log_end end,
					      double jitter)
{
	const struct log_next give_up = {LOG_STEP_GIVE_UP, 0};
	int most = end == LOG_END_FAILED ? LOG_FOLLOW_FAILURES : LOG_FOLLOW_TRIES;

	if (follow->container.has_ended && follow->n_vain >= most)
		return give_up;
	/* If the container has exited since the stream began, its log is read again now. */
	if (follow->container.has_ended && (follow->has_news || !follow->began_after_end) &&
	    follow->n_vain <= 1)
		return (struct log_next){LOG_STEP_STREAM, 0};
	/* 0.25 s, 0.5 s, 1 s …, and up to half as much more. An unreachable node: half as often. */
	msec first = end == LOG_END_FAILED ? 2 * SHORTEST_WAIT : SHORTEST_WAIT;
	msec wait = backoff_pause(first, LONGEST_WAIT, follow->n_vain ? follow->n_vain : 1);

	return (struct log_next){LOG_STEP_STREAM, backoff_spread(wait, 0.5, jitter)};
}

struct log_next log_follow_ended(struct log_follow *follow, enum log_end end, bool is_catching_up,
				 double jitter)
{
	const struct log_next done = {LOG_STEP_DONE, 0}, give_up = {LOG_STEP_GIVE_UP, 0};
	bool was_lost = follow->was_lost;
	bool is_lost = end == LOG_END_LOST || end == LOG_END_FAILED;

	follow->was_lost = is_lost;
	follow->n_vain = follow->has_news ? 0 : follow->n_vain + 1;
	if (follow->reads_previous && !is_lost) { /* the previous container has no more log */
		follow->n_restarts = follow->container.n_restarts;
		follow->n_vain = 0;
		return (struct log_next){LOG_STEP_STREAM, 0};
	}
	if (follow->container.n_restarts > follow->n_restarts && end == LOG_END_PROPER)
		return (struct log_next){LOG_STEP_STREAM, 0};
	if (end == LOG_END_PROPER && follow->began_after_end && !follow->has_news &&
	    !is_catching_up)
		return done;
	/* A kubelet that has just started does not know its Pods for a moment. */
	if (end == LOG_END_ABSENT && !follow->container.has_ended)
		return decide_next_log_stream(follow, end, jitter);
	if (end == LOG_END_ABSENT || (end == LOG_END_PROPER && follow->container.is_gone))
		return was_lost ? give_up : done;
	if (end == LOG_END_REFUSED && follow->began_after_end)
		return give_up;
	return decide_next_log_stream(follow, end, jitter);
}

/* Stamps. base/text reads the whole seconds. The fraction is finer and is read here. */

#define NSEC_PER_MSEC ((log_stamp) 1000000)
#define NSEC_PER_SECOND ((log_stamp) 1000000000)
#define FRACTION_DIGITS 9
#define LAST_SECOND (INT64_MAX / NSEC_PER_SECOND - 1)
/* Two readers read a container's two outputs, so a stamp may be older than the previous one, but by
 * far less than a second. */
#define MARGIN_SECONDS 1

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

/* MSEC_UNSET for LOG_STAMP_NONE. */
static msec log_stamp_time(log_stamp stamp)
{
	return stamp / NSEC_PER_MSEC;
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

/* Adds a complete line; `hash` is over its text. */
static void log_seen_add(struct log_seen *seen, log_stamp stamp, uint64_t hash)
{
	bool is_same = seen->runs[seen->last].count > 0 && seen->runs[seen->last].stamp == stamp;

	if (!is_same)
		seen->last = run_of(seen, stamp);
	struct log_run *run = &seen->runs[seen->last];

	run->hash = hash_add(run->hash, (const char *) &hash, sizeof(hash));
	run->count++;
}

/* The earliest and latest stamp of the last lines and the open one; LOG_STAMP_NONE: none. */
static void find_known_stamps(const struct log_lines *lines, log_stamp *ret_earliest,
			      log_stamp *ret_latest)
{
	log_stamp open = lines->open_len > 0 ? lines->open_stamp : LOG_STAMP_NONE;

	*ret_earliest = *ret_latest = open;
	for (unsigned i = 0; i < LOG_SEEN_RUNS; i++) {
		log_stamp stamp = lines->seen.runs[i].stamp;

		if (stamp == LOG_STAMP_NONE)
			continue;
		if (*ret_earliest == LOG_STAMP_NONE || stamp < *ret_earliest)
			*ret_earliest = stamp;
		if (stamp > *ret_latest)
			*ret_latest = stamp;
	}
}

/* A line is its head (up to the space after the stamp) and its text. What to do with a line is
 * decided between the two. */

void log_lines_begin(struct log_lines *lines, bool is_other)
{
	bool has_seen = lines->seen.runs[lines->seen.last].count > 0;

	lines->again = (struct log_seen){0};
	lines->is_catching_up = has_seen || lines->open_len > 0;
	lines->is_behind_seen = !has_seen;
	lines->is_in_text = false;
	lines->head_len = 0;
	lines->held_len = 0;
	lines->is_first = true;
	lines->expects_gap = is_other;
}

bool log_lines_add_since(const struct log_lines *lines, struct text *text)
{
	log_stamp since, latest;

	find_known_stamps(lines, &since, &latest);
	if (since != LOG_STAMP_NONE)
		text_add_time(text, (since / NSEC_PER_SECOND - MARGIN_SECONDS) * MSEC_PER_SECOND);
	return since != LOG_STAMP_NONE;
}

/* This unknown line is the place to continue, after a gap since `latest`. */
static void continue_after_log_gap(struct log_lines *lines, log_stamp latest)
{
	if (!lines->expects_gap) {
		lines->gap_from = latest;
		lines->gap_to = lines->stamp;
	}
	if (lines->open_len > 0)
		lines->fn("\n", 1, log_stamp_time(lines->open_stamp), lines->data);
	lines->open_len = 0;
	lines->is_catching_up = false;
}

/* The stamp is known; the text follows. */
static void begin_text(struct log_lines *lines, log_stamp stamp)
{
	log_stamp earliest, latest;

	lines->stamp = stamp;
	lines->has_stamps |= stamp != LOG_STAMP_NONE;
	lines->is_first = false;
	lines->hash = HASH_BEGIN;
	lines->is_in_text = true;
	lines->known_len = 0;
	if (lines->is_catching_up) {
		find_known_stamps(lines, &earliest, &latest);
		if (lines->is_behind_seen && stamp == lines->open_stamp) {
			/* The open line goes on. */
			lines->known_len = lines->open_len;
			lines->is_catching_up = false;
		} else if (stamp > latest) {
			continue_after_log_gap(lines, latest);
		}
	}
	lines->is_known = lines->is_catching_up;
	if (!lines->is_known && lines->known_len == 0)
		lines->open_len = 0;
}

static void end_known_line(struct log_lines *lines)
{
	log_seen_add(&lines->again, lines->stamp, lines->hash);
	const struct log_run *again = &lines->again.runs[lines->again.last];
	const struct log_run *seen = &lines->seen.runs[lines->seen.last];

	if (!lines->is_behind_seen && again->stamp == seen->stamp && again->count == seen->count &&
	    again->hash == seen->hash) {
		lines->is_behind_seen = true;
		lines->is_catching_up = lines->open_len > 0;
	}
}

/* Takes part of a line's text; `ends`: its last byte is the line feed. */
static void accept_log_text(struct log_lines *lines, const char *bytes, size_t len, bool ends)
{
	lines->hash = hash_add(lines->hash, bytes, len - ends);
	if (lines->is_known) {
		if (ends)
			end_known_line(lines);
	} else {
		size_t known = lines->known_len < len ? lines->known_len : len;

		if (ends && known == len)
			known = len - 1; /* at least the line's end is new */
		lines->known_len -= known;
		if (len > known)
			lines->fn(bytes + known, len - known, log_stamp_time(lines->stamp),
				  lines->data);
		lines->open_len += len - known;
		lines->open_stamp = lines->stamp;
		if (ends) {
			log_seen_add(&lines->seen, lines->stamp, lines->hash);
			lines->open_len = 0;
		}
	}
	lines->is_in_text = !ends;
}

/* The head was no stamp, so it is text. */
static void accept_log_head_as_text(struct log_lines *lines, bool ends)
{
	size_t len = lines->head_len;

	lines->head_len = 0;
	begin_text(lines, LOG_STAMP_NONE);
	accept_log_text(lines, lines->head, len, ends);
}

/* Lines without stamps. */

static bool has_ended(const struct log_lines *lines)
{
	return lines->held[lines->held_len - 1] == '\n';
}

static void release_held(struct log_lines *lines)
{
	size_t len = lines->held_len;
	bool ends = has_ended(lines);

	lines->held_len = 0;
	begin_text(lines, LOG_STAMP_NONE);
	accept_log_text(lines, lines->held, len, ends);
}

/* Whether a line without a stamp may be the kubelet's. Servers without stamps never send one on any
 * line; for their logs only the first line is held. */
static void leave_head(struct log_lines *lines, bool ends)
{
	if (!lines->has_stamps && !lines->is_first) {
		accept_log_head_as_text(lines, ends);
		return;
	}
	memcpy(lines->held, lines->head, lines->head_len);
	lines->held_len = lines->head_len;
	lines->head_len = 0;
}

/* Takes more of a held line, or of what follows it. Returns the number of bytes taken. */
static size_t append_held_log_line(struct log_lines *lines, const char *bytes, size_t len)
{
	const char *line_feed = memchr(bytes, '\n', len);
	size_t count = line_feed ? (size_t) (line_feed - bytes) + 1 : len;

	if (has_ended(lines) || lines->held_len + count > sizeof(lines->held)) {
		release_held(lines);
		return 0;
	}
	memcpy(lines->held + lines->held_len, bytes, count);
	lines->held_len += count;
	return count;
}

/* Nothing follows the held line. In a log without stamps only a known message counts as the
 * kubelet's; it never ends with a line feed. Source: k8s.io/kubernetes,
 * pkg/kubelet/kuberuntime/kuberuntime_container.go (GetContainerLogs). */
static bool is_of_kubelet(const struct log_lines *lines)
{
	static const char sentence[] = "unable to retrieve container logs for ";

	if (lines->has_stamps)
		return true;
	return lines->held_len >= strlen(sentence) && !has_ended(lines) &&
	       memcmp(lines->held, sentence, strlen(sentence)) == 0;
}

/* Takes the next byte of a head. */
static void accept_log_head_byte(struct log_lines *lines, char byte)
{
	log_stamp stamp = LOG_STAMP_NONE;

	lines->head[lines->head_len++] = byte;
	if (byte == ' ')
		stamp = log_stamp_read(lines->head, lines->head_len - 1);
	if (stamp != LOG_STAMP_NONE) {
		lines->head_len = 0;
		begin_text(lines, stamp);
	} else if (byte == ' ' || byte == '\n' || lines->head_len == sizeof(lines->head)) {
		leave_head(lines, byte == '\n');
	}
}

void log_lines_take(struct log_lines *lines, const char *bytes, size_t len, log_text_fn fn,
		    void *data)
{
	lines->fn = fn;
	lines->data = data;
	for (size_t at = 0; at < len;) {
		if (lines->held_len > 0) {
			at += append_held_log_line(lines, bytes + at, len - at);
			continue;
		}
		if (!lines->is_in_text) {
			accept_log_head_byte(lines, bytes[at++]);
			continue;
		}
		const char *line_feed = memchr(bytes + at, '\n', len - at);
		size_t end = line_feed ? (size_t) (line_feed - bytes) + 1 : len;

		accept_log_text(lines, bytes + at, end - at, line_feed != NULL);
		at = end;
	}
}

void log_lines_take_words(struct log_lines *lines, struct text *words)
{
	if (lines->held_len == 0 || !is_of_kubelet(lines))
		return;
	text_add_bytes(words, lines->held, lines->held_len - has_ended(lines));
	lines->held_len = 0;
}

void log_lines_end(struct log_lines *lines, log_text_fn fn, void *data)
{
	lines->fn = fn;
	lines->data = data;
	if (lines->held_len > 0)
		release_held(lines);
	if (lines->head_len > 0 && !lines->has_stamps)
		accept_log_head_as_text(lines, false);
	lines->head_len = 0;
}

bool log_lines_take_gap(struct log_lines *lines, msec *ret_from, msec *ret_to)
{
	bool is_gap = lines->gap_to != LOG_STAMP_NONE;

	*ret_from = log_stamp_time(lines->gap_from);
	*ret_to = log_stamp_time(lines->gap_to);
	lines->gap_to = LOG_STAMP_NONE;
	return is_gap;
}
