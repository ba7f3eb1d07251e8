/* Reduces the kubeconfig files to one of their contexts, or to a Pod's service account. */
#include "io/file.h"
#include "kube/config.h"
#include "kube/config_file.h"

#include <stdlib.h>
#include <string.h>

/* The state of one kube_config_read. */
struct reading {
	const struct kube_config_search *search;
	/* --kubeconfig, KUBECONFIG, ~/.kube/config (client-go's loader.go). */
	struct kube_config_file *files[KUBE_CONFIG_FILES_LIMIT];
	size_t n_files;
	struct text tried; /* the paths that were tried, for messages */
	struct kube_config *config;
};

#define FILE_OF_HOME "/.kube/config"

/* An unreadable kubeconfig is an invalid file, whatever the reason; it may be missing unless
 * must_exist is set. */
static int read_kubeconfig_file(struct reading *reading, const char *path, bool must_exist,
				struct err *err)
{
	char *bytes CLEANUP(mem_free_text) = NULL;
	char *folder CLEANUP(mem_free_text) = NULL;
	size_t len = 0;

	text_addf(&reading->tried, "%s%s", reading->tried.len > 0 ? ", " : "", path);
	for (size_t i = 0; i < reading->n_files; i++)
		if (text_equals(reading->files[i]->path, path))
			return 0;
	if (reading->n_files == KUBE_CONFIG_FILES_LIMIT)
		return err_set(err, ERR_INVALID, "kubeconfig: more than %d kubeconfig files",
			       KUBE_CONFIG_FILES_LIMIT);
	int rc = file_read_whole(path, KUBE_CONFIG_SIZE_LIMIT, &bytes, &len, err);

	if (rc == ERR_NOT_FOUND && !must_exist)
		return 0;
	if (rc < 0) {
		if (err)
			err->code = ERR_INVALID;
		err_prefix(err, "kubeconfig");
		return ERR_INVALID;
	}
	folder = kube_config_folder(path);
	reading->files[reading->n_files++] = kube_config_file_new(path, folder, bytes, len);
	explicit_bzero(bytes, len);
	return 0;
}

static int read_kubeconfig_list(struct reading *reading, const char *list, struct err *err)
{
	int rc = 0;

	while (*list && rc == 0) {
		size_t len = strcspn(list, ":");
		char *path CLEANUP(mem_free_text) = mem_copy_bytes(list, len);

		if (len > 0)
			rc = read_kubeconfig_file(reading, path, false, err);
		list += len;
		list += *list == ':';
	}
	return rc;
}

/* Finds and reads the files of the search; malformed ones have faults. Returns ERR_INVALID if the
 * file of an option does not exist, a file is unreadable, or there are too many. */
static int read_kubeconfig_files(struct reading *reading, struct err *err)
{
	const struct kube_config_search *search = reading->search;

	if (search->file && *search->file)
		return read_kubeconfig_file(reading, search->file, true, err);
	if (search->list && *search->list)
		return read_kubeconfig_list(reading, search->list, err);
	if (!search->home || !*search->home)
		return 0;
	char *path CLEANUP(mem_free_text) = mem_format("%s" FILE_OF_HOME, search->home);

	return read_kubeconfig_file(reading, path, false, err);
}

/* Returns ERR_INVALID if any file has faults, with the first; `faults` (may be NULL) gets each. */
static int check_kube_config_faults(struct reading *reading, struct text *faults, struct err *err)
{
	struct text all CLEANUP(text_done) = {0};
	size_t count = 0;

	for (size_t i = 0; i < reading->n_files; i++) {
		struct kube_config_file *file = reading->files[i];

		faults_sort(&file->faults, 0);
		faults_describe(&file->faults, file->path, &all);
		count += file->faults.count + file->faults.n_more;
	}
	if (count == 0)
		return 0;
	if (faults)
		text_add_bytes(faults, all.bytes, all.len);
	int len = (int) strcspn(text_of(&all), "\n");

	if (count == 1)
		return err_set(err, ERR_INVALID, "%.*s", len, text_of(&all));
	return err_set(err, ERR_INVALID, "%.*s (and %zu more fault%s)", len, text_of(&all),
		       count - 1, count == 2 ? "" : "s");
}

