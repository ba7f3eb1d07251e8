/* exec, so that there is still one process, with its pid, its terminal and its exit code. */
#include "cli/kubernetes_program.h"

#include "base/mem.h"
#include "command/output.h"
#include "io/own_process.h"

#include <errno.h>
#include <unistd.h>

int exec_kubernetes_program(const struct options *options)
{
	char **call CLEANUP(mem_free_any) = options_call(options);
	struct err err = {.code = ERR_IO};

	/* Returns only if that fails. */
	(void) !kubernetes_program_exec(call, &err);
	return output_fail(&err);
}

#define OTHER_PROGRAM "muster-kubernetes"

int kubernetes_program_find(const char *own_program, const char *libexec_folder, char **ret_path,
			    struct err *err)
{
	const char *slash = strrchr(own_program, '/');
	int folder_len = slash ? (int) (slash - own_program) : 0;
	char *beside CLEANUP(mem_free_text) =
		mem_format("%.*s/" OTHER_PROGRAM, folder_len, own_program);
	bool is_absolute = *libexec_folder == '/';
	char *installed CLEANUP(mem_free_text) =
		mem_format("%.*s%s%s/" OTHER_PROGRAM, is_absolute ? 0 : folder_len, own_program,
			   is_absolute ? "" : "/", libexec_folder);

	if (access(beside, X_OK) == 0)
		*ret_path = TAKE(beside);
	else if (access(installed, X_OK) == 0)
		*ret_path = TAKE(installed);
	else
		return err_set(
			err, ERR_NOT_FOUND,
			OTHER_PROGRAM
			": not found (expected %s or %s); install muster with Kubernetes support",
			beside, installed);
	return 0;
}

int kubernetes_program_exec(char *const *argv, struct err *err)
{
	char *own CLEANUP(mem_free_text) = own_program_path();
	char *path CLEANUP(mem_free_text) = NULL;

	int rc = kubernetes_program_find(own, MUSTER_LIBEXEC, &path, err);

	if (!path)
		return rc;
	execv(path, argv);
	return err_set_errno(err, errno, "cannot run %s", path);
}
