/* Any bytes as what a program draws: however they are cut, the same lines come of them. */
#include "fuzz.h"

#include "base/text.h"
#include "logs/drawing.h"

#include <stdlib.h>
#include <string.h>

static void take(struct drawing *drawing, bool is_last, struct text *lines)
{
	struct log_line line;

	while (drawing_take(drawing, is_last, &line)) {
		text_add_bytes(lines, line.bytes, line.len);
		text_add(lines, line.is_continuation ? "+\n" : "\n");
	}
}

/* The lines, if the bytes come in pieces of `size`. */
static void draw_in_pieces(const char *bytes, size_t len, size_t size, struct text *lines)
{
	struct drawing *drawing = drawing_new();
	struct log_line shown;

	for (size_t begin = 0, end = 0; begin < len;) {
		size_t used = drawing_add(drawing, bytes + begin, end - begin, 0);

		begin += used;
		take(drawing, false, lines);
		if (used == 0 && end == len)
			break;
		if (used == 0 || begin == end)
			end = len - end < size ? len : end + size;
		if (drawing_show(drawing, &shown) && shown.len == 0)
			abort();
	}
	take(drawing, true, lines);
	drawing_free(drawing);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t sizes[] = {1, 3, 7, 64};
	const char *bytes = (const char *) data;
	struct text whole CLEANUP(text_done) = {0};

	draw_in_pieces(bytes, size, size, &whole);
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct text lines CLEANUP(text_done) = {0};

		draw_in_pieces(bytes, size, sizes[i], &lines);
		if (lines.len != whole.len || memcmp(text_of(&lines), text_of(&whole), whole.len))
			abort();
	}
	return 0;
}