/* The current context of the first file that sets one. */
static const char *current_context(const struct reading *reading)
{
	const char *text = "";

	for (size_t i = 0; i < reading->n_files && !*text; i++)
		text = json_get_string(reading->files[i]->root.value, "current-context", "");
	return *text ? text : NULL;
}

static void find_kubeconfig_entry(const struct reading *reading, enum kube_config_list list,
				  const char *name, struct kube_config_entry *ret_entry)
{
	ret_entry->file = NULL;
	for (size_t i = 0; name && i < reading->n_files && !ret_entry->file; i++)
		kube_config_file_find(reading->files[i], list, name, reading->config->arena,
				      ret_entry);
}

#define SERVICE_ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount"
#define DEFAULT_NAMESPACE "default"
#define NAMESPACE_SIZE_LIMIT 4096

struct kube_config_search kube_config_search_here(void)
{
	return (struct kube_config_search){
		.list = getenv("KUBECONFIG"),
		.home = getenv("HOME"),
		.service_host = getenv("KUBERNETES_SERVICE_HOST"),
		.service_port = getenv("KUBERNETES_SERVICE_PORT"),
		.service_account = SERVICE_ACCOUNT,
		.pod_namespace = getenv("POD_NAMESPACE"),
	};
}

static bool is_said(const char *text)
{
	return text && *text;
}

void kube_config_free(struct kube_config *config)
{
	if (!config)
		return;
	arena_free_secret(config->arena);
	free(config);
}

void kube_config_cleanup(struct kube_config **config)
{
	kube_config_free(*config);
}

static void free_kubeconfig_reading(struct reading *reading)
{
	for (size_t i = 0; i < reading->n_files; i++)
		kube_config_file_free(reading->files[i]);
	text_done(&reading->tried);
	kube_config_free(reading->config);
}

static const char *path_of_account(struct reading *reading, const char *name)
{
	return arena_format(reading->config->arena, "%s/%s", reading->search->service_account,
			    name);
}

/* client-go's inClusterClientConfig.Possible. */
static bool is_in_pod(struct reading *reading)
{
	const struct kube_config_search *search = reading->search;

	return is_said(search->service_host) && is_said(search->service_port) &&
	       is_said(search->service_account) &&
	       access(path_of_account(reading, "token"), F_OK) == 0;
}

static const char *namespace_of_pod(struct reading *reading)
{
	char *bytes CLEANUP(mem_free_text) = NULL;
	size_t len = 0;

	if (is_said(reading->search->pod_namespace))
		return arena_copy_text(reading->config->arena, reading->search->pod_namespace);
	if (file_read_whole(path_of_account(reading, "namespace"), NAMESPACE_SIZE_LIMIT, &bytes,
			    &len, NULL) < 0)
		return DEFAULT_NAMESPACE;
	const char *first = bytes + strspn(bytes, " \t\r\n");

	len = strcspn(first, " \t\r\n");
	return len > 0 ? arena_format(reading->config->arena, "%.*s", (int) len, first)
		       : DEFAULT_NAMESPACE;
}

static const char *namespace_for(struct reading *reading, const char *of_context)
{
	if (is_said(reading->search->namespace_name))
		return arena_copy_text(reading->config->arena, reading->search->namespace_name);
	if (of_context)
		return of_context;
	return is_in_pod(reading) ? namespace_of_pod(reading) : DEFAULT_NAMESPACE;
}

static void use_service_account(struct reading *reading)
{
	const struct kube_config_search *search = reading->search;
	struct kube_config *config = reading->config;
	bool is_ipv6 = strchr(search->service_host, ':') != NULL;
	const char *authority = path_of_account(reading, "ca.crt");

	config->cluster = (struct kube_cluster){
		.server = arena_format(config->arena, "https://%s%s%s:%s", is_ipv6 ? "[" : "",
				       search->service_host, is_ipv6 ? "]" : "",
				       search->service_port),
		.authority_file = access(authority, F_OK) == 0 ? authority : NULL,
	};
	config->user = (struct kube_user){.token_file = path_of_account(reading, "token")};
	config->namespace_name = namespace_for(reading, NULL);
}

