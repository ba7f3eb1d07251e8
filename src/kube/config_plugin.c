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

static const char *command_of(const struct kube_config_entry *exec, struct arena *arena)
{
	const char *command = kube_config_text(exec, arena, "command");

	if (!command)
		kube_config_refuse(exec, NULL, "expected a command");
	else if (strchr(command, '/'))
		command = kube_config_path(arena, exec->file->folder, command);
	return command;
}

static const char *version_of(const struct kube_config_entry *exec, struct arena *arena)
{
	const char *version = kube_config_text(exec, arena, "apiVersion");

	if (!version || name_find_word(versions, ARRAY_LEN(versions), version) < 0)
		kube_config_refuse(exec, version ? "apiVersion" : NULL,
				   "expected apiVersion: %s or %s", versions[0], versions[1]);
	return version;
}

/* v1 demands it; before that there was a default. */
static enum kube_interactive interactive_of(const struct kube_config_entry *exec,
					    struct arena *arena, const char *version)
{
	const char *word = kube_config_text(exec, arena, "interactiveMode");
	int found = name_find_word(interactive_words, ARRAY_LEN(interactive_words), word);

	if (found < 0 && (word || text_equals(version, versions[0])))
		kube_config_refuse(exec, word ? "interactiveMode" : NULL,
				   "expected interactiveMode: Never, IfAvailable or Always");
	return found < 0 ? KUBE_INTERACTIVE_IF_AVAILABLE : (enum kube_interactive) found;
}

static void resolve_variables(const struct kube_config_entry *exec, struct arena *arena,
			      struct kube_plugin *plugin)
{
	struct field list = field_member(&exec->value, "env");
	size_t count = field_count(&exec->file->reader, &list);
	struct kube_variable *variables = arena_take_array(arena, count + 1, sizeof(*variables));

	for (size_t i = 0; i < count; i++) {
		struct kube_config_entry variable = {.file = exec->file,
						     .value = field_element(&list, i)};
		const char *name = kube_config_text(&variable, arena, "name");
		const char *value = kube_config_text(&variable, arena, "value");

		if (!name || strchr(name, '='))
			kube_config_refuse(&variable, NULL,
					   "each variable needs a name, without '='");
		variables[i] = (struct kube_variable){name, value ? value : ""};
	}
	plugin->variables = variables;
	plugin->n_variables = count;
}

const struct kube_plugin *kube_config_resolve_plugin(const struct kube_config_entry *user,
						     struct arena *arena)
{
	const struct kube_config_entry exec = {.file = user->file,
					       .value = field_member(&user->value, "exec")};
	struct field arguments = field_member(&exec.value, "args");
	size_t n_arguments;

	if (!field_is_object(&user->file->reader, &exec.value))
		return NULL;
	struct kube_plugin *plugin = arena_take(arena, sizeof(*plugin));
	const char *version = version_of(&exec, arena);

	*plugin = (struct kube_plugin){
		.command = command_of(&exec, arena),
		.arguments = kube_config_texts(&exec, arena, &arguments, &n_arguments),
		.api_version = version,
		.install_hint = kube_config_text(&exec, arena, "installHint"),
		.interactive = interactive_of(&exec, arena, version),
		.wants_cluster = kube_config_flag(&exec, "provideClusterInfo"),
	};
	resolve_variables(&exec, arena, plugin);
	return plugin;
}

const char *kube_config_resolve_cluster_settings(const struct kube_config_entry *cluster,
						 struct arena *arena)
{
	const struct json *list = json_get(cluster->value.value, "extensions");
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
