/* The sources for renewing a login: files that change, or a plug-in. */
#include "kube/credential.h"

#include "io/file.h"
#include "kube/plugin_call.h"

/* Secrets that were read are overwritten unless they are passed on. */
#define FILE_SIZE_LIMIT ((size_t) 1024 * 1024)
#define PEM_BEGINNING "-----BEGIN "

static int read_token_file(const char *path, char **ret_token, struct err *err)
{
	char *bytes CLEANUP(mem_free_secret) = NULL;
	size_t len = 0;
	int rc = file_read_whole(path, FILE_SIZE_LIMIT, &bytes, &len, err);

	if (rc < 0)
		return rc;
	const char *first = bytes + strspn(bytes, " \t\r\n");

	len = strlen(first);
	while (len > 0 && strchr(" \t\r\n", first[len - 1]))
		len--;
	if (len == 0)
		return err_set(err, ERR_INVALID, "'%s' contains no token", path);
	*ret_token = mem_copy_bytes(first, len);
	return 0;
}

/* The file wins over the inline token, which is used only if the file is unreadable (client-go's
 * bearerAuthRoundTripper). */
static int read_user_token(const struct kube_user *user, char **ret_token, struct err *err)
{
	char *token CLEANUP(mem_free_secret) = NULL;
	int rc = 0;

	if (user->token_file)
		rc = read_token_file(user->token_file, &token, err);
	if (!token && user->token) {
		token = mem_copy_text(user->token);
		rc = 0;
	}
	if (rc < 0)
		return rc;
	/* A line end would split the header in two. */
	for (const char *at = token; at && *at; at++)
		if ((unsigned char) *at < ' ' || *at == '\x7f')
			return err_set(
				err, ERR_INVALID,
				"its token contains a line break or another control character");
	*ret_token = TAKE(token);
	return 0;
}

static int read_pem(const char *text, const char *path, char **ret_pem, struct err *err)
{
	char *bytes CLEANUP(mem_free_secret) = NULL;
	size_t len = 0;

	if (text)
		bytes = mem_copy_text(text);
	else if (!path)
		return 0;
	else if (file_read_whole(path, FILE_SIZE_LIMIT, &bytes, &len, err) < 0)
		return ERR_INVALID;
	if (!strstr(bytes, PEM_BEGINNING))
		return err_set(err, ERR_INVALID, "'%s' contains no PEM text (" PEM_BEGINNING "…)",
			       path ? path : "the kubeconfig");
	*ret_pem = TAKE(bytes);
	return 0;
}

static int read_parts(const struct kube_config *config, struct kube_credential *credential,
		      struct err *err)
{
	const struct kube_user *user = &config->user;
	int rc = read_user_token(user, &credential->token, err);

	if (rc == 0)
		rc = read_pem(user->certificate, user->certificate_file,
			      &credential->client_certificate, err);
	if (rc == 0)
		rc = read_pem(user->key, user->key_file, &credential->client_key, err);
	credential->user_name = mem_copy_text(user->user_name);
	credential->password = mem_copy_text(user->password);
	return rc;
}

/* client-go's interval for token files: a minute, less a leeway of 10 seconds. */
#define FILES_ARE_GOOD_FOR (50 * MSEC_PER_SECOND)
#define PLUGIN_PATIENCE (5 * MSEC_PER_SECOND)

struct source {
	struct kube_config *config;
	struct loop *loop;
	struct kube_login *login;
	struct kube_plugin_call *plugin; /* running; NULL: none */
	struct loop_watch *patience; /* for the plug-in; NULL: none is running */
	kube_refreshed_fn done; /* of the caller that waits for it */
	void *done_data;
};

static void free_source(void *data)
{
	struct source *source = data;

	kube_plugin_call_cancel(source->plugin);
	loop_watch_free(source->patience);
	kube_config_free(source->config);
	free(source);
}

/* client-go runs a plug-in only if nothing else fills the Authorization header. */
bool kube_user_needs_plugin(const struct kube_user *user)
{
	return user->plugin && !user->token && !user->token_file && !user->user_name &&
	       !user->password;
}

/* Reads the config and the files that it names: the credential, except a plug-in's, and the
 * cluster's authority. Returns ERR_INVALID with the user and the file, and changes nothing then. */
static int read_files(struct source *source, struct err *err)
{
	const struct kube_config *config = source->config;
	struct kube_credential credential CLEANUP(kube_credential_done) = {0};
	char *authority CLEANUP(mem_free_text) = NULL;

	if (read_parts(config, &credential, err) < 0) {
		if (err)
			err->code = ERR_INVALID;
		if (config->user.name)
			err_prefix(err, "user '%s'", config->user.name);
		return ERR_INVALID;
	}
	if (read_pem(config->cluster.authority, config->cluster.authority_file, &authority, err) <
	    0) {
		if (config->cluster.name)
			err_prefix(err, "cluster '%s'", config->cluster.name);
		return ERR_INVALID;
	}
	kube_credential_replace(&source->login->credential, credential);
	credential = (struct kube_credential){0};
	free(source->login->authority);
	source->login->authority = TAKE(authority);
	return 0;
}