static void add_names_of_contexts(const struct reading *reading, struct text *text)
{
	for (size_t i = 0; i < reading->n_files; i++) {
		const struct json *list = json_get(reading->files[i]->root.value, "contexts");

		for (size_t j = 0; j < json_count(list) && text->len < ERR_TEXT_SIZE; j++)
			text_addf(text, "%s%s", text->len > 0 ? ", " : "",
				  json_get_string(json_at(list, j), "name", ""));
	}
}

/* No context is selected, or the selected one does not exist. */
static int refuse_choice(const struct reading *reading, const char *context, struct err *err)
{
	const char *tried = reading->tried.len > 0 ? text_of(&reading->tried) : "HOME is not set";
	struct text names CLEANUP(text_done) = {0};

	add_names_of_contexts(reading, &names);
	if (context && names.len > 0)
		return err_set(err, ERR_INVALID,
			       "context '%s' not found in the kubeconfig (contexts: %s)", context,
			       text_of(&names));
	if (context)
		return err_set(err, ERR_INVALID, "context '%s' is in no kubeconfig; looked for: %s",
			       context, tried);
	if (names.len > 0)
		return err_set(err, ERR_INVALID,
			       "no current context (contexts: %s); choose one: kubectl config "
			       "use-context NAME",
			       text_of(&names));
	if (reading->n_files > 0)
		return err_set(err, ERR_UNREACHABLE,
			       "no cluster: the kubeconfig names no current context (%s)", tried);
	return err_set(err, ERR_UNREACHABLE, "no cluster: no kubeconfig found (looked for: %s)",
		       tried);
}

static void use_context(struct reading *reading, const struct kube_config_entry *context)
{
	struct kube_config *config = reading->config;
	struct kube_config_entry entry;

	config->namespace_name = namespace_for(reading, kube_config_text(context, "namespace"));
	config->cluster.name = kube_config_text(context, "cluster");
	find_kubeconfig_entry(reading, KUBE_CONFIG_CLUSTERS, config->cluster.name, &entry);
	if (!config->cluster.name)
		kube_config_refuse(context, NULL, "it names no cluster");
	else if (!entry.file)
		kube_config_refuse(context, "cluster", "no kubeconfig defines this cluster");
	else
		kube_config_resolve_cluster(&entry, &config->cluster);
	config->user.name = kube_config_text(context, "user"); /* NULL: anonymous */
	find_kubeconfig_entry(reading, KUBE_CONFIG_USERS, config->user.name, &entry);
	if (entry.file)
		kube_config_resolve_user(&entry, &config->user);
	else if (config->user.name)
		kube_config_refuse(context, "user", "no kubeconfig defines this user");
	/* Without TLS client-go never sends a credential (client_config.go, ClientConfig). */
	if (config->cluster.server && !kube_server_is_secure(config->cluster.server))
		config->user = (struct kube_user){.name = config->user.name, .as = config->user.as};
}

static int choose(struct reading *reading, struct err *err)
{
	const char *name = is_said(reading->search->context) ? reading->search->context
							     : current_context(reading);
	struct kube_config_entry context;

	find_kubeconfig_entry(reading, KUBE_CONFIG_CONTEXTS, name, &context);
	if (!context.file && !name && is_in_pod(reading)) {
		use_service_account(reading);
		return 0;
	}
	if (!context.file)
		return refuse_choice(reading, name, err);
	reading->config->context = arena_copy_text(reading->config->arena, name);
	use_context(reading, &context);
	return 0;
}

int kube_config_read(const struct kube_config_search *search, struct text *faults,
		     struct kube_config **ret_config, struct err *err)
{
	struct reading reading CLEANUP(free_kubeconfig_reading) = {.search = search};
	int rc = read_kubeconfig_files(&reading, err);

	reading.config = mem_new(sizeof(*reading.config));
	reading.config->arena = arena_new();
	if (rc == 0)
		rc = check_kube_config_faults(&reading, faults, err);
	if (rc == 0) {
		int chosen = choose(&reading, err);

		rc = check_kube_config_faults(&reading, faults, err);
		rc = rc ? rc : chosen;
	}
	if (rc == 0)
		*ret_config = TAKE(reading.config);
	return rc;
}
