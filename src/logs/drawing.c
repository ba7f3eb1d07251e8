#include "logs/drawing.h"

#include "base/mem.h"

/* More rows than a terminal usually has. A longer row is broken. */
#define MOST_ROWS 64
#define MOST_ROW_BYTES ((size_t) 8192)
/* A longer sequence is text. */
#define MOST_SEQUENCE_BYTES 32
/* So many line feeds without a move up are no drawing, but ordinary lines. */
#define MOST_FEEDS 32
/* A program that has drawn no frame for so long prints lines. */
#define TIME_OF_FRAME MSEC_PER_SECOND

struct row {
	struct text text;
	msec time; /* of its last change */
	unsigned frame; /* that drew it last */
	bool is_returned; /* the cursor is at its beginning: what is drawn next replaces it */
	bool is_continuation; /* of a row that was broken */
};

struct drawing {
	struct row rows[MOST_ROWS];
	size_t n_rows; /* at least 1 */
	size_t cursor; /* its row */
	size_t lifted; /* rows moved up since something was drawn */
	size_t fed; /* line feeds since the last move up */
	size_t reach; /* the most rows above the last one that it draws anew */
	bool has_moved; /* `reach` is known */
	bool is_hidden; /* the cursor */
	unsigned frame; /* frames that were begun: what is drawn after a move back */
	bool is_moved_back; /* what is drawn next begins a frame */
	msec frame_at; /* when the last one began, or the cursor was hidden or shown */
	msec time; /* of the newest bytes */
	struct text taken; /* the last row that was taken, or all that are shown */
};

/* "ESC [ parameters final" (ECMA-48, 5.4). */
struct sequence {
	size_t size; /* 0: it has no end */
	char final;
	size_t number; /* the first parameter; 0 if there is none */
	bool is_cursor; /* its visibility: "?25" */
};

/* False for what is no such sequence. */
static bool read_sequence(const char *bytes, size_t len, struct sequence *ret_sequence)
{
	size_t end = 2;

	*ret_sequence = (struct sequence){0};
	if (len > 1 && bytes[1] != '[')
		return false;
	for (; end < len && bytes[end] >= '0' && bytes[end] <= '9'; end++)
		if (ret_sequence->number < MOST_ROWS)
			ret_sequence->number =
				ret_sequence->number * 10 + (size_t) (bytes[end] - '0');
	while (end < len && bytes[end] >= 0x20 && bytes[end] <= 0x3f)
		end++;
	if (end >= MOST_SEQUENCE_BYTES)
		return false;
	if (end >= len)
		return true;
	ret_sequence->size = end + 1;
	ret_sequence->final = bytes[end];
	ret_sequence->is_cursor = end == 5 && memcmp(bytes + 2, "?25", 3) == 0;
	return bytes[end] >= 0x40 && bytes[end] <= 0x7e;
}

bool drawing_begins(const char *bytes, size_t len, size_t *ret_lifts)
{
	const char *end = bytes + len;
	const char *at = memchr(bytes, DRAWING_ESCAPE, len);
	bool begins = false;
	size_t lifts = 0;
	struct sequence sequence;

	for (; at; at = memchr(at + 1, DRAWING_ESCAPE, (size_t) (end - at - 1))) {
		if (!read_sequence(at, (size_t) (end - at), &sequence) || sequence.size == 0)
			continue;
		if (sequence.final == 'A' || sequence.final == 'F')
			lifts += sequence.number ? sequence.number : 1;
		begins |= lifts > 0 || sequence.is_cursor;
	}
	if (ret_lifts)
		*ret_lifts = lifts;
	return begins;
}

struct drawing *drawing_new(void)
{
	struct drawing *drawing = mem_new(sizeof(*drawing));

	drawing->n_rows = 1;
	return drawing;
}

