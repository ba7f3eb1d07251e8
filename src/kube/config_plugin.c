/* The `exec` of a user in a kubeconfig. What kube/plugin_call.h runs. */
#include "base/names.h"
#include "base/text.h"
#include "kube/config_path.h"
#include "kube/config_resolve.h"

#include <string.h>

#define EXTENSION "client.authentication.k8s.io/exec"

static const char *const interactive_words[] = {
	[KUBE_INTERACTIVE_NEVER] = "Never",
	[KUBE_INTERACTIVE_IF_AVAILABLE] = "IfAvailable",
	[KUBE_INTERACTIVE_ALWAYS] = "Always",
};

static const char *const versions[] = {
	"client.authentication.k8s.io/v1",
	"client.authentication.k8s.io/v1beta1",
};

static const char *text_of_plugin(const struct json *exec, struct arena *arena, const char *key)
{
	const char *text = json_as_string(json_get(exec, key), "");

	return *text ? arena_copy_text(arena, text) : NULL;
}

static const char *command_of(const struct kube_config_entry *user, const struct json *exec,
			      struct arena *arena)
{
	const char *command = text_of_plugin(exec, arena, "command");

	if (!command)
		kube_config_entry_refuse(user, "exec", "expected a command");
	else if (strchr(command, '/'))
		command = kube_config_path(arena, user->file->folder, command);
	return command;
}

static const char *version_of(const struct kube_config_entry *user, const struct json *exec,
			      struct arena *arena)
{
	const char *version = text_of_plugin(exec, arena, "apiVersion");

	if (!version || name_find_word(versions, ARRAY_LEN(versions), version) < 0)
		kube_config_entry_refuse(user, version ? "exec.apiVersion" : "exec",
					 "expected apiVersion: %s or %s", versions[0], versions[1]);
	return version;
}

/* v1 demands it; before that there was a default. */
static enum kube_interactive interactive_of(const struct kube_config_entry *user,
					    const struct json *exec, const char *version)
{
	const char *word = json_as_string(json_get(exec, "interactiveMode"), "");
	int found = name_find_word(interactive_words, ARRAY_LEN(interactive_words), word);

	if (found < 0 && (*word || text_equals(version, versions[0])))
		kube_config_entry_refuse(user, *word ? "exec.interactiveMode" : "exec",
					 "expected interactiveMode: Never, IfAvailable or Always");
	return found < 0 ? KUBE_INTERACTIVE_IF_AVAILABLE : (enum kube_interactive) found;
}

static const char *const *arguments_of(const struct json *exec, struct arena *arena)
{
	const struct json *list = json_get(exec, "args");
	size_t count = json_count(list);
	const char **arguments = arena_take_array(arena, count + 1, sizeof(*arguments));

	for (size_t i = 0; i < count; i++)
		arguments[i] = arena_copy_text(arena, json_as_string(json_at(list, i), ""));
	return arguments;
}

static void resolve_variables(const struct kube_config_entry *user, const struct json *exec,
			      struct arena *arena, struct kube_plugin *plugin)
{
	const struct json *list = json_get(exec, "env");
	size_t count = json_count(list);
	struct kube_variable *variables = arena_take_array(arena, count + 1, sizeof(*variables));

	for (size_t i = 0; i < count; i++) {
		const struct json *item = json_at(list, i);
		const char *name = json_as_string(json_get(item, "name"), "");
		const char *value = json_as_string(json_get(item, "value"), "");

		if (!*name || strchr(name, '='))
			kube_config_entry_refuse(user, "exec.env",
						 "each variable needs a name, without '='");
		variables[i] = (struct kube_variable){arena_copy_text(arena, name),
						      arena_copy_text(arena, value)};
	}
	plugin->variables = variables;
	plugin->n_variables = count;
}

const struct kube_plugin *kube_config_resolve_plugin(const struct kube_config_entry *user,
						     struct arena *arena)
{
	const struct json *exec = json_get(user->value, "exec");

	if (!json_is(exec, JSON_OBJECT))
		return NULL;
	struct kube_plugin *plugin = arena_take(arena, sizeof(*plugin));
	const char *version = version_of(user, exec, arena);

	*plugin = (struct kube_plugin){
		.command = command_of(user, exec, arena),
		.arguments = arguments_of(exec, arena),
		.api_version = version,
		.install_hint = text_of_plugin(exec, arena, "installHint"),
		.interactive = interactive_of(user, exec, version),
		.wants_cluster = json_as_bool(json_get(exec, "provideClusterInfo"), false),
	};
	resolve_variables(user, exec, arena, plugin);
	return plugin;
}

const char *kube_config_resolve_cluster_settings(const struct kube_config_entry *cluster,
						 struct arena *arena)
{
	const struct json *list = json_get(cluster->value, "extensions");
	struct text text CLEANUP(text_done) = {0};

	for (size_t i = 0; i < json_count(list); i++) {
		const struct json *item = json_at(list, i);
		const struct json *extension = json_get(item, "extension");

		if (!extension ||
		    !text_equals(json_as_string(json_get(item, "name"), ""), EXTENSION))
			continue;
		json_add_compact(&text, extension);
		return arena_copy_text(arena, text_of(&text));
	}
	return NULL;
}