/* If a file is unreadable now, the old credential stays valid, unless the server rejected it. */
static void refresh_from_files(struct kube_login *login, bool was_refused, kube_refreshed_fn done,
			       void *done_data)
{
	struct err err = {0};
	int rc = read_files(login->source, &err);

	login->refresh_at = loop_instant_after(FILES_ARE_GOOD_FOR);
	done(rc < 0 && was_refused ? &err : NULL, done_data);
}

/* The plug-in's credential; a certificate of the kubeconfig is kept, as in client-go. */
static void accept_plugin_credential(struct source *source, struct kube_credential *answer)
{
	struct kube_credential *kept = &source->login->credential;
	struct kube_credential credential = *answer;

	*answer = (struct kube_credential){0};
	if (source->config->user.certificate || source->config->user.certificate_file) {
		mem_free_secret(&credential.client_certificate);
		mem_free_secret(&credential.client_key);
		credential.client_certificate = TAKE(kept->client_certificate);
		credential.client_key = TAKE(kept->client_key);
	}
	kube_credential_replace(kept, credential);
}

static void on_plugin_done(struct kube_credential *credential, msec end, const struct err *err,
			   void *data)
{
	struct source *source = data;

	source->plugin = NULL;
	loop_watch_free(TAKE(source->patience));
	if (credential) {
		accept_plugin_credential(source, credential);
		source->login->expires_at = end;
	}
	source->done(err, source->done_data);
}

/* The plug-in may wait for the user or for a server, which the waiting caller cannot see. */
static void on_slow_login_plugin(void *data)
{
	const struct source *source = data;
	const struct kube_login *login = source->login;
	const struct kube_user *user = &source->config->user;
	char *sentence CLEANUP(mem_free_text) = mem_format(
		"waiting for login plug-in '%s' of user '%s', which has not answered for %d s",
		user->plugin->command, user->name, (int) (PLUGIN_PATIENCE / MSEC_PER_SECOND));

	if (login->on_warning)
		login->on_warning(sentence, login->on_warning_data);
}

static void refresh_from_plugin(struct kube_login *login, bool was_refused, kube_refreshed_fn done,
				void *done_data)
{
	struct source *source = login->source;
	struct err err = {0};

	(void) was_refused;
	source->done = done;
	source->done_data = done_data;
	if (kube_plugin_call_new(source->loop, source->config, login->authority, on_plugin_done,
				 source, &source->plugin, &err) < 0) {
		done(&err, done_data);
		return;
	}
	source->patience = loop_new_timer(source->loop, on_slow_login_plugin, source);
	loop_timer_arm_after(source->patience, PLUGIN_PATIENCE);
}

static void arrange_renewal(struct kube_login *login, const struct kube_config *config)
{
	const struct kube_user *user = &config->user;
	bool has_files = user->token_file || user->certificate_file || user->key_file ||
			 config->cluster.authority_file;

	if (kube_user_needs_plugin(user)) {
		login->refresh = refresh_from_plugin;
		login->expires_at = MSEC_UNSET;
	} else if (has_files) { /* which may change */
		login->refresh = refresh_from_files;
		login->refresh_at = loop_instant_after(FILES_ARE_GOOD_FOR);
	}
}

static struct kube_login *login_of(const struct kube_config *config)
{
	const struct kube_cluster *cluster = &config->cluster;
	struct kube_login *login = kube_login_new(cluster->server);

	free(login->namespace_name);
	login->namespace_name = mem_copy_text(config->namespace_name);
	login->tls_server_name = mem_copy_text(cluster->tls_server_name);
	login->skips_verify = cluster->skips_verify;
	login->skips_compression = cluster->skips_compression;
	login->proxy = mem_copy_text(cluster->proxy);
	login->impersonation = config->user.as;
	return login;
}

static int refuse_ended(const struct kube_config *config, const char *what, msec end,
			struct err *err)
{
	struct text when CLEANUP(text_done) = {0};

	text_add_time(&when, end);
	return err_set(
		err, ERR_UNREACHABLE,
		"user '%s': the %s expired at %s; log in again, or ask the cluster's administrator",
		config->user.name, what, text_of(&when));
}

/* Checks a credential that is never renewed. A token's file is rewritten: the server judges it. */
static int check_end(const struct kube_config *config, const struct kube_credential *credential,
		     struct err *err)
{
	msec certificate_end = kube_certificate_end(credential->client_certificate);
	msec token_end = kube_token_end(credential->token);
	msec now = loop_now();

	if (certificate_end < now)
		return refuse_ended(config, "client certificate", certificate_end, err);
	if (token_end < now && !config->user.token_file)
		return refuse_ended(config, "token", token_end, err);
	return 0;
}

int kube_login_open(struct loop *loop, struct kube_config *take_config,
		    struct kube_login **ret_login, struct err *err)
{
	struct kube_login *login CLEANUP(kube_login_cleanup) = login_of(take_config);
	struct source source = {.config = take_config, .loop = loop, .login = login};
	int rc = read_files(&source, err);

	if (rc == 0)
		rc = check_end(take_config, &login->credential, err);
	if (rc < 0)
		return rc;
	arrange_renewal(login, take_config);
	login->source = mem_new(sizeof(source));
	memcpy(login->source, &source, sizeof(source));
	login->free_source = free_source;
	*ret_login = TAKE(login);
	return 0;
}
