#include "cli/exec_kubernetes.h"

#include "base/mem.h"
#include "cli/kubernetes_program.h"
#include "command/output.h"

int exec_kubernetes_program(const struct options *options)
{
	char **call CLEANUP(mem_free_any) = options_call(options);
	struct err err = {.code = ERR_IO};
	int rc = kubernetes_program_exec(call, &err);

	(void) rc; /* this program is the other one: otherwise this line is not reached */
	return output_fail(&err);
}
