#include "tf/server.h"

static int complain(const struct library *library, const struct TF_Status *status,
		    const char *protocol, struct err *err)
{
	/* ServerFactory::GetFactory looks through what is linked into the library; its words hold
	 * the whole cluster. */
	if (library->get_code(status) == TF_CODE_NOT_FOUND)
		return err_set(err, ERR_UNSUPPORTED,
			       "TensorFlow %s in '%s' has no server for protocol '%s'",
			       library->version(), library->path, protocol);
	return err_set(err, ERR_REFUSED, "TensorFlow cannot make the server: %s",
		       library->message(status));
}

static int make_server(const struct library *library, const struct text *server_def,
		       struct TF_Status *status, struct TF_Server **ret_server)
{
	*ret_server = library->new_server(text_of(server_def), server_def->len, status);
	if (library->get_code(status) == TF_CODE_OK)
		library->server_start(*ret_server, status);
	return library->get_code(status);
}

int server_start(const struct library *library, const struct text *server_def, const char *protocol,
		 const char **ret_target, struct err *err)
{
	struct TF_Status *status = library->new_status();
	struct TF_Server *server;
	int rc = 0;

	if (make_server(library, server_def, status, &server) == TF_CODE_OK)
		*ret_target = library->server_target(server);
	else
		rc = complain(library, status, protocol, err);
	library->delete_status(status);
	return rc;
}
