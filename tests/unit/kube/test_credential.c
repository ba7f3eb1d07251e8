/* Logins of kubeconfigs: from texts, from files that change, from plug-ins that are shell scripts.
 */
#include "unit.h"

#include "io/file.h"
#include "kube/credential.h"
#include "own_folder.h"

#define PEM "-----BEGIN CERTIFICATE-----\\nMA==\\n-----END CERTIFICATE-----\\n"
#define PEM_TEXT "-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n"
#define ENDED_TOKEN "e30.eyJleHAiOjE3MDAwMDAwMDB9.c2ln"
#define EXEC "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never"

struct scene {
	char folder[OWN_FOLDER_SIZE];
	struct loop *loop;
	struct kube_login *login;
	struct err err; /* of opening, or of the last refresh */
	int n_refreshed;
};

static void begin(struct scene *scene)
{
	own_folder_make(scene->folder);
	assert_int_equal(loop_new(&scene->loop, NULL), 0);
}

static void end(struct scene *scene)
{
	kube_login_free(scene->login);
	loop_free(scene->loop);
	own_folder_remove(scene->folder);
}

FIXTURE(struct scene, begin, end)

static char *path_of(const struct scene *scene, const char *name)
{
	return mem_format("%s/%s", scene->folder, name);
}

static void write_file(const struct scene *scene, const char *name, const char *content)
{
	char *path CLEANUP(mem_free_text) = path_of(scene, name);

	assert_int_equal(file_replace(path, content, strlen(content), NULL), 0);
}

/* A script that becomes the plug-in "./plugin". */
static void write_plugin(const struct scene *scene, const char *script)
{
	char *path CLEANUP(mem_free_text) = path_of(scene, "plugin");
	char *whole CLEANUP(mem_free_text) =
		mem_format("#!/bin/sh\ncd %s\n%s\n", scene->folder, script);

	write_file(scene, "plugin", whole);
	assert_int_equal(chmod(path, 0700), 0);
}

static char *read_file(const struct scene *scene, const char *name)
{
	char *path CLEANUP(mem_free_text) = path_of(scene, name);
	char *bytes = NULL;
	size_t len = 0;

	assert_int_equal(file_read_whole(path, 1000000, &bytes, &len, NULL), 0);
	return bytes;
}

/* Opens the login of a kubeconfig with that cluster and user, each in YAML's flow form. */
static int open_login(struct scene *scene, const char *cluster, const char *user)
{
	char *path CLEANUP(mem_free_text) = path_of(scene, "config");
	struct kube_config_search search = {.file = path};
	struct kube_config *config CLEANUP(kube_config_cleanup) = NULL;
	char *text CLEANUP(mem_free_text) =
		mem_format("current-context: c\n"
			   "contexts: [{name: c, context: {cluster: k, user: u}}]\n"
			   "clusters: [{name: k, cluster: {server: 'https://h'%s}}]\n"
			   "users: [{name: u, user: {%s}}]\n",
			   cluster, user);

	write_file(scene, "config", text);
	if (kube_config_read(&search, NULL, &config, &scene->err) < 0)
		fail_msg("%s", scene->err.text);
	kube_login_free(TAKE(scene->login));
	int rc = kube_login_open(scene->loop, config, &scene->login, &scene->err);

	if (rc == 0)
		config = NULL;
	return rc;
}

static void on_refreshed(const struct err *err, void *data)
{
	struct scene *scene = data;

	scene->n_refreshed++;
	scene->err = err ? *err : (struct err){0};
	loop_stop(scene->loop);
}

/* Refreshes and gives the code; a plug-in is waited for. */
static int refresh(struct scene *scene, bool was_refused)
{
	int n_before = scene->n_refreshed;

	scene->login->refresh(scene->login, was_refused, on_refreshed, scene);
	if (scene->n_refreshed == n_before)
		loop_run(scene->loop);
	assert_int_equal(scene->n_refreshed, n_before + 1);
	return scene->err.code;
}

static void assert_says(const struct scene *scene, const char *part)
{
	if (!strstr(scene->err.text, part))
		fail_msg("'%s' is not in '%s'", part, scene->err.text);
}

#define SCENE_TEST(name) TEST_IN(fixture_begin, fixture_end, struct scene *scene, name)

