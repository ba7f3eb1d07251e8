/* Makes calls through kube/api and prints what comes of them, for tests of that client:
 *
 *     kube_ask SERVER [OPTIONS] VERB GROUP/VERSION/PLURAL [NAME]
 *
 * Several --token are what a credential is renewed to, one after the other. Each line of the output
 * is a JSON object: {"warning"}, {"bytes"} of a stream, then {"code", "reason", "object"} or
 * {"code", "reason", "error", "errorCode"}. */
#include "base/mem.h"
#include "base/text.h"
#include "kube/api.h"
#include "tool.h"

#include <getopt.h>
#include <stdio.h>

#define MOST 16

struct asker {
	struct loop *loop;
	struct kube_api *api;
	struct kube_login *login;
	struct kube_request request;
	struct kube_resource resource;
	struct kube_parameter parameters[MOST + 1];
	size_t n_parameters;
	const char *tokens[MOST];
	size_t n_tokens, token; /* the one that is used */
	bool is_stream;
	int64_t permits; /* how often something may be changed; -1: always */
	int64_t n_calls, n_ended;
};

static void warn(const char *sentence, void *data)
{
	struct json *object = json_new_object();

	(void) data;
	json_set_string(object, "warning", sentence);
	tool_print(object);
}

static void take_bytes(const char *bytes, size_t len, void *data)
{
	char *piece CLEANUP(mem_free_text) = mem_copy_bytes(bytes, len);
	struct json *object = json_new_object();

	(void) data;
	json_set_string(object, "bytes", piece);
	tool_print(object);
}

static void end_call(const struct kube_result *result, void *data)
{
	struct asker *asker = data;
	struct json *object = result->object;
	const struct err *err = result->err;
	struct json *line = json_new_object();

	json_set_integer(line, "code", result->status->code);
	json_set_string(line, "reason", result->status->reason);
	if (err) {
		json_set_string(line, "error", err->text);
		json_set_integer(line, "errorCode", err->code);
	} else if (object) {
		json_set(line, "object", json_ref(object));
	}
	tool_print(line);
	if (++asker->n_ended == asker->n_calls)
		loop_stop(asker->loop);
}

static void take_next_token(struct kube_login *login, bool was_refused, kube_refreshed_fn done,
			    void *done_data)
{
	struct asker *asker = login->source;
	const struct err none = {.code = ERR_REFUSED, .text = "there is no other token"};

	(void) was_refused;
	login->expires_at = MSEC_NEVER;
	if (asker->token + 1 < asker->n_tokens) {
		const struct kube_credential next = {
			.token = mem_copy_text(asker->tokens[++asker->token])};

		kube_credential_replace(&login->credential, next);
		done(NULL, done_data);
	} else {
		done(&none, done_data);
	}
}

static void add_parameter(struct asker *asker, char *pair)
{
	char *value = strchr(pair, '=');

	if (!value || asker->n_parameters == MOST)
		exit(2);
	*value = '\0';
	asker->parameters[asker->n_parameters++] = (struct kube_parameter){pair, value + 1};
	asker->request.parameters = asker->parameters;
}

static void read_resource(struct asker *asker, char *path)
{
	char *version = strchr(path, '/'), *plural = version ? strchr(version + 1, '/') : NULL;

	if (!plural)
		exit(2);
	*version = *plural = '\0';
	asker->resource = (struct kube_resource){path, version + 1, plural + 1, false};
	asker->request.resource = &asker->resource;
}

static void read_verb(struct asker *asker, const char *word)
{
	static const char *const words[] = {
		[KUBE_GET] = "get",
		[KUBE_LIST] = "list",
		[KUBE_WATCH] = "watch",
		[KUBE_CREATE] = "create",
		[KUBE_UPDATE] = "update",
		[KUBE_PATCH] = "patch",
		[KUBE_JSON_PATCH] = "json-patch",
		[KUBE_APPLY] = "apply",
		[KUBE_DELETE] = "delete",
		[KUBE_DELETE_COLLECTION] = "delete-collection",
	};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (!strcmp(words[i], word)) {
			asker->request.verb = (enum kube_verb) i;
			return;
		}
	exit(2);
}

