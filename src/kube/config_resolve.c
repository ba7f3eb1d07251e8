/* Reads the fields of a cluster and of a user. */
#include "base/base64.h"
#include "base/names.h"
#include "base/text.h"
#include "kube/config_file.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PEM_BEGINNING "-----BEGIN "

/* The `exec` of a user; kube/plugin_call.h runs it. */

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

static const char *plugin_command_of(const struct kube_config_entry *exec, struct arena *arena)
{
	const char *command = kube_config_text(exec, arena, "command");

	if (!command)
		kube_config_refuse(exec, NULL, "expected a command");
	else if (strchr(command, '/'))
		command = kube_config_path(arena, exec->file->folder, command);
	return command;
}

static const char *plugin_api_version_of(const struct kube_config_entry *exec, struct arena *arena)
{
	const char *version = kube_config_text(exec, arena, "apiVersion");

	if (!version || name_find_word(versions, ARRAY_LEN(versions), version) < 0)
		kube_config_refuse(exec, version ? "apiVersion" : NULL,
				   "expected apiVersion: %s or %s", versions[0], versions[1]);
	return version;
}

/* v1 requires the field; earlier versions had a default. */
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

static const struct kube_plugin *kube_config_resolve_plugin(const struct kube_config_entry *user,
							    struct arena *arena)
{
	const struct kube_config_entry exec = {.file = user->file,
					       .value = field_member(&user->value, "exec")};
	struct field arguments = field_member(&exec.value, "args");
	size_t n_arguments;

	if (!field_is_object(&user->file->reader, &exec.value))
		return NULL;
	struct kube_plugin *plugin = arena_take(arena, sizeof(*plugin));
	const char *version = plugin_api_version_of(&exec, arena);

	*plugin = (struct kube_plugin){
		.command = plugin_command_of(&exec, arena),
		.arguments = kube_config_texts(&exec, arena, &arguments, &n_arguments),
		.api_version = version,
		.install_hint = kube_config_text(&exec, arena, "installHint"),
		.interactive = interactive_of(&exec, arena, version),
		.wants_cluster = kube_config_flag(&exec, "provideClusterInfo"),
	};
	resolve_variables(&exec, arena, plugin);
	return plugin;
}

