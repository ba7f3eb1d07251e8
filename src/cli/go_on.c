#include "cli/go_on.h"

#include "base/mem.h"
#include "cli/hand_over.h"
#include "command/output.h"

int go_on_as_other_program(const struct options *options)
{
	char **call CLEANUP(mem_free_any) = options_call(options);
	struct err err = {.code = ERR_IO};
	int rc = hand_over(call, &err);

	(void) rc; /* it is one: this line is not reached otherwise */
	return output_fail(&err);
}
