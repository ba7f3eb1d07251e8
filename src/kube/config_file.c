/* Finds clusters, users and contexts in a kubeconfig file, and reads their fields. */
#include "kube/config_file.h"

#include "base/base64.h"
#include "base/names.h"

#include <stdio.h>
#include <strings.h>
#include <unistd.h>

#define PEM_BEGINNING "-----BEGIN "

/* Paths, as filepath.Clean and filepath.Join build them from absolute directories. */

static void leave_folder(struct text *path)
{
	const char *slash = strrchr(text_of(path), '/');

	text_shorten(path, slash ? (size_t) (slash - path->bytes) : 0);
}

static void add_parts(struct text *path, const char *parts)
{
	while (*parts) {
		size_t len = strcspn(parts, "/");

		if (len == 2 && memcmp(parts, "..", 2) == 0) {
			leave_folder(path);
		} else if (len > 0 && !(len == 1 && *parts == '.')) {
			text_add_char(path, '/');
			text_add_bytes(path, parts, len);
		}
		parts += len;
		parts += *parts == '/';
	}
}

/* Returns the path if it is absolute, else the path below the folder, in the arena. "." and ".."
 * are resolved by name alone, as Go's filepath.Join and so kubectl do. */
static const char *kube_config_path(struct arena *arena, const char *folder, const char *path)
{
	struct text joined CLEANUP(text_done) = {0};

	if (*path == '/')
		return arena_copy_text(arena, path);
	add_parts(&joined, folder);
	add_parts(&joined, path);
	return arena_copy_text(arena, joined.len > 0 ? text_of(&joined) : "/");
}

char *kube_config_folder(const char *file)
{
	struct text folder CLEANUP(text_done) = {0};
	char *here CLEANUP(mem_free_text) = getcwd(NULL, 0);

	if (*file != '/')
		add_parts(&folder, here ? here : "/");
	add_parts(&folder, file);
	leave_folder(&folder);
	return mem_copy_text(folder.len > 0 ? text_of(&folder) : "/");
}

static const struct {
	const char *list, *member;
} lists[] = {
	[KUBE_CONFIG_CLUSTERS] = {"clusters", "cluster"},
	[KUBE_CONFIG_USERS] = {"users", "user"},
	[KUBE_CONFIG_CONTEXTS] = {"contexts", "context"},
};

/* A text that the YAML or JSON reader quotes may be a secret: `token: *abc` is an anchor to it. */
static void hide_quoted(char *sentence)
{
	char *first = strchr(sentence, '\'');
	char *last = strrchr(sentence, '\'');

	if (first && last > first + 1) {
		memset(first + 1, '.', 1);
		memmove(first + 2, last, strlen(last) + 1);
	}
}

static void refuse_other_word(struct kube_config_file *file, const char *key, const char *word,
			      const char *sentence)
{
	struct field field = field_member(&file->root, key);
	const char *text = field_text(&file->reader, &field, "");

	if (*text && !text_equals(text, word))
		field_refuse(&file->reader, &field, "%s", sentence);
}

/* Adds a fault if the file is no kubeconfig. */
static void check_root(struct kube_config_file *file)
{
	struct field current = field_member(&file->root, "current-context");

	if (!json_is(file->root.value, JSON_OBJECT)) {
		field_refuse(&file->reader, &file->root,
			     "expected a kubeconfig: a map with clusters, users and contexts");
		return;
	}
	refuse_other_word(file, "kind", "Config", "expected Config; this is not a kubeconfig");
	refuse_other_word(file, "apiVersion", "v1",
			  "expected v1, the only version of a kubeconfig");
	field_text(&file->reader, &current, "");
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		struct field list = field_member(&file->root, lists[i].list);

		field_count(&file->reader, &list);
	}
}

struct kube_config_file *kube_config_file_new(const char *path, const char *folder,
					      const char *bytes, size_t len)
{
	struct kube_config_file *file = mem_new(sizeof(*file));
	struct err err = {0};

	file->path = mem_copy_text(path);
	file->folder = mem_copy_text(folder);
	file->reader = (struct field_reader){.faults = &file->faults, .hides_values = true};
	if (documents_read(bytes, len, &file->documents, &file->n_documents, &err) < 0) {
		hide_quoted(err.text);
		fault_add(&file->faults, (struct place){0}, "", "%s", err.text);
	} else if (file->n_documents > 0) {
		file->reader.document = file->documents[0];
		file->root.value = document_root(file->documents[0]);
		check_root(file);
	}
	return file;
}

