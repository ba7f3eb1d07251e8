/* Asks the API server of the environment's kubeconfig who calls: what `kubectl auth whoami -o json`
 * prints as status, for tests that compare the two.
 *
 *     who_am_i [TIMES]        a call after the other, by one login
 *
 * Where there is no answer, the sentence goes to stderr and the exit code is that of muster's
 * commands. */
#include "base/mem.h"
#include "kube/api.h"
#include "kube/config.h"
#include "kube/credential.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REVIEW "{\"apiVersion\": \"authentication.k8s.io/v1\", \"kind\": \"SelfSubjectReview\"}"

struct question {
	struct loop *loop;
	struct kube_api *api;
	struct err err;
};

static int exit_code_of(const struct err *err)
{
	fprintf(stderr, "%s\n", err->text);
	return err->code == ERR_INVALID ? 2 : err->code == ERR_REFUSED ? 4 : 3;
}

static void on_answer(const struct kube_result *result, void *data)
{
	struct question *question = data;
	struct text text CLEANUP(text_done) = {0};

	if (result->err) {
		question->err = *result->err;
	} else {
		json_add_compact(&text, json_get(result->object, "status"));
		printf("%s\n", text_of(&text));
	}
	loop_stop(question->loop);
}

static int ask(struct question *question)
{
	static const struct kube_resource reviews = {
		.group = "authentication.k8s.io",
		.version = "v1",
		.plural = "selfsubjectreviews",
		.is_cluster_wide = true,
	};
	struct json *body CLEANUP(json_cleanup) = NULL;

	if (json_read(REVIEW, strlen(REVIEW), &body, &question->err) < 0)
		return question->err.code;
	const struct kube_request request = {
		.verb = KUBE_CREATE, .resource = &reviews, .body = body};

	kube_call_start(NULL, question->api, &request, on_answer, question);
	loop_run(question->loop);
	return question->err.code;
}

static int open_api(struct question *question)
{
	struct kube_config_search search = kube_config_search_here();
	struct kube_config *config CLEANUP(kube_config_cleanup) = NULL;
	struct kube_login *login CLEANUP(kube_login_cleanup) = NULL;
	int rc = loop_new(&question->loop, &question->err);

	if (rc == 0)
		rc = kube_config_read(&search, NULL, &config, &question->err);
	if (rc == 0)
		rc = kube_login_open(question->loop, config, &login, &question->err);
	if (rc == 0)
		config = NULL; /* it is the login's now */
	if (rc == 0)
		rc = kube_api_new(question->loop, login, &question->api, &question->err);
	if (rc == 0)
		login = NULL;
	return rc;
}

int main(int argc, char **argv)
{
	struct question question = {0};
	long times = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
	int rc = open_api(&question);

	while (rc == 0 && times-- > 0)
		rc = ask(&question);
	kube_api_free(question.api);
	if (question.loop)
		loop_free(question.loop);
	return rc < 0 ? exit_code_of(&question.err) : 0;
}
