#include "console/line_format.h"

#include "base/line_text.h"
#include "io/own_process.h"

/* Colors that are distinguishable on dark and light backgrounds (SGR); no red, which looks like an
 * error. The first workers have the plain ones. */
static const char *const palette[] = {"34", "95", "92", "94", "96", "93", "36", "33", "32", "35"};

void line_format_done(struct line_format *format)
{
	text_done(&format->beginning);
}

/* A part of an elastic job has only workers. */
static void add_replica_name(const struct line_format *format, const char *role, int index,
			     struct text *text)
{
	if (format->job_name)
		text_addf(text, "%s/", format->job_name);
	if (format->names_ranks)
		text_addf(text, "rank %d", format->first_rank + index);
	else
		text_addf(text, "%s-%d", role, index);
}

void line_format_fit_job(struct line_format *format, const struct job *job)
{
	for (size_t i = 0; i < job->n_roles; i++) {
		struct text name CLEANUP(text_done) = {0};

		if (job->roles[i].replicas == 0)
			continue;
		add_replica_name(format, job->roles[i].name, job->roles[i].replicas - 1, &name);
		if ((int) name.len > format->width)
			format->width = (int) name.len;
	}
	text_clear(&format->beginning);
}

void line_format_set_ranks(struct line_format *format, const struct job *job,
			   const struct status *status)
{
	bool names_ranks = status->n_ranks > (int) status->n_replicas;

	if (format->first_rank == status->first_rank && format->names_ranks == names_ranks)
		return;
	format->first_rank = status->first_rank;
	format->names_ranks = names_ranks;
	format->width = 0;
	line_format_fit_job(format, job);
}

/* A replica has the same color in every command, whatever else is shown. */
static const char *color_of(const struct log_name *name)
{
	size_t number = (size_t) name->index;

	for (const char *at = name->role; *at; at++)
		number += (unsigned char) *at;
	return palette[number % ARRAY_LEN(palette)];
}

/* Adds the replica's name, up to the separator. */
static void add_name(const struct line_format *format, const struct log_name *name,
		     struct text *text)
{
	if (format->has_color)
		text_addf(text, "\x1b[%sm", color_of(name));
	size_t begin = text->len;

	add_replica_name(format, name->role, name->index, text);
	while (text->len - begin < (size_t) format->width)
		text_add_char(text, ' ');
	text_add_char(text, ' ');
}

static void set_beginning(struct line_format *format, const struct log_name *name, bool is_marked)
{
	struct text *text = &format->beginning;

	format->beginning_of = *name;
	text_clear(text);
	if (is_marked) {
		char *prefix CLEANUP(mem_free_text) =
			streams_prefix(format->streams, name->index, format->first_rank);

		text_add(text, prefix);
	} else {
		add_name(format, name, text);
	}
}

static void add_beginning(struct line_format *format, const struct log_line *line,
			  struct text *text)
{
	bool is_marked = streams_mark(format->streams, line->name);

	if (!format->has_name && !is_marked)
		return;
	if (format->beginning.len == 0 || !log_name_same_stream(&format->beginning_of, line->name))
		set_beginning(format, line->name, is_marked);
	text_add_bytes(text, format->beginning.bytes, format->beginning.len);
	if (is_marked)
		return;
	text_add_char(text, line->is_continuation ? '+' : '|');
	if (format->has_color)
		text_add(text, "\x1b[0m");
	text_add_char(text, ' ');
}

static void add_bytes(const struct line_format *format, const char *bytes, size_t len,
		      struct text *text)
{
	if (format->is_safe)
		line_text_add_safe(text, bytes, len);
	else
		text_add_bytes(text, bytes, len);
}

void line_format_add(struct line_format *format, const struct log_line *line, struct text *text)
{
	add_beginning(format, line, text);
	if (format->has_time && line->time != MSEC_UNSET) {
		text_add_line_time(text, line->time,
				   format->is_local ? time_zone_offset(line->time) : 0);
		text_add_char(text, ' ');
	}
	add_bytes(format, line->bytes, line->len, text);
	text_add_char(text, '\n');
}

void line_format_add_row(struct line_format *format, const struct log_line *line, size_t most,
			 struct text *text)
{
	size_t len = line->len <= most ? line->len : line_text_whole_characters(line->bytes, most);

	add_beginning(format, line, text);
	add_bytes(format, line->bytes, len, text);
}