void kube_config_file_free(struct kube_config_file *file)
{
	if (!file)
		return;
	faults_done(&file->faults);
	documents_free_secret(file->documents, file->n_documents);
	free(file->folder);
	free(file->path);
	free(file);
}

void kube_config_file_find(struct kube_config_file *file, enum kube_config_list list,
			   const char *name, struct arena *arena,
			   struct kube_config_entry *ret_entry)
{
	struct kube_config_entry *entry = ret_entry;

	*entry = (struct kube_config_entry){.arena = arena,
					    .list = field_member(&file->root, lists[list].list)};
	for (size_t i = 0; i < json_count(entry->list.value); i++) {
		entry->item = field_element(&entry->list, i);
		if (!text_equals(json_get_string(entry->item.value, "name", ""), name))
			continue;
		entry->file = file;
		entry->value = field_member(&entry->item, lists[list].member);
		if (field_is_set(&entry->value))
			field_is_object(&file->reader, &entry->value);
		return;
	}
}

const char *kube_config_text(const struct kube_config_entry *entry, const char *key)
{
	struct field field = field_member(&entry->value, key);
	const char *text = field_text(&entry->file->reader, &field, "");

	return *text ? arena_copy_text(entry->arena, text) : NULL;
}

static bool kube_config_flag(const struct kube_config_entry *entry, const char *key)
{
	struct field field = field_member(&entry->value, key);

	return field_bool(&entry->file->reader, &field, false);
}

/* The list of texts, after `first` unless that is NULL; it ends with NULL. */
static const char **kube_config_texts(const struct kube_config_entry *entry, const char *first,
				      const struct field *list, size_t *ret_count)
{
	size_t count = field_count(&entry->file->reader, list), n_before = first != NULL;
	const char **texts = arena_take_array(entry->arena, count + 2, sizeof(*texts));

	texts[0] = first;
	for (size_t i = 0; i < count; i++) {
		struct field item = field_element(list, i);

		texts[n_before + i] =
			arena_copy_text(entry->arena, field_text(&entry->file->reader, &item, ""));
	}
	*ret_count = count;
	return texts;
}

void kube_config_refuse(const struct kube_config_entry *entry, const char *key, const char *format,
			...)
{
	char sentence[ERR_TEXT_SIZE];
	struct field member = field_member(&entry->value, key ? key : "");
	va_list values;

	va_start(values, format);
	vsnprintf(sentence, sizeof(sentence), format, values);
	va_end(values);
	field_refuse(&entry->file->reader, key ? &member : &entry->value, "%s", sentence);
}

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

static const char *plugin_command_of(const struct kube_config_entry *exec)
{
	const char *command = kube_config_text(exec, "command");

	if (!command)
		kube_config_refuse(exec, NULL, "expected a command");
	else if (strchr(command, '/'))
		command = kube_config_path(exec->arena, exec->file->folder, command);
	return command;
}

/* v1 requires the field; earlier versions had a default. */
static enum kube_interactive interactive_of(const struct kube_config_entry *exec,
					    const char *version)
{
	const char *word = kube_config_text(exec, "interactiveMode");
	int found = name_find_word(interactive_words, ARRAY_LEN(interactive_words), word);

	if (found < 0 && (word || text_equals(version, versions[0])))
		kube_config_refuse(exec, word ? "interactiveMode" : NULL,
				   "expected interactiveMode: Never, IfAvailable or Always");
	return found < 0 ? KUBE_INTERACTIVE_IF_AVAILABLE : (enum kube_interactive) found;
}

static void resolve_variables(const struct kube_config_entry *exec, struct kube_plugin *plugin)
{
	struct field list = field_member(&exec->value, "env");
	size_t count = field_count(&exec->file->reader, &list);
	struct kube_variable *variables =
		arena_take_array(exec->arena, count + 1, sizeof(*variables));

	for (size_t i = 0; i < count; i++) {
		struct kube_config_entry variable = {
			.file = exec->file, .arena = exec->arena, .value = field_element(&list, i)};
		const char *name = kube_config_text(&variable, "name");
		const char *value = kube_config_text(&variable, "value");

		if (!name || strchr(name, '='))
			kube_config_refuse(&variable, NULL,
					   "each variable needs a name, without '='");
		variables[i] = (struct kube_variable){name, value ? value : ""};
	}
	plugin->variables = variables;
	plugin->n_variables = count;
}