SCENE_TEST(what_stands_in_the_kubeconfig_needs_no_renewal)
{
	assert_int_equal(open_login(scene, ", tls-server-name: name, disable-compression: true",
				    "token: t, as: eve, as-groups: [a, b], "
				    "as-user-extra: {k: [one, two]}"),
			 0);
	assert_string_equal(scene->login->server, "https://h");
	assert_string_equal(scene->login->tls_server_name, "name");
	assert_true(scene->login->skips_compression);
	assert_string_equal(scene->login->credential.token, "t");
	assert_string_equal(scene->login->impersonation.user_name, "eve");
	assert_int_equal(scene->login->impersonation.n_groups, 2);
	assert_string_equal(scene->login->impersonation.extras[1].value, "two");
	assert_null(scene->login->refresh);
	assert_true(scene->login->expires_at == MSEC_NEVER);
}

SCENE_TEST(a_token_file_is_read_again)
{
	write_file(scene, "token", " first\n");
	assert_int_equal(open_login(scene, "", "token: other, tokenFile: token"), 0);
	assert_string_equal(scene->login->credential.token, "first");
	assert_true(instant_since(loop_monotonic_now(), scene->login->refresh_at) <=
		    60 * MSEC_PER_SECOND);
	write_file(scene, "token", "second");
	assert_int_equal(refresh(scene, false), 0);
	assert_string_equal(scene->login->credential.token, "second");
}

