#include "unit.h"

#include "base/mem.h"
#include "kube/login.h"

TEST(a_login_begins_with_what_kubectl_takes_when_nothing_is_said)
{
	struct kube_login *login CLEANUP(kube_login_cleanup) =
		kube_login_new("https://10.0.0.1:6443/prefix//");

	assert_string_equal(login->server, "https://10.0.0.1:6443/prefix");
	assert_string_equal(login->namespace_name, "default");
	assert_true(login->expires_at == MSEC_NEVER);
	assert_null(login->refresh);
	assert_null(login->credential.token);
	assert_false(login->skips_verify);
}

TEST(a_new_credential_takes_the_place_of_the_whole_old_one)
{
	struct kube_login *login CLEANUP(kube_login_cleanup) = kube_login_new("https://here");
	const struct kube_credential first = {
		.user_name = mem_copy_text("ada"),
		.password = mem_copy_text("secret"),
	};
	const struct kube_credential second = {.token = mem_copy_text("token")};

	kube_credential_replace(&login->credential, first);
	kube_credential_replace(&login->credential, second);
	assert_string_equal(login->credential.token, "token");
	assert_null(login->credential.user_name);
	assert_null(login->credential.password);
}

static void free_counter(void *source)
{
	++*(int *) source;
}

TEST(what_refreshes_a_credential_is_freed_with_the_login)
{
	struct kube_login *login = kube_login_new("https://here");
	int n_freed = 0;

	login->source = &n_freed;
	login->free_source = free_counter;
	kube_login_free(login);
	kube_login_free(NULL);
	assert_int_equal(n_freed, 1);
}

static void assert_headers(const struct kube_login *login, const char *const *expected)
{
	struct kube_headers headers CLEANUP(kube_headers_done) = {0};
	size_t i = 0;

	kube_headers_add_login(&headers, login);
	for (; expected[i]; i++)
		assert_string_equal(headers.lines[i], expected[i]);
	assert_int_equal(headers.n_lines, i);
	assert_true(!headers.lines || !headers.lines[i]);
}

TEST(a_token_comes_before_a_password)
{
	struct kube_login *login CLEANUP(kube_login_cleanup) = kube_login_new("https://h");

	assert_headers(login, (const char *const[]){NULL});
	login->credential.user_name = mem_copy_text("ada");
	login->credential.password = mem_copy_text("p:w");
	assert_headers(login, (const char *const[]){"Authorization: Basic YWRhOnA6dw==", NULL});
	login->credential.token = mem_copy_text("t");
	assert_headers(login, (const char *const[]){"Authorization: Bearer t", NULL});
}

TEST(whoever_is_impersonated_stands_in_headers)
{
	struct kube_login *login CLEANUP(kube_login_cleanup) = kube_login_new("https://h");
	const char *const groups[] = {"one", "two"};
	const struct kube_variable extra = {"Example.com/Scope", "View"};

	login->impersonation = (struct kube_impersonation){
		.user_name = "eve",
		.uid = "7",
		.groups = groups,
		.n_groups = 2,
		.extras = &extra,
		.n_extras = 1,
	};
	assert_headers(login,
		       (const char *const[]){"Impersonate-User: eve", "Impersonate-Uid: 7",
					     "Impersonate-Group: one", "Impersonate-Group: two",
					     "Impersonate-Extra-example.com%2Fscope: View", NULL});
}
