/* The plug-in gets the request in KUBERNETES_EXEC_INFO and answers on stdout. Its messages for the
 * user go to stderr, which it shares with us. */
#include "kube/plugin_call.h"

#include "base/base64.h"
#include "base/json.h"
#include "io/child.h"
#include "io/own_process.h"
#include "io/program_call.h"

#include <unistd.h>

#define INFO_NAME "KUBERNETES_EXEC_INFO"
#define ANSWER_LIMIT ((size_t) 1024 * 1024)
#define TIME_LIMIT (60 * MSEC_PER_SECOND)
#define TIME_LIMIT_OF_PEOPLE (300 * MSEC_PER_SECOND) /* to find a second factor */

struct kube_plugin_call {
	const struct kube_config *config;
	struct program_call *program;
	kube_plugin_done_fn done;
	void *data;
};

static int set_plugin_error(const struct kube_config *config, const char *sentence, struct err *err)
{
	return err_set(err, ERR_UNREACHABLE, "user '%s': its plug-in '%s': %s", config->user.name,
		       config->user.plugin->command, sentence);
}

/* The text on one line, without the escape sequences (ECMA-48) that could overwrite our output. */
static void add_plugin_hint(struct text *text, const char *hint)
{
	while (*hint) {
		if (hint[0] == '\x1b' && hint[1] == '[') {
			hint += 2;
			hint += strspn(hint, "0123456789:;<=>?!\"#$%&'()*+,-./ ");
			hint += *hint != '\0';
		} else {
			bool is_control = (unsigned char) *hint < ' ' || *hint == '\x7f';

			if (*hint != '\x1b')
				text_add_char(text, is_control ? ' ' : *hint);
			hint++;
		}
	}
}

static int refuse_missing(const struct kube_config *config, struct err *err)
{
	const struct kube_plugin *plugin = config->user.plugin;
	struct text sentence CLEANUP(text_done) = {0};

	text_add(&sentence, "program not found");
	if (plugin->install_hint) {
		text_add(&sentence, "; its hint: ");
		add_plugin_hint(&sentence, plugin->install_hint);
	}
	return set_plugin_error(config, text_of(&sentence), err);
}

int kube_plugin_check(const struct kube_config *config, struct err *err)
{
	const struct kube_plugin *plugin = config->user.plugin;

	const struct child_start start = {.program = plugin->command, .environment = environ};

	return child_check_program(&start, NULL) < 0 ? refuse_missing(config, err) : 0;
}

static struct json *cluster_json(const struct kube_cluster *cluster, const char *authority)
{
	struct json *object = json_new_object();
	struct json *settings = NULL;
	struct text data CLEANUP(text_done) = {0};

	json_set_string(object, "server", cluster->server);
	json_set_string(object, "tls-server-name", cluster->tls_server_name);
	if (cluster->skips_verify)
		json_set_bool(object, "insecure-skip-tls-verify", true);
	if (authority) {
		base64_add(&data, authority, strlen(authority));
		json_set_string(object, "certificate-authority-data", text_of(&data));
	}
	json_set_string(object, "proxy-url", cluster->proxy);
	if (cluster->skips_compression)
		json_set_bool(object, "disable-compression", true);
	if (cluster->plugin_settings &&
	    json_read(cluster->plugin_settings, strlen(cluster->plugin_settings), &settings,
		      NULL) == 0)
		json_set(object, "config", settings);
	return object;
}

/* The ExecCredential of the request. */
static char *question_of(const struct kube_config *config, const char *authority,
			 bool is_interactive)
{
	const struct kube_plugin *plugin = config->user.plugin;
	struct json *object CLEANUP(json_cleanup) =
		json_new_texts("kind", "ExecCredential", "apiVersion", plugin->api_version, NULL);
	struct json *spec = json_object_at(object, "spec");

	if (plugin->wants_cluster)
		json_set(spec, "cluster", cluster_json(&config->cluster, authority));
	json_set_bool(spec, "interactive", is_interactive);
	return json_compact_text(object);
}

/* The kubeconfig's variables and the request, which are added to our environment. */
static const char **variables_for(const struct kube_plugin *plugin, const char *question,
				  struct arena *arena)
{
	const char **variables =
		arena_take_array(arena, plugin->n_variables + 2, sizeof(*variables));

	for (size_t i = 0; i < plugin->n_variables; i++)
		variables[i] = arena_format(arena, "%s=%s", plugin->variables[i].name,
					    plugin->variables[i].value);
	variables[plugin->n_variables] = arena_format(arena, INFO_NAME "=%s", question);
	return variables;
}

static const char *text_of_status(const struct json *status, const char *key)
{
	const char *text = json_get_string(status, key, "");

	return *text ? text : NULL;
}

static int check_kind(const struct json *answer, const char *api_version, struct err *err)
{
	const char *version = json_get_string(answer, "apiVersion", "");

	if (!text_equals(json_get_string(answer, "kind", ""), "ExecCredential"))
		return err_set(err, ERR_INVALID, "its output is not an ExecCredential");
	if (!text_equals(version, api_version))
		return err_set(err, ERR_INVALID,
			       "it prints another apiVersion than %s, which was requested",
			       api_version);
	return 0;
}

