/* Finds the cluster by its configuration files: nothing is contacted, and no plug-in is run. */
#include "doctor/facts.h"
#include "kube/config.h"
#include "kube/credential.h"
#include "kube/plugin_call.h"

/* Names may contain any byte, and are printed on a terminal. */
static const char *printable(struct arena *arena, const char *name)
{
	char *copy = arena_copy_text(arena, name);

	for (char *at = copy; at && *at; at++)
		if ((unsigned char) *at < ' ' || *at == '\x7f')
			*at = '?';
	return copy;
}

static void collect_config(struct doctor_kubernetes *kubernetes, const struct kube_config *config,
			   struct arena *arena)
{
	kubernetes->server = printable(arena, config->cluster.server);
	kubernetes->context = printable(arena, config->context);
	kubernetes->user = printable(arena, config->user.name);
	kubernetes->namespace_name = printable(arena, config->namespace_name);
	kubernetes->skips_verify = config->cluster.skips_verify;
}

/* Opens it to check the files that it names; without a loop, so that nothing can be run. */
static int try_login(struct kube_config **config, struct err *err)
{
	struct kube_login *login CLEANUP(kube_login_cleanup) = NULL;
	int rc = 0;

	if (kube_user_needs_plugin(&(*config)->user))
		rc = kube_plugin_check(*config, err);
	if (rc == 0)
		rc = kube_login_open(NULL, *config, &login, err);
	if (rc == 0)
		*config = NULL; /* the login owns it now */
	return rc;
}

void doctor_collect_kubernetes(struct doctor_kubernetes *kubernetes, struct arena *arena)
{
	const struct kube_config_search search = kube_config_search_here();
	struct kube_config *config CLEANUP(kube_config_cleanup) = NULL;
	struct err err = {0};
	int rc = kube_config_read(&search, NULL, &config, &err);

	if (rc == ERR_UNREACHABLE)
		return; /* a kubeconfig is optional */
	if (rc == 0) {
		collect_config(kubernetes, config, arena);
		rc = try_login(&config, &err);
	}
	kubernetes->is_malformed = rc == ERR_INVALID;
	if (rc < 0)
		kubernetes->fault = arena_copy_text(arena, err.text);
}