void drawing_free(struct drawing *drawing)
{
	if (!drawing)
		return;
	for (size_t i = 0; i < MOST_ROWS; i++)
		text_done(&drawing->rows[i].text);
	text_done(&drawing->taken);
	mem_free_any(&drawing);
}

static struct row *current_row(struct drawing *drawing)
{
	return &drawing->rows[drawing->cursor];
}

static void clear_row(struct row *row)
{
	text_clear(&row->text);
	row->is_returned = row->is_continuation = false;
}

/* Something is drawn at the cursor: rows below that were erased are gone. */
static void begin_drawing(struct drawing *drawing)
{
	while (drawing->n_rows - 1 > drawing->cursor &&
	       drawing->rows[drawing->n_rows - 1].text.len == 0)
		drawing->n_rows--;
	drawing->lifted = 0;
}

/* A row above the reach may be one that the frame has more than the one before it; the next frame
 * shows that. */
static bool can_take(const struct drawing *drawing)
{
	size_t above = drawing->n_rows - 1;

	if (drawing->cursor < above || above <= drawing->reach)
		return false;
	return (!drawing->has_moved && !drawing->is_hidden) || above == MOST_ROWS - 1 ||
	       drawing->rows[0].frame != drawing->frame ||
	       drawing->frame_at + TIME_OF_FRAME <= drawing->time;
}

static void forget_reach(struct drawing *drawing)
{
	drawing->has_moved = false;
	drawing->reach = 0;
}

static void feed_line(struct drawing *drawing)
{
	begin_drawing(drawing);
	current_row(drawing)->time = drawing->time;
	current_row(drawing)->frame = drawing->frame;
	if (++drawing->fed > MOST_FEEDS)
		forget_reach(drawing);
	if (++drawing->cursor == drawing->n_rows)
		clear_row(&drawing->rows[drawing->n_rows++]);
	else
		current_row(drawing)->is_returned = true;
}

/* The cursor is at the beginning of its row. */
static void return_cursor(struct drawing *drawing)
{
	struct row *row = current_row(drawing);

	drawing->is_moved_back |= row->text.len > 0 && !row->is_returned;
	row->is_returned = true;
}

/* Returns how many bytes fitted into the row. */
static size_t draw(struct drawing *drawing, const char *bytes, size_t len)
{
	struct row *row = current_row(drawing);

	begin_drawing(drawing);
	if (drawing->is_moved_back) {
		drawing->is_moved_back = false;
		drawing->frame++;
		drawing->frame_at = drawing->time;
	}
	if (row->is_returned)
		clear_row(row);
	size_t room = MOST_ROW_BYTES - row->text.len;
	size_t size = len < room ? len : room;

	text_add_bytes(&row->text, bytes, size);
	row->time = drawing->time;
	row->frame = drawing->frame;
	if (row->text.len == MOST_ROW_BYTES) {
		feed_line(drawing);
		current_row(drawing)->is_continuation = true;
	}
	return size;
}

static void lift(struct drawing *drawing, size_t count)
{
	size_t moved = count < drawing->cursor ? count : drawing->cursor;

	drawing->cursor -= moved;
	drawing->lifted += count;
	drawing->is_moved_back = true;
	current_row(drawing)->is_returned = true;
	/* It may have drawn rows above before this drawing began. */
	size_t below = drawing->n_rows - 1 - drawing->cursor;
	size_t reach = below > drawing->lifted ? below : drawing->lifted;

	if (!drawing->has_moved || reach > drawing->reach)
		drawing->reach = reach < MOST_ROWS - 2 ? reach : MOST_ROWS - 2;
	drawing->has_moved = true;
	drawing->fed = 0;
}

static void erase(struct drawing *drawing, const struct sequence *sequence)
{
	struct row *row = current_row(drawing);

	if (row->is_returned || (sequence->final == 'K' && sequence->number == 2)) {
		clear_row(row);
		row->is_returned = true;
	}
	if (sequence->final == 'J')
		drawing->n_rows = drawing->cursor + 1;
}