static const struct option rows[] = {
	{"authority", required_argument, NULL, 'a'},
	{"body", required_argument, NULL, 'b'},
	{"certificate", required_argument, NULL, 'c'},
	{"key", required_argument, NULL, 'k'},
	{"namespace", required_argument, NULL, 'n'},
	{"parameter", required_argument, NULL, 'p'},
	{"permits", required_argument, NULL, 'm'},
	{"stream", no_argument, NULL, 'f'},
	{"subresource", required_argument, NULL, 'u'},
	{"times", required_argument, NULL, 'x'},
	{"token", required_argument, NULL, 't'},
	{"expired", no_argument, NULL, 'e'},
	{NULL, 0, NULL, 0},
};

static void read_body(struct asker *asker, const char *text)
{
	struct json *body;

	if (json_read(text, strlen(text), &body, NULL) < 0)
		exit(2);
	asker->request.body = body;
}

static void take_option(struct asker *asker, int which, char *value)
{
	struct kube_credential *credential = &asker->login->credential;

	if (which == 'a')
		asker->login->authority = tool_content_of(value);
	else if (which == 'b')
		read_body(asker, value);
	else if (which == 'c')
		credential->client_certificate = tool_content_of(value);
	else if (which == 'k')
		credential->client_key = tool_content_of(value);
	else if (which == 'n')
		asker->request.namespace_name = value;
	else if (which == 'p')
		add_parameter(asker, value);
	else if (which == 'm')
		asker->permits = strtol(value, NULL, 10);
	else if (which == 'f')
		asker->is_stream = true;
	else if (which == 'u')
		asker->request.subresource = value;
	else if (which == 'x')
		asker->n_calls = strtol(value, NULL, 10);
	else if (which == 't' && asker->n_tokens < MOST)
		asker->tokens[asker->n_tokens++] = value;
	else if (which == 'e')
		asker->login->expires_at = 1;
	else
		exit(2);
}

static void use_tokens(struct asker *asker)
{
	if (!asker->n_tokens)
		return;
	asker->login->credential.token = mem_copy_text(asker->tokens[0]);
	asker->login->source = asker;
	asker->login->refresh = take_next_token;
}

static bool permit(void *data)
{
	struct asker *asker = data;

	return asker->permits-- > 0;
}

static int run(struct asker *asker)
{
	struct err err = {0};

	if (loop_new(&asker->loop, &err) < 0 ||
	    kube_api_new(asker->loop, asker->login, &asker->api, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	kube_api_on_warning(asker->api, warn, NULL);
	asker->api->permit = asker->permits >= 0 ? permit : NULL;
	asker->api->permit_data = asker;
	for (int64_t i = 0; i < asker->n_calls; i++)
		if (asker->is_stream)
			kube_stream_start(NULL, asker->api, &asker->request, 0, take_bytes,
					  end_call, asker);
		else
			kube_call_start(NULL, asker->api, &asker->request, end_call, asker);
	loop_run(asker->loop);
	kube_api_free(asker->api);
	loop_free(asker->loop);
	json_free((struct json *) asker->request.body);
	return 0;
}

/* SERVER [OPTIONS] VERB RESOURCE [NAME] */
int main(int argc, char **argv)
{
	struct asker asker = {.n_calls = 1, .permits = -1};

	if (argc < 4)
		return 2;
	asker.login = kube_login_new(argv[1]);
	for (int which; (which = getopt_long(argc - 1, argv + 1, "", rows, NULL)) != -1;)
		take_option(&asker, which, optarg);
	char **rest = argv + 1 + optind;

	if (argc - 1 - optind < 2)
		return 2;
	use_tokens(&asker);
	read_verb(&asker, rest[0]);
	read_resource(&asker, rest[1]);
	asker.request.name = rest[2];
	return run(&asker);
}