SCENE_TEST(a_file_that_is_gone_counts_only_once_the_server_refuses)
{
	char *path CLEANUP(mem_free_text) = path_of(scene, "token");

	write_file(scene, "token", "first");
	assert_int_equal(open_login(scene, "", "tokenFile: token"), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(refresh(scene, false), 0);
	assert_string_equal(scene->login->credential.token, "first");
	assert_int_equal(refresh(scene, true), ERR_INVALID);
	assert_says(scene, "user 'u': file '");
}

SCENE_TEST(certificates_are_read_again_with_the_authority)
{
	write_file(scene, "c", PEM_TEXT);
	assert_int_equal(open_login(scene, ", certificate-authority: c",
				    "client-certificate: c, client-key: c"),
			 0);
	assert_string_equal(scene->login->authority, PEM_TEXT);
	write_file(scene, "c", PEM_TEXT "new");
	assert_int_equal(refresh(scene, false), 0);
	assert_string_equal(scene->login->authority, PEM_TEXT "new");
	assert_string_equal(scene->login->credential.client_certificate, PEM_TEXT "new");
	assert_string_equal(scene->login->credential.client_key, PEM_TEXT "new");
}

SCENE_TEST(files_that_are_not_what_they_should_be_are_told)
{
	write_file(scene, "empty", "\n");
	assert_int_equal(open_login(scene, "", "tokenFile: empty"), ERR_INVALID);
	assert_says(scene, "' contains no token");
	assert_int_equal(open_login(scene, "", "tokenFile: nowhere"), ERR_INVALID);
	assert_says(scene, "nowhere' not found");
	assert_int_equal(open_login(scene, ", certificate-authority: empty", ""), ERR_INVALID);
	assert_says(scene, "cluster 'k': '");
	assert_int_equal(open_login(scene, "", "token: \"hunter2\\nX: y\""), ERR_INVALID);
	assert_says(scene, "control character");
	assert_null(strstr(scene->err.text, "hunter2"));
}

SCENE_TEST(what_has_ended_is_told_before_anybody_is_called)
{
	assert_int_equal(open_login(scene, "", "token: " ENDED_TOKEN), ERR_UNREACHABLE);
	assert_says(scene, "user 'u': the token expired at 2023-11-14T22:13:20Z");
	write_file(scene, "token", ENDED_TOKEN);
	assert_int_equal(open_login(scene, "", "tokenFile: token"), 0); /* it may be replaced */
}

SCENE_TEST(a_plugin_is_asked_when_a_credential_is_needed)
{
	write_plugin(scene,
		     "echo \"$KUBERNETES_EXEC_INFO\" >asked; echo \"$1-$NAME\" >arguments\n"
		     "echo '{\"kind\": \"ExecCredential\","
		     "\"apiVersion\": \"client.authentication.k8s.io/v1\", \"status\": "
		     "{\"token\": \"t\", \"expirationTimestamp\": \"2040-01-01T00:00:00Z\"}}'");
	assert_int_equal(open_login(scene,
				    ", extensions: [{name: client.authentication.k8s.io/exec, "
				    "extension: {audience: a}}]",
				    EXEC
				    ", command: ./plugin, args: [b], provideClusterInfo: true, "
				    "env: [{name: NAME, value: ada}]}"),
			 0);
	assert_null(scene->login->credential.token);
	assert_true(scene->login->expires_at <= loop_now());
	assert_int_equal(refresh(scene, false), 0);
	assert_string_equal(scene->login->credential.token, "t");
	assert_true(scene->login->expires_at == 2208988800 * MSEC_PER_SECOND);

	char *asked CLEANUP(mem_free_text) = read_file(scene, "asked");
	char *arguments CLEANUP(mem_free_text) = read_file(scene, "arguments");

	assert_string_equal(asked, "{\"kind\":\"ExecCredential\","
				   "\"apiVersion\":\"client.authentication.k8s.io/v1\","
				   "\"spec\":{\"cluster\":{\"server\":\"https://h\","
				   "\"config\":{\"audience\":\"a\"}},\"interactive\":false}}\n");
	assert_string_equal(arguments, "b-ada\n");
}

SCENE_TEST(a_plugin_may_give_a_certificate_and_another_one_later)
{
	write_plugin(scene, "echo x >>calls\n"
			    "printf %s '{\"kind\": \"ExecCredential\","
			    "\"apiVersion\": \"client.authentication.k8s.io/v1\", \"status\": "
			    "{\"clientCertificateData\": \"" PEM "'$(wc -l <calls)'\","
			    "\"clientKeyData\": \"" PEM "\"}}'");
	assert_int_equal(open_login(scene, "", EXEC ", command: ./plugin}"), 0);
	assert_int_equal(refresh(scene, false), 0);
	assert_string_equal(scene->login->credential.client_certificate, PEM_TEXT "1");
	assert_true(scene->login->expires_at == MSEC_NEVER);
	assert_int_equal(refresh(scene, true), 0);
	assert_string_equal(scene->login->credential.client_certificate, PEM_TEXT "2");
}

SCENE_TEST(a_plugin_beside_a_token_is_not_asked)
{
	assert_int_equal(open_login(scene, "", "token: t, " EXEC ", command: ./none}"), 0);
	assert_string_equal(scene->login->credential.token, "t");
	assert_null(scene->login->refresh);
}

SCENE_TEST(a_plugin_that_fails_leaves_what_is_there)
{
	write_plugin(scene, "[ -e calls ] && exit 7; touch calls\n"
			    "echo '{\"kind\": \"ExecCredential\","
			    "\"apiVersion\": \"client.authentication.k8s.io/v1\","
			    "\"status\": {\"token\": \"t\"}}'");
	assert_int_equal(open_login(scene, "", EXEC ", command: ./plugin}"), 0);
	assert_int_equal(refresh(scene, false), 0);
	assert_int_equal(refresh(scene, true), ERR_UNREACHABLE);
	assert_says(scene, "/plugin': it exited with code 7");
	assert_string_equal(scene->login->credential.token, "t");
}

SCENE_TEST(a_plugin_that_is_not_installed_gives_its_hint_in_plain_text)
{
	assert_int_equal(open_login(scene, "",
				    EXEC ", command: no-such-plugin, "
					 "installHint: \"\\e[1;31mget\\e[0m\\nit\\e\"}"),
			 0);
	assert_int_equal(refresh(scene, false), ERR_UNREACHABLE);
	assert_string_equal(
		scene->err.text,
		"user 'u': its plug-in 'no-such-plugin': program not found; its hint: get it");
}

SCENE_TEST(a_plugin_that_has_to_ask_needs_a_terminal)
{
	if (isatty(STDIN_FILENO))
		skip();
	assert_int_equal(open_login(scene, "",
				    "exec: {apiVersion: client.authentication.k8s.io/v1, "
				    "interactiveMode: Always, command: cat}"),
			 0);
	assert_int_equal(refresh(scene, false), ERR_UNREACHABLE);
	assert_says(scene, "terminal");
}

SCENE_TEST(a_login_that_goes_takes_its_plugin_along)
{
	write_plugin(scene, "exec sleep 1000");
	assert_int_equal(open_login(scene, "", EXEC ", command: ./plugin}"), 0);
	scene->login->refresh(scene->login, false, on_refreshed, scene);
	kube_login_free(TAKE(scene->login));
	loop_run_ready(scene->loop);
	assert_int_equal(scene->n_refreshed, 0);
}
