/* A text that takes the place of the one that a terminal shows: what `-w` of status and ps draws.
 */
#pragma once

#include "base/text.h"

#include <stdbool.h>

/* Adds what draws the lines over what stdout showed before, without a blank moment. The first lines
 * alone, where the terminal has not enough rows for all and the text need not be `whole`: else each
 * look would push a whole table out of it. */
void redraw_add(const char *lines, bool is_whole, struct text *screen);