static const struct kube_plugin *kube_config_resolve_plugin(const struct kube_config_entry *user)
{
	const struct kube_config_entry exec = {.file = user->file,
					       .arena = user->arena,
					       .value = field_member(&user->value, "exec")};
	struct field arguments = field_member(&exec.value, "args");
	size_t n_arguments;

	if (!field_is_object(&user->file->reader, &exec.value))
		return NULL;
	struct kube_plugin *plugin = arena_take(user->arena, sizeof(*plugin));
	const char *version = kube_config_text(&exec, "apiVersion");
	const char *command = plugin_command_of(&exec);

	*plugin = (struct kube_plugin){
		.command = command,
		.arguments = kube_config_texts(&exec, command, &arguments, &n_arguments),
		.api_version = version,
		.install_hint = kube_config_text(&exec, "installHint"),
		.interactive = interactive_of(&exec, version),
		.wants_cluster = kube_config_flag(&exec, "provideClusterInfo"),
	};
	if (!version || name_find_word(versions, ARRAY_LEN(versions), version) < 0)
		kube_config_refuse(&exec, version ? "apiVersion" : NULL,
				   "expected apiVersion: %s or %s", versions[0], versions[1]);
	resolve_variables(&exec, plugin);
	return plugin;
}

static const char *kube_config_resolve_cluster_settings(const struct kube_config_entry *cluster)
{
	const struct json *list = json_get(cluster->value.value, "extensions");
	struct text text CLEANUP(text_done) = {0};

	for (size_t i = 0; i < json_count(list); i++) {
		const struct json *item = json_at(list, i);
		const struct json *extension = json_get(item, "extension");

		if (!extension || !text_equals(json_get_string(item, "name", ""), EXTENSION))
			continue;
		json_add_compact(&text, extension);
		return arena_copy_text(cluster->arena, text_of(&text));
	}
	return NULL;
}

static const char *kubeconfig_path_of(const struct kube_config_entry *entry, const char *field)
{
	const char *path = kube_config_text(entry, field);

	return path ? kube_config_path(entry->arena, entry->file->folder, path) : NULL;
}

static const char *pem_of(const struct kube_config_entry *entry, const char *field)
{
	const char *text = kube_config_text(entry, field);
	char *bytes CLEANUP(mem_free_text) = NULL;
	size_t len = 0;
	struct err err = {0};

	if (!text)
		return NULL;
	if (base64_read(text, strlen(text), &bytes, &len, &err) < 0) {
		kube_config_refuse(entry, field, "%s", err.text);
		return NULL;
	}
	const char *pem = arena_copy_text(entry->arena, bytes);

	if (memchr(bytes, '\0', len) || !strstr(pem, PEM_BEGINNING))
		kube_config_refuse(entry, field,
				   "expected PEM texts (" PEM_BEGINNING "…) in base64");
	explicit_bzero(bytes, len);
	return pem;
}

/* Reads a field with two forms: inline bytes, or a file's name. client-go documents that inline
 * data wins, but rejects entries with both. True if there is either. */
