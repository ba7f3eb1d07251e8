/* The program `muster`: all but clusters. */
#include "cli/edition.h"

const bool edition_has_kubernetes = false;

void edition_add_libraries(struct text *text)
{
	(void) text;
}
