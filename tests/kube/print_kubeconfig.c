/* Prints what muster makes of the kubeconfigs of its environment, as kubectl does: the form of
 * `kubectl config view --raw --minify --flatten -o json`, for tests that compare the two.
 *
 *     print_kubeconfig [CONTEXT [FILE]]        "" for either: not said
 *
 * Faults go to stderr, a line each; the exit code is that of muster's commands. */
#include "base/base64.h"
#include "base/json.h"
#include "io/file.h"
#include "kube/config.h"

#include <stdio.h>
#include <string.h>

#define FILE_LIMIT 1048576

static void set_base64(struct json *object, const char *key, const char *bytes, size_t len)
{
	struct text text CLEANUP(text_done) = {0};

	base64_add(&text, bytes, len);
	json_set_string(object, key, text_of(&text));
}

/* What --flatten makes of a file and of data. */
static void set_bytes(struct json *object, const char *key, const char *bytes, const char *path)
{
	char *whole CLEANUP(mem_free_text) = NULL;
	size_t len = 0;
	struct err err = {0};

	if (bytes)
		set_base64(object, key, bytes, strlen(bytes));
	else if (path && file_read_whole(path, FILE_LIMIT, &whole, &len, &err) == 0)
		set_base64(object, key, whole, len);
	else if (path)
		fprintf(stderr, "%s\n", err.text);
}

static void set_flag(struct json *object, const char *key, bool value)
{
	if (value)
		json_set_bool(object, key, true);
}

static struct json *cluster_json(const struct kube_cluster *cluster)
{
	struct json *object = json_new_object();

	json_set_string(object, "server", cluster->server);
	json_set_string(object, "tls-server-name", cluster->tls_server_name);
	json_set_string(object, "proxy-url", cluster->proxy);
	set_flag(object, "insecure-skip-tls-verify", cluster->skips_verify);
	set_flag(object, "disable-compression", cluster->skips_compression);
	set_bytes(object, "certificate-authority-data", cluster->authority,
		  cluster->authority_file);
	return object;
}

static struct json *texts_json(const char *const *texts, size_t count)
{
	struct json *list = json_new_array();

	for (size_t i = 0; i < count; i++)
		json_append(list, json_new_string(texts[i]));
	return list;
}

static struct json *extras_json(const struct kube_user *user)
{
	struct json *map = json_new_object();

	for (size_t i = 0; i < user->as.n_extras; i++) {
		const struct kube_variable *extra = &user->as.extras[i];

		if (!json_get(map, extra->name))
			json_set(map, extra->name, json_new_array());
		json_append(json_get(map, extra->name), json_new_string(extra->value));
	}
	return map;
}

static struct json *plugin_json(const struct kube_plugin *plugin)
{
	static const char *const words[] = {"Never", "IfAvailable", "Always"};
	struct json *object = json_new_object();
	struct json *variables = json_new_array();
	size_t n_arguments = 1; /* after the command */

	while (plugin->arguments[n_arguments])
		n_arguments++;
	for (size_t i = 0; i < plugin->n_variables; i++) {
		struct json *variable = json_new_object();

		json_set_string(variable, "name", plugin->variables[i].name);
		json_set_string(variable, "value", plugin->variables[i].value);
		json_append(variables, variable);
	}
	json_set_string(object, "apiVersion", plugin->api_version);
	json_set_string(object, "command", plugin->command);
	json_set(object, "args", texts_json(plugin->arguments + 1, n_arguments - 1));
	json_set(object, "env", variables);
	json_set_string(object, "installHint", plugin->install_hint);
	json_set_string(object, "interactiveMode", words[plugin->interactive]);
	json_set_bool(object, "provideClusterInfo", plugin->wants_cluster);
	return object;
}

static struct json *user_json(const struct kube_user *user)
{
	struct json *object = json_new_object();

	json_set_string(object, "token", user->token);
	json_set_string(object, "tokenFile", user->token_file);
	json_set_string(object, "username", user->user_name);
	json_set_string(object, "password", user->password);
	json_set_string(object, "as", user->as.user_name);
	json_set_string(object, "as-uid", user->as.uid);
	if (user->as.n_groups > 0)
		json_set(object, "as-groups", texts_json(user->as.groups, user->as.n_groups));
	if (user->as.n_extras > 0)
		json_set(object, "as-user-extra", extras_json(user));
	set_bytes(object, "client-certificate-data", user->certificate, user->certificate_file);
	set_bytes(object, "client-key-data", user->key, user->key_file);
	if (user->plugin)
		json_set(object, "exec", plugin_json(user->plugin));
	return object;
}

static void print(const struct kube_config *config)
{
	struct json *object CLEANUP(json_cleanup) = json_new_object();
	struct text text CLEANUP(text_done) = {0};

	json_set_string(object, "current-context", config->context);
	json_set_string(object, "namespace", config->namespace_name);
	json_set_string(object, "cluster-name", config->cluster.name);
	json_set_string(object, "user-name", config->user.name);
	json_set(object, "cluster", cluster_json(&config->cluster));
	json_set(object, "user", user_json(&config->user));
	json_add_pretty(&text, object);
	fputs(text_of(&text), stdout);
}

int main(int argc, char **argv)
{
	struct kube_config_search search = kube_config_search_here();
	struct kube_config *config CLEANUP(kube_config_cleanup) = NULL;
	struct text faults CLEANUP(text_done) = {0};
	struct err err = {0};

	search.context = argc > 1 ? argv[1] : NULL;
	search.file = argc > 2 ? argv[2] : NULL;
	if (kube_config_read(&search, &faults, &config, &err) < 0) {
		fprintf(stderr, "%s", faults.len > 0 ? text_of(&faults) : err.text);
		return err.code == ERR_INVALID ? 2 : 3;
	}
	print(config);
	return 0;
}
