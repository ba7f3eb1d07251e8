#include "cli/redraw.h"

#include "core/line_width.h"
#include "io/terminal.h"

#include <string.h>
#include <unistd.h>

#define TO_THE_TOP "\x1b[H"
#define ERASE_REST_OF_LINE "\x1b[K"
#define ERASE_BELOW "\x1b[J"

void redraw_add(const char *lines, bool is_whole, struct text *screen)
{
	struct terminal_size size = terminal_size(STDOUT_FILENO);
	size_t n_rows = 0, len;
	const char *at = lines;

	text_add(screen, TO_THE_TOP);
	for (; *at; at += len + 1) {
		len = strcspn(at, "\n");
		n_rows += line_rows(at, len, (size_t) size.columns);
		if (!is_whole && n_rows + 1 >= (size_t) size.rows)
			break;
		text_add_bytes(screen, at, len);
		text_add(screen, ERASE_REST_OF_LINE "\n");
	}
	if (*at)
		text_add(screen, "..." ERASE_REST_OF_LINE "\n");
	text_add(screen, ERASE_BELOW);
}
