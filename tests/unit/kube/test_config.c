/* Which cluster and user a kubeconfig means, without files around it but those of the test; what
 * kubectl reads is compared in tests/system/test_kubeconfig.py. */
#include "unit.h"

#include "io/file.h"
#include "kube/config.h"
#include "own_folder.h"

#define TWO_CONTEXTS                                                                               \
	"current-context: first\n"                                                                 \
	"clusters:\n"                                                                              \
	"- {name: c, cluster: {server: 'https://10.0.0.1:6443/p?q#f'}}\n"                          \
	"contexts:\n"                                                                              \
	"- {name: first, context: {cluster: c, user: u}}\n"                                        \
	"- {name: second, context: {cluster: c, user: u, namespace: work}}\n"                      \
	"users:\n"                                                                                 \
	"- {name: u, user: {tokenFile: ../token}}\n"

struct scene {
	char folder[OWN_FOLDER_SIZE];
	struct kube_config_search search;
	struct kube_config *config;
	struct text paths;
};

static void begin(struct scene *scene)
{
	own_folder_make(scene->folder);
	scene->search = (struct kube_config_search){.service_account = scene->folder};
}

static void end(struct scene *scene)
{
	kube_config_free(scene->config);
	text_done(&scene->paths);
	own_folder_remove(scene->folder);
}

FIXTURE(struct scene, begin, end)

static void write_file(struct scene *scene, const char *name, const char *content)
{
	char *path CLEANUP(mem_free_text) = mem_format("%s/%s", scene->folder, name);

	assert_int_equal(file_replace(path, content, strlen(content), NULL), 0);
}

/* One more kubeconfig in the list. */
static void add_kubeconfig(struct scene *scene, const char *name, const char *content)
{
	write_file(scene, name, content);
	text_addf(&scene->paths, "%s/%s:", scene->folder, name);
	scene->search.list = text_of(&scene->paths);
}

static void become_pod(struct scene *scene, const char *host)
{
	write_file(scene, "token", "t");
	write_file(scene, "namespace", " of-pod\n");
	scene->search.service_host = host;
	scene->search.service_port = "443";
}

static const struct kube_config *read_config(struct scene *scene)
{
	struct err err = {0};

	kube_config_free(TAKE(scene->config));
	if (kube_config_read(&scene->search, NULL, &scene->config, &err) < 0)
		fail_msg("%s", err.text);
	return scene->config;
}

#define SCENE_TEST(name) TEST_IN(fixture_begin, fixture_end, struct scene *scene, name)

SCENE_TEST(the_current_context_counts_unless_a_call_names_another)
{
	add_kubeconfig(scene, "config", TWO_CONTEXTS);
	assert_string_equal(read_config(scene)->context, "first");
	assert_string_equal(scene->config->namespace_name, "default");
	scene->search.context = "second";
	assert_string_equal(read_config(scene)->context, "second");
	assert_string_equal(scene->config->namespace_name, "work");
	scene->search.namespace_name = "mine";
	assert_string_equal(read_config(scene)->namespace_name, "mine");
}

SCENE_TEST(the_first_file_that_has_a_name_has_all_of_it)
{
	add_kubeconfig(scene, "one", "users: [{name: u, user: {as: eve}}]\n");
	add_kubeconfig(scene, "two", TWO_CONTEXTS);
	assert_string_equal(read_config(scene)->user.as.user_name, "eve");
	assert_null(scene->config->user.token_file);
	assert_string_equal(scene->config->context, "first");
}

SCENE_TEST(paths_begin_at_the_file_that_has_them)
{
	add_kubeconfig(scene, "config", TWO_CONTEXTS);
	assert_string_equal(read_config(scene)->user.token_file, "/tmp/token");
}

SCENE_TEST(a_query_behind_a_server_is_dropped)
{
	add_kubeconfig(scene, "config", TWO_CONTEXTS);
	assert_string_equal(read_config(scene)->cluster.server, "https://10.0.0.1:6443/p");
}

SCENE_TEST(a_pod_without_kubeconfig_is_its_service_account)
{
	become_pod(scene, "10.96.0.1");
	assert_string_equal(read_config(scene)->cluster.server, "https://10.96.0.1:443");
	assert_null(scene->config->context);
	assert_null(scene->config->cluster.authority_file);
	assert_string_equal(scene->config->namespace_name, "of-pod");
	assert_non_null(strstr(scene->config->user.token_file, "/token"));
	become_pod(scene, "fd00::1");
	write_file(scene, "ca.crt", "x");
	scene->search.pod_namespace = "told";
	assert_string_equal(read_config(scene)->cluster.server, "https://[fd00::1]:443");
	assert_non_null(scene->config->cluster.authority_file);
	assert_string_equal(scene->config->namespace_name, "told");
}

SCENE_TEST(a_kubeconfig_in_a_pod_counts_more_but_leaves_it_the_namespace)
{
	become_pod(scene, "10.96.0.1");
	add_kubeconfig(scene, "config", TWO_CONTEXTS);
	assert_string_equal(read_config(scene)->context, "first");
	assert_string_equal(scene->config->namespace_name, "of-pod");
	scene->search.context = "second";
	assert_string_equal(read_config(scene)->namespace_name, "work");
}

SCENE_TEST(a_pod_does_not_stand_in_for_a_context_that_is_named)
{
	struct err err = {0};

	become_pod(scene, "10.96.0.1");
	scene->search.context = "other";
	assert_int_equal(kube_config_read(&scene->search, NULL, &scene->config, &err), ERR_INVALID);
	assert_non_null(strstr(err.text, "'other'"));
}

SCENE_TEST(every_fault_is_counted_in_the_sentence)
{
	struct text faults CLEANUP(text_done) = {0};
	struct err err = {0};

	add_kubeconfig(scene, "config", "kind: Pod\nclusters: 1\nusers: 2\n");
	assert_int_equal(kube_config_read(&scene->search, &faults, &scene->config, &err),
			 ERR_INVALID);
	assert_non_null(strstr(err.text, "/config:1:7: kind: expected Config"));
	assert_non_null(strstr(err.text, "(and 2 more faults)"));
	assert_non_null(strstr(text_of(&faults), "/config:3:8: users: "));
}
