#include "elastic/readers.h"

#include "base/mem.h"

#include <stdlib.h>

struct elastic_reader {
	struct elastic_readers *readers;
	struct http_call *call;
	instant until;
	struct elastic_reader *next;
};

static struct elastic_reader **link_to(struct elastic_readers *readers,
				       const struct elastic_reader *reader)
{
	struct elastic_reader **link = &readers->first;

	while (*link != reader)
		link = &(*link)->next;
	return link;
}

static void on_reader_disconnect(struct http_call *call, void *data)
{
	struct elastic_reader *reader = data;

	(void) call;
	*link_to(reader->readers, reader) = reader->next;
	free(reader);
}

void elastic_readers_hold(struct elastic_readers *readers, struct http_call *call, instant until)
{
	struct elastic_reader *reader = mem_new(sizeof(*reader));

	*reader = (struct elastic_reader){
		.readers = readers, .call = call, .until = until, .next = readers->first};
	readers->first = reader;
	http_call_hold(call, on_reader_disconnect, reader);
}

bool elastic_readers_are_due(const struct elastic_readers *readers, instant now)
{
	return readers->first && instant_has_come(elastic_readers_wake_at(readers), now);
}

void elastic_readers_answer(struct elastic_readers *readers, instant now, const struct text *body)
{
	struct elastic_reader **link = &readers->first;

	while (*link) {
		struct elastic_reader *reader = *link;

		if (!instant_has_come(reader->until, now)) {
			link = &reader->next;
			continue;
		}
		*link = reader->next;
		http_call_answer(reader->call, 200, "application/json", text_of(body), body->len);
		free(reader);
	}
}

instant elastic_readers_wake_at(const struct elastic_readers *readers)
{
	instant wake_at = INSTANT_NEVER;

	for (const struct elastic_reader *reader = readers->first; reader; reader = reader->next)
		wake_at = instant_min(wake_at, reader->until);
	return wake_at;
}
