/* The program `muster-kubernetes`: clusters too. */
#include "cli/edition.h"
#include "io/http_client.h"

const bool edition_has_kubernetes = true;

void edition_add_libraries(struct text *text)
{
	text_addf(text, "speaks to clusters with %s\n", http_library());
}