static bool read_twofold(const struct kube_config_entry *entry, const char *data_field,
			 const char *path_field, const char **ret_bytes, const char **ret_path)
{
	*ret_bytes = pem_of(entry, data_field);
	*ret_path = kubeconfig_path_of(entry, path_field);
	if (*ret_bytes && *ret_path)
		kube_config_refuse(entry, path_field, "%s is set too; keep only one", data_field);
	return *ret_bytes || *ret_path;
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

/* A server without a scheme is http without a path (rest.DefaultServerURL). A query is dropped. */
static const char *server_of(const struct kube_config_entry *entry)
{
	const char *said = kube_config_text(entry, "server"), *text = said ? said : "";
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
	return arena_format(entry->arena, "%s://%.*s", is_https ? "https" : "http", len, host);
}

void kube_config_resolve_cluster(const struct kube_config_entry *entry,
				 struct kube_cluster *ret_cluster)
{
	const char *authority, *authority_file;
	bool has_authority = read_twofold(entry, "certificate-authority-data",
					  "certificate-authority", &authority, &authority_file);
	const char *server = server_of(entry);
	const char *proxy = kube_config_text(entry, "proxy-url");
	bool is_secure = kube_server_is_secure(server);

	*ret_cluster = (struct kube_cluster){
		.name = ret_cluster->name,
		.server = server,
		.tls_server_name = kube_config_text(entry, "tls-server-name"),
		.authority = is_secure ? authority : NULL,
		.authority_file = is_secure ? authority_file : NULL,
		.proxy = proxy,
		.plugin_settings = kube_config_resolve_cluster_settings(entry),
		.skips_verify = kube_config_flag(entry, "insecure-skip-tls-verify"),
		.skips_compression = kube_config_flag(entry, "disable-compression"),
	};
	if (proxy && !has_scheme(proxy, "http") && !has_scheme(proxy, "https") &&
	    !has_scheme(proxy, "socks5"))
		kube_config_refuse(entry, "proxy-url", "expected http://, https:// or socks5://");
	if (is_secure && has_authority && ret_cluster->skips_verify)
		kube_config_refuse(entry, "insecure-skip-tls-verify",
				   "cannot be used with a certificate authority; keep one of them");
}

static void resolve_extras(const struct kube_config_entry *entry, struct kube_user *user)
{
	struct field map = field_member(&entry->value, "as-user-extra");
	struct kube_variable *extras = NULL;
	const char *key = NULL;
	struct json *value;
	size_t count = 0, n_values;

	field_is_object(&entry->file->reader, &map);
	while (json_next(map.value, &key, &value))
		count += json_count(value);
	extras = arena_take_array(entry->arena, count + 1, sizeof(*extras));
	for (key = NULL; json_next(map.value, &key, &value);) {
		struct field list = field_map_entry(&map, key);
		const char **values = kube_config_texts(entry, NULL, &list, &n_values);

		for (size_t i = 0; i < n_values; i++)
			extras[user->as.n_extras++] = (struct kube_variable){
				arena_copy_text(entry->arena, key), values[i]};
	}
	user->as.extras = extras;
}

static void resolve_impersonation(const struct kube_config_entry *entry, struct kube_user *user)
{
	struct field groups = field_member(&entry->value, "as-groups");

	user->as.user_name = kube_config_text(entry, "as");
	user->as.uid = kube_config_text(entry, "as-uid");
	user->as.groups = kube_config_texts(entry, NULL, &groups, &user->as.n_groups);
	resolve_extras(entry, user);
	if (!user->as.user_name && (user->as.uid || user->as.n_groups > 0 || user->as.n_extras > 0))
		kube_config_refuse(
			entry, NULL,
			"as-uid, as-groups and as-user-extra need 'as', the user to impersonate");
}

static void resolve_certificate(const struct kube_config_entry *entry, struct kube_user *user)
{
	bool has_certificate = read_twofold(entry, "client-certificate-data", "client-certificate",
					    &user->certificate, &user->certificate_file);
	bool has_key =
		read_twofold(entry, "client-key-data", "client-key", &user->key, &user->key_file);

	if (!has_certificate)
		user->key = user->key_file = NULL; /* a key without a certificate is ignored */
	else if (!has_key)
		kube_config_refuse(
			entry, user->certificate ? "client-certificate-data" : "client-certificate",
			"a certificate needs its key: client-key-data or client-key");
}

/* Kubernetes 1.26 removed these login methods; OpenID Connect is left, which plug-ins do, too. */
static void refuse_provider(const struct kube_config_entry *entry)
{
	const struct json *provider = json_get(entry->value.value, "auth-provider");
	const char *name = json_get_string(provider, "name", "");
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

void kube_config_resolve_user(const struct kube_config_entry *entry, struct kube_user *ret_user)
{
	*ret_user = (struct kube_user){
		.name = ret_user->name,
		.token = kube_config_text(entry, "token"),
		.token_file = kubeconfig_path_of(entry, "tokenFile"),
		.user_name = kube_config_text(entry, "username"),
		.password = kube_config_text(entry, "password"),
	};
	resolve_certificate(entry, ret_user);
	resolve_impersonation(entry, ret_user);
	refuse_provider(entry);
	ret_user->plugin = kube_config_resolve_plugin(entry);
	bool has_token = ret_user->token || ret_user->token_file;

	if (has_token && (ret_user->user_name || ret_user->password))
		kube_config_refuse(
			entry, "username",
			"a token is set as well as a user name and password; keep only one");
}
