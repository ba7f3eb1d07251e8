/* Judges which cluster there is. Jobs run on this machine without one, so nothing is missing. */
#include "core/doctor_parts.h"

#define EDIT "${EDITOR:-vi} \"${KUBECONFIG:-$HOME/.kube/config}\""
#define CHOOSE "kubectl config get-contexts"

static const char *whose(const struct judgement *judgement)
{
	const struct doctor_kubernetes *kubernetes = &judgement->facts->kubernetes;

	if (!kubernetes->context)
		return "the service account of this Pod";
	return arena_format(judgement->arena, "context '%s'%s%s%s", kubernetes->context,
			    kubernetes->user ? " as '" : "",
			    kubernetes->user ? kubernetes->user : "", kubernetes->user ? "'" : "");
}

void judge_kubernetes(struct judgement *judgement)
{
	const struct doctor_kubernetes *kubernetes = &judgement->facts->kubernetes;

	if (kubernetes->fault)
		judgement_add(judgement, "kubernetes", DOCTOR_WARNING,
			      kubernetes->is_malformed ? EDIT : CHOOSE, "%s", kubernetes->fault);
	else if (!kubernetes->server)
		judgement_add(judgement, "kubernetes", DOCTOR_OK, NULL,
			      "none: there is no kubeconfig, jobs run on this machine");
	else if (kubernetes->skips_verify)
		judgement_add(judgement, "kubernetes", DOCTOR_WARNING, EDIT,
			      "%s, %s, whose certificate is not checked "
			      "(insecure-skip-tls-verify)",
			      kubernetes->server, whose(judgement));
	else
		judgement_add(judgement, "kubernetes", DOCTOR_OK, NULL, "%s, %s, namespace '%s'",
			      kubernetes->server, whose(judgement), kubernetes->namespace_name);
}
