/* The grammar of cluster specs: NAME|HOST:PORT(;HOST:PORT)*, and ',' between jobs. */
#include "spec/cluster_spec.h"

#include "base/mem.h"
#include "spec/cluster_build.h"
#include "spec/limits.h"

#include <string.h>

/* A part of the spec: `len` bytes, starting at character number `column`. */
struct part {
	const char *bytes;
	size_t len;
	int column;
};

static bool is_continuation(char byte)
{
	return ((unsigned char) byte & 0xc0) == 0x80; /* of a UTF-8 character */
}

static int count_characters(const char *bytes, size_t len)
{
	int count = 0;

	for (size_t i = 0; i < len; i++)
		count += !is_continuation(bytes[i]);
	return count;
}

static struct part part_of(struct part whole, size_t begin, size_t end)
{
	return (struct part){
		.bytes = whole.bytes + begin,
		.len = end - begin,
		.column = whole.column + count_characters(whole.bytes, begin),
	};
}

/* Cuts off the text before the next `separator`, and the separator. False after the last piece; an
 * empty text is one empty piece. */
static bool next_piece(struct part *rest, char separator, struct part *ret_piece)
{
	if (!rest->bytes)
		return false;
	const char *found = memchr(rest->bytes, separator, rest->len);
	size_t len = found ? (size_t) (found - rest->bytes) : rest->len;

	*ret_piece = part_of(*rest, 0, len);
	*rest = found ? part_of(*rest, len + 1, rest->len) : (struct part){0};
	return true;
}

static struct place part_place_of(struct part part, size_t offset)
{
	return (struct place){.line = 1, .column = part_of(part, offset, part.len).column};
}

static int shown(struct part part)
{
	return cluster_shown_length(part.bytes, part.len);
}

static char *copy_part(const struct cluster_build *build, struct part part)
{
	return arena_format(build->arena, "%.*s", (int) part.len, part.bytes);
}

static bool is_lower_letter(char c)
{
	return c >= 'a' && c <= 'z';
}

static void check_spec_job_name(struct cluster_build *build, struct part part)
{
	if (part.len == 0) {
		fault_add(build->faults, part_place_of(part, 0), "", "missing job name before '|'");
		return;
	}
	for (size_t i = 0; i < part.len; i++) {
		char c = part.bytes[i];

		if (is_lower_letter(c) || (i > 0 && c >= '0' && c <= '9'))
			continue;
		fault_add(build->faults, part_place_of(part, i), "",
			  "job name '%.*s': expected a letter from a to z, then such letters and "
			  "digits",
			  shown(part), part.bytes);
		return;
	}
}

static void read_tasks(struct cluster_build *build, struct part name, struct part rest)
{
	struct part piece;

	for (int index = 0; next_piece(&rest, ';', &piece); index++)
		if (piece.len == 0)
			fault_add(build->faults, part_place_of(piece, 0), "",
				  "task %d of job '%.*s' is empty: expected HOST:PORT", index,
				  shown(name), name.bytes);
		else
			cluster_build_add_task(build, index, copy_part(build, piece),
					       part_place_of(piece, 0), "");
}

static void add_missing_bar_fault(struct cluster_build *build, struct part part)
{
	if (part.len == 0)
		fault_add(build->faults, part_place_of(part, 0), "",
			  "an empty job: expected NAME|HOST:PORT(;HOST:PORT)*");
	else
		fault_add(build->faults, part_place_of(part, part.len), "",
			  "job '%.*s' has no '|': expected NAME|HOST:PORT(;HOST:PORT)*",
			  shown(part), part.bytes);
}

/* NAME|HOST:PORT(;HOST:PORT)* */
static void parse_cluster_job(struct cluster_build *build, struct part part)
{
	struct part rest = part, name, tasks;

	if (!next_piece(&rest, '|', &name) || !next_piece(&rest, '|', &tasks)) {
		add_missing_bar_fault(build, part);
		return;
	}
	check_spec_job_name(build, name);
	cluster_build_add_job(build, copy_part(build, name), part_place_of(name, 0), "");
	if (build->is_full)
		return;
	read_tasks(build, name, tasks);
	if (rest.bytes)
		fault_add(build->faults, part_place_of(tasks, tasks.len), "",
			  "a second '|' in job '%.*s': jobs are separated by ',', tasks by ';'",
			  shown(name), name.bytes);
}

static bool is_readable(size_t len, struct faults *faults)
{
	const struct place begin = {.line = 1, .column = 1};

	if (len > LIMIT_CLUSTER_SPEC)
		fault_add(faults, begin, "", "longer than %d bytes", LIMIT_CLUSTER_SPEC);
	else if (len == 0)
		fault_add(faults, begin, "",
			  "empty: expected NAME|HOST:PORT(;HOST:PORT)*, and ',' between jobs");
	else
		return true;
	return false;
}

int cluster_spec_read(const char *text, struct faults *faults, struct cluster_spec **ret_spec)
{
	struct cluster_build build CLEANUP(cluster_build_done);
	struct part rest = {.bytes = text, .len = strlen(text), .column = 1}, piece;

	cluster_build_init(&build, faults);
	if (!is_readable(rest.len, faults))
		return ERR_INVALID;
	while (!build.is_full && next_piece(&rest, ',', &piece))
		parse_cluster_job(&build, piece);
	return cluster_build_end(&build, ret_spec);
}
