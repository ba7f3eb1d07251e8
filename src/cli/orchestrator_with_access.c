#include "cli/orchestrator_call.h"
#include "command/command.h"
#include "command/output.h"

int orchestrator_call_with_access(const struct options *options)
{
	struct server_access access CLEANUP(server_access_done) = {0};
	const char *token_file = option_text(options, "make-token");
	struct err err = {0};

	if (token_file)
		return server_access_create_token(token_file);
	if (server_access_open(options, &access, &err) < 0)
		return output_fail(&err);
	return orchestrator_call(options, &access);
}
