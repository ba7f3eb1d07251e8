/* A claimant only reads until it may write. It is a holder from its first successful write until a
 * read shows another holder. */
#include "reconcile/lease.h"

#include "base/text.h"

#include <stdio.h>

void lease_begin(struct lease *lease, const char *self, instant made_at, instant now)
{
	bool is_maker = instant_is_set(made_at);

	*lease = (struct lease){
		.has_seen = is_maker, /* the record is known to be missing */
		.must_look = !is_maker,
		.is_held = is_maker,
		.renewed_at = made_at,
		.seen_at = now,
		.next_at = now,
	};
	snprintf(lease->self, sizeof(lease->self), "%s", self);
}

static bool is_lease_held_by_other(const struct lease *lease)
{
	return lease->seen.is_there && lease->seen.holder[0] &&
	       !text_equals(lease->seen.holder, lease->self);
}

/* When the record, as it was seen, may be taken. */
static instant free_at(const struct lease *lease)
{
	const struct lease_record *seen = &lease->seen;
	bool is_first = lease->may_be_first && !lease->has_changed;

	if (!seen->is_there)
		return lease->is_held || is_first ? lease->seen_at
						  : instant_add(lease->seen_at, LEASE_DURATION);
	if (!is_lease_held_by_other(lease) || seen->fate == LEASE_FATE_GONE)
		return lease->seen_at;
	return instant_add(lease->seen_at, msec_max(seen->duration, LEASE_DURATION));
}

enum lease_call lease_next_call(const struct lease *lease, instant now)
{
	if (lease->is_calling || !instant_has_come(lease->next_at, now))
		return LEASE_NO_CALL;
	if (lease->must_look || !instant_has_come(free_at(lease), now))
		return LEASE_LOOK;
	return lease->seen.is_there ? LEASE_WRITE : LEASE_CREATE;
}

void lease_called(struct lease *lease, instant now)
{
	lease->is_calling = true;
	lease->call_began = now;
}

static void observe_lease_record(struct lease *lease, const struct lease_record *record,
				 instant now)
{
	const struct lease_record *seen = &lease->seen;
	bool is_known = lease->has_seen && seen->is_there == record->is_there &&
			seen->version == record->version &&
			text_equals(seen->holder, record->holder);

	lease->has_changed |= lease->has_seen && !is_known;
	lease->seen = *record;
	lease->has_seen = true;
	if (!is_known)
		lease->seen_at = now;
}

void lease_observe(struct lease *lease, const struct lease_record *record, instant now)
{
	lease->is_calling = false;
	lease->must_look = false;
	observe_lease_record(lease, record, now);
	if (is_lease_held_by_other(lease))
		lease->is_held = false;
	/* A free lease is taken immediately; otherwise the record is read again. */
	instant at = free_at(lease);

	lease->next_at =
		instant_has_come(at, now) ? now : instant_min(at, instant_add(now, LEASE_SPACING));
}

void lease_wrote(struct lease *lease, const struct lease_record *record, instant now)
{
	lease->is_calling = false;
	observe_lease_record(lease, record, now);
	lease->has_changed = false;
	lease->is_held = true;
	lease->renewed_at = lease->call_began;
	lease->next_at = instant_add(lease->call_began, LEASE_RENEWAL);
}

/* A read will show whether another process wrote it, or we did and lost the answer. */
void lease_conflicted(struct lease *lease, instant now)
{
	lease->is_calling = false;
	lease->must_look = true;
	lease->next_at = now;
}

void lease_failed(struct lease *lease, instant now)
{
	lease->is_calling = false;
	lease->next_at = instant_add(now, LEASE_RETRY);
}

enum lease_standing lease_standing(const struct lease *lease, instant now)
{
	if (lease->is_held)
		return instant_since(lease->renewed_at, now) < LEASE_DEADLINE ? LEASE_HELD
									      : LEASE_OVERDUE;
	if (lease->has_seen && is_lease_held_by_other(lease) &&
	    !instant_has_come(free_at(lease), now) &&
	    (lease->has_changed || lease->seen.fate == LEASE_FATE_ALIVE))
		return LEASE_OTHERS;
	return LEASE_UNSETTLED;
}

bool lease_is_call_overdue(const struct lease *lease, instant now)
{
	return lease->is_calling && instant_since(lease->call_began, now) >= LEASE_PATIENCE;
}

instant lease_wake_at(const struct lease *lease, instant now)
{
	instant at =
		lease->is_calling ? instant_add(lease->call_began, LEASE_PATIENCE) : lease->next_at;
	instant deadline = instant_add(lease->renewed_at, LEASE_DEADLINE);

	return lease->is_held && !instant_has_come(deadline, now) ? instant_min(at, deadline) : at;
}