/* Returns false for a sequence that is part of a row, as a color is. */
static bool apply(struct drawing *drawing, const struct sequence *sequence)
{
	size_t count = sequence->number ? sequence->number : 1;
	size_t below = drawing->n_rows - 1 - drawing->cursor;

	switch (sequence->final) {
	case 'A':
	case 'F':
		lift(drawing, count);
		break;
	case 'B':
	case 'E':
		drawing->cursor += count < below ? count : below;
		current_row(drawing)->is_returned = true;
		break;
	case 'G':
		if (count == 1)
			return_cursor(drawing);
		break;
	case 'J':
	case 'K':
		if (sequence->number != 1)
			erase(drawing, sequence);
		break;
	case 'h':
	case 'l':
		if (!sequence->is_cursor)
			return false;
		drawing->is_hidden = sequence->final == 'l';
		drawing->frame_at = drawing->time;
		forget_reach(drawing);
		break;
	default:
		return false;
	}
	return true;
}

size_t drawing_add(struct drawing *drawing, const char *bytes, size_t len, msec time)
{
	size_t at = 0;
	struct sequence sequence;

	drawing->time = time;
	while (at < len && !can_take(drawing)) {
		size_t size = 1;

		if (bytes[at] == '\n') {
			feed_line(drawing);
		} else if (bytes[at] == '\r') {
			return_cursor(drawing);
		} else if (bytes[at] == DRAWING_ESCAPE &&
			   read_sequence(bytes + at, len - at, &sequence)) {
			if (sequence.size == 0)
				break;
			size = sequence.size;
			if (!apply(drawing, &sequence))
				size = draw(drawing, bytes + at, size);
		} else {
			while (at + size < len && !memchr("\n\r\x1b", bytes[at + size], 3))
				size++;
			size = draw(drawing, bytes + at, size);
		}
		at += size;
	}
	return at;
}

bool drawing_take(struct drawing *drawing, bool is_last, struct log_line *ret_line)
{
	const struct row *first = &drawing->rows[0];

	if (is_last)
		begin_drawing(drawing);
	if (!can_take(drawing) && !(is_last && (drawing->n_rows > 1 || first->text.len > 0)))
		return false;
	text_clear(&drawing->taken);
	text_add_bytes(&drawing->taken, text_of(&first->text), first->text.len);
	*ret_line = (struct log_line){
		.bytes = text_of(&drawing->taken),
		.len = drawing->taken.len,
		.time = first->time,
		.is_continuation = first->is_continuation,
	};
	struct row free_row = *first;

	drawing->n_rows--;
	drawing->cursor -= drawing->cursor > 0;
	memmove(drawing->rows, drawing->rows + 1, drawing->n_rows * sizeof(free_row));
	drawing->rows[drawing->n_rows] = free_row; /* its memory */
	clear_row(&drawing->rows[drawing->n_rows]);
	if (drawing->n_rows == 0)
		drawing->n_rows = 1;
	return true;
}

bool drawing_is_over(const struct drawing *drawing)
{
	return !drawing->is_hidden && !drawing->has_moved && drawing->n_rows == 1 &&
	       drawing->rows[0].text.len == 0;
}

bool drawing_show(struct drawing *drawing, struct log_line *ret_line)
{
	size_t shown = drawing->n_rows;

	while (shown > 0 && drawing->rows[shown - 1].text.len == 0)
		shown--;
	text_clear(&drawing->taken);
	for (size_t i = 0; i < shown; i++) {
		if (i > 0)
			text_add_char(&drawing->taken, '\n');
		text_add_bytes(&drawing->taken, text_of(&drawing->rows[i].text),
			       drawing->rows[i].text.len);
	}
	*ret_line = (struct log_line){
		.bytes = text_of(&drawing->taken),
		.len = drawing->taken.len,
		.time = drawing->time,
		.is_bar = true,
	};
	return shown > 0;
}