static int check_status(const struct json *status, struct err *err)
{
	const char *certificate = text_of_status(status, "clientCertificateData");
	const char *key = text_of_status(status, "clientKeyData");

	if (!json_is(status, JSON_OBJECT))
		return err_set(err, ERR_INVALID, "its output has no status");
	if (!certificate != !key)
		return err_set(err, ERR_INVALID, "it prints a certificate or a key, not both");
	if (!certificate && !text_of_status(status, "token"))
		return err_set(err, ERR_INVALID, "it prints neither a token nor a certificate");
	return 0;
}

int kube_plugin_answer_read(const char *bytes, size_t len, const char *api_version,
			    struct kube_credential *ret_credential, msec *ret_end, struct err *err)
{
	struct json *answer CLEANUP(json_cleanup_secret) = NULL;
	msec end = MSEC_NEVER;

	if (json_read(bytes, len, &answer, NULL) < 0)
		return err_set(err, ERR_INVALID, "its output is not JSON");
	const struct json *status = json_get(answer, "status");
	int rc = check_kind(answer, api_version, err);

	if (rc == 0)
		rc = check_status(status, err);
	if (rc < 0)
		return rc;
	const char *expiry = text_of_status(status, "expirationTimestamp");

	if (expiry && text_read_time(expiry, &end, NULL) < 0)
		return err_set(err, ERR_INVALID, "its expirationTimestamp is not a time");
	*ret_credential = (struct kube_credential){
		.token = mem_copy_text(text_of_status(status, "token")),
		.client_certificate =
			mem_copy_text(text_of_status(status, "clientCertificateData")),
		.client_key = mem_copy_text(text_of_status(status, "clientKeyData")),
	};
	*ret_end = end;
	return 0;
}

static int read_plugin_answer(const struct kube_plugin_call *call,
			      const struct program_answer *answer,
			      struct kube_credential *ret_credential, msec *ret_end,
			      struct err *err)
{
	char *sentence CLEANUP(mem_free_text) = NULL;
	struct err fault = {0};

	if (answer->signal)
		sentence = mem_format("it was killed by signal %d", answer->signal);
	else if (answer->exit_code)
		sentence = mem_format("it exited with code %d", answer->exit_code);
	if (sentence)
		return set_plugin_error(call->config, sentence, err);
	if (kube_plugin_answer_read(answer->bytes, answer->len,
				    call->config->user.plugin->api_version, ret_credential, ret_end,
				    &fault) < 0)
		return set_plugin_error(call->config, fault.text, err);
	return 0;
}

static void on_plugin_program_done(const struct program_answer *answer, const struct err *err,
				   void *data)
{
	struct kube_plugin_call *call = data;
	const struct kube_plugin_call ended = *call;
	struct kube_credential credential CLEANUP(kube_credential_done) = {0};
	msec ends_at = MSEC_NEVER;
	struct err fault = {0};
	int rc = answer ? read_plugin_answer(call, answer, &credential, &ends_at, &fault)
			: set_plugin_error(call->config, err->text, &fault);

	free(call);
	ended.done(rc < 0 ? NULL : &credential, ends_at, rc < 0 ? &fault : NULL, ended.data);
}

static int start_plugin_program(struct kube_plugin_call *call, struct loop *loop,
				const char *authority, struct err *err)
{
	const struct kube_plugin *plugin = call->config->user.plugin;
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	bool is_interactive = plugin->interactive != KUBE_INTERACTIVE_NEVER && isatty(STDIN_FILENO);
	char *question CLEANUP(mem_free_text) =
		question_of(call->config, authority, is_interactive);
	char **environment CLEANUP(mem_free_any) =
		own_environment_with(variables_for(plugin, question, arena));
	const struct program_question asked = {
		.program = plugin->command,
		.arguments = (char *const *) plugin->arguments,
		.environment = environment,
		.uses_terminal = is_interactive,
		.limit = ANSWER_LIMIT,
		.time_limit = is_interactive ? TIME_LIMIT_OF_PEOPLE : TIME_LIMIT,
		.done = on_plugin_program_done,
		.data = call,
	};
	struct err fault = {0};

	if (plugin->interactive == KUBE_INTERACTIVE_ALWAYS && !is_interactive)
		return set_plugin_error(call->config,
					"it needs a terminal to ask for input, and there is none",
					err);
	int rc = program_call_new(loop, &asked, &call->program, &fault);

	if (rc == ERR_NOT_FOUND)
		return refuse_missing(call->config, err);
	return rc < 0 ? set_plugin_error(call->config, fault.text, err) : 0;
}

int kube_plugin_call_new(struct loop *loop, const struct kube_config *config, const char *authority,
			 kube_plugin_done_fn done, void *data, struct kube_plugin_call **ret_call,
			 struct err *err)
{
	struct kube_plugin_call *call = mem_new(sizeof(*call));

	*call = (struct kube_plugin_call){.config = config, .done = done, .data = data};
	int rc = start_plugin_program(call, loop, authority, err);

	if (rc < 0)
		free(call);
	else
		*ret_call = call;
	return rc;
}

void kube_plugin_call_cancel(struct kube_plugin_call *call)
{
	if (!call)
		return;
	program_call_cancel(call->program);
	free(call);
}