static const char *kube_config_resolve_cluster_settings(const struct kube_config_entry *cluster,
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

/* A field with two forms in an entry: inline bytes or a file's name. */
struct twofold {
	const char *data_field, *path_field;
	const char *bytes, *path;
};

static const char *kubeconfig_path_of(const struct kube_config_entry *entry, struct arena *arena,
				      const char *field)
{
	const char *path = kube_config_text(entry, arena, field);

	return path ? kube_config_path(arena, entry->file->folder, path) : NULL;
}

static const char *pem_of(const struct kube_config_entry *entry, struct arena *arena,
			  const char *field)
{
	const char *text = kube_config_text(entry, arena, field);
	char *bytes CLEANUP(mem_free_text) = NULL;
	size_t len = 0;
	struct err err = {0};

	if (!text)
		return NULL;
	if (base64_read(text, strlen(text), &bytes, &len, &err) < 0) {
		kube_config_refuse(entry, field, "%s", err.text);
		return NULL;
	}
	const char *pem = arena_copy_text(arena, bytes);

	if (memchr(bytes, '\0', len) || !strstr(pem, PEM_BEGINNING))
		kube_config_refuse(entry, field,
				   "expected PEM texts (" PEM_BEGINNING "…) in base64");
	explicit_bzero(bytes, len);
	return pem;
}

/* client-go documents that inline data wins, but rejects entries with both. */
static struct twofold twofold_of(const struct kube_config_entry *entry, struct arena *arena,
				 const char *data_field, const char *path_field)
{
	struct twofold twofold = {
		.data_field = data_field,
		.path_field = path_field,
		.bytes = pem_of(entry, arena, data_field),
		.path = kubeconfig_path_of(entry, arena, path_field),
	};

	if (twofold.bytes && twofold.path)
		kube_config_refuse(entry, path_field, "%s is set too; keep only one", data_field);
	return twofold;
}

static bool has(struct twofold twofold)
{
	return twofold.bytes || twofold.path;
}

bool kube_server_is_secure(const char *server)
{
	return strncmp(server, "https://", strlen("https://")) == 0;
}

/* The length of "SCHEME" when the text begins with "SCHEME://"; else 0. */
static size_t scheme_length(const char *url)
{
	const char *end = strstr(url, "://");

	return end && end == url + strcspn(url, ":/?#") ? (size_t) (end - url) : 0;
}

static bool has_scheme(const char *url, const char *scheme)
{
	return scheme_length(url) == strlen(scheme) &&
	       strncasecmp(url, scheme, strlen(scheme)) == 0;
}

/* A server without a scheme is http without a path (rest.DefaultServerURL). Query and fragment are
 * dropped. */
static const char *server_of(const struct kube_config_entry *entry, struct arena *arena)
{
	const char *said = kube_config_text(entry, arena, "server"), *text = said ? said : "";
	bool is_https = has_scheme(text, "https");
	size_t scheme = scheme_length(text);
	const char *host = scheme > 0 ? text + scheme + strlen("://") : text;
	int len = (int) strcspn(host, "?#");
	size_t host_len = strcspn(host, "/?#");

	if (!*text)
		kube_config_refuse(entry, NULL, "it has no server");
	else if (scheme > 0 && !is_https && !has_scheme(text, "http"))
		kube_config_refuse(entry, "server", "expected https:// or http://");
	else if (host_len == 0 || text[strcspn(text, " \t\r\n")] != '\0')
		kube_config_refuse(entry, "server", "expected https://HOST:PORT");
	else if (memchr(host, '@', host_len))
		kube_config_refuse(
			entry, "server",
			"it must not contain a user name or password; set them in a user entry");
	else if (scheme == 0 && strlen(host + host_len) > 1)
		kube_config_refuse(entry, "server",
				   "expected https:// before a server with a path");
	return arena_format(arena, "%s://%.*s", is_https ? "https" : "http", len, host);
}

static const char *proxy_of(const struct kube_config_entry *entry, struct arena *arena)
{
	const char *proxy = kube_config_text(entry, arena, "proxy-url");

	if (proxy && !has_scheme(proxy, "http") && !has_scheme(proxy, "https") &&
	    !has_scheme(proxy, "socks5"))
		kube_config_refuse(entry, "proxy-url", "expected http://, https:// or socks5://");
	return proxy;
}

void kube_config_resolve_cluster(const struct kube_config_entry *entry, struct arena *arena,
				 struct kube_cluster *ret_cluster)
{
	struct twofold authority =
		twofold_of(entry, arena, "certificate-authority-data", "certificate-authority");
	const char *server = server_of(entry, arena);
	bool is_secure = kube_server_is_secure(server);
	const char *name = ret_cluster->name;

	*ret_cluster = (struct kube_cluster){
		.name = name,
		.server = server,
		.tls_server_name = kube_config_text(entry, arena, "tls-server-name"),
		.authority = is_secure ? authority.bytes : NULL,
		.authority_file = is_secure ? authority.path : NULL,
		.proxy = proxy_of(entry, arena),
		.plugin_settings = kube_config_resolve_cluster_settings(entry, arena),
		.skips_verify = kube_config_flag(entry, "insecure-skip-tls-verify"),
		.skips_compression = kube_config_flag(entry, "disable-compression"),
	};
	if (is_secure && has(authority) && ret_cluster->skips_verify)
		kube_config_refuse(entry, "insecure-skip-tls-verify",
				   "cannot be used with a certificate authority; keep one of them");
}

static void resolve_extras(const struct kube_config_entry *entry, struct arena *arena,
			   struct kube_user *user)
{
	struct field map = field_member(&entry->value, "as-user-extra");
	struct kube_variable *extras = NULL;
	const char *key = NULL;
	struct json *value;
	size_t count = 0, n_values;

	field_is_object(&entry->file->reader, &map);
	while (json_next(map.value, &key, &value))
		count += json_count(value);
	extras = arena_take_array(arena, count + 1, sizeof(*extras));
	for (key = NULL; json_next(map.value, &key, &value);) {
		struct field list = field_map_entry(&map, key);
		const char **values = kube_config_texts(entry, arena, &list, &n_values);

		for (size_t i = 0; i < n_values; i++)
			extras[user->as.n_extras++] =
				(struct kube_variable){arena_copy_text(arena, key), values[i]};
	}
	user->as.extras = extras;
}

static void resolve_impersonation(const struct kube_config_entry *entry, struct arena *arena,
				  struct kube_user *user)
{
	struct field groups = field_member(&entry->value, "as-groups");

	user->as.user_name = kube_config_text(entry, arena, "as");
	user->as.uid = kube_config_text(entry, arena, "as-uid");
	user->as.groups = kube_config_texts(entry, arena, &groups, &user->as.n_groups);
	resolve_extras(entry, arena, user);
	if (!user->as.user_name && (user->as.uid || user->as.n_groups > 0 || user->as.n_extras > 0))
		kube_config_refuse(
			entry, NULL,
			"as-uid, as-groups and as-user-extra need 'as', the user to impersonate");
}

static void resolve_certificate(const struct kube_config_entry *entry, struct arena *arena,
				struct kube_user *user)
{
	struct twofold certificate =
		twofold_of(entry, arena, "client-certificate-data", "client-certificate");
	struct twofold key = twofold_of(entry, arena, "client-key-data", "client-key");

	if (!has(certificate))
		return; /* a key without a certificate is ignored */
	if (!has(key))
		kube_config_refuse(
			entry, certificate.bytes ? certificate.data_field : certificate.path_field,
			"a certificate needs its key: client-key-data or client-key");
	user->certificate = certificate.bytes;
	user->certificate_file = certificate.path;
	user->key = key.bytes;
	user->key_file = key.path;
}

/* Kubernetes 1.26 removed these login methods; only OpenID Connect is left, which plug-ins do as
 * well. */
static void refuse_provider(const struct kube_config_entry *entry)
{
	const struct json *provider = json_get(entry->value.value, "auth-provider");
	const char *name = json_as_string(json_get(provider, "name"), "");
	const char *instead = text_equals(name, "gcp")     ? ": gke-gcloud-auth-plugin"
			      : text_equals(name, "azure") ? ": kubelogin"
			      : text_equals(name, "oidc")  ? ": kubectl oidc-login"
							   : "";

	if (json_is(provider, JSON_OBJECT))
		kube_config_refuse(
			entry, "auth-provider",
			"this login method was removed from Kubernetes; use an exec plug-in%s",
			instead);
}

void kube_config_resolve_user(const struct kube_config_entry *entry, struct arena *arena,
			      struct kube_user *ret_user)
{
	const char *name = ret_user->name;

	*ret_user = (struct kube_user){
		.name = name,
		.token = kube_config_text(entry, arena, "token"),
		.token_file = kubeconfig_path_of(entry, arena, "tokenFile"),
		.user_name = kube_config_text(entry, arena, "username"),
		.password = kube_config_text(entry, arena, "password"),
	};
	resolve_certificate(entry, arena, ret_user);
	resolve_impersonation(entry, arena, ret_user);
	refuse_provider(entry);
	ret_user->plugin = kube_config_resolve_plugin(entry, arena);
	bool has_token = ret_user->token || ret_user->token_file;

	if (has_token && (ret_user->user_name || ret_user->password))
		kube_config_refuse(
			entry, "username",
			"a token is set as well as a user name and password; keep only one");
}
