#include "unit.h"

#include "base/mem.h"
#include "kube/headers.h"

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

static void a_token_comes_before_a_password(void **state)
{
	struct kube_login *login CLEANUP(kube_login_cleanup) = kube_login_new("https://h");

	(void) state;
	assert_headers(login, (const char *const[]){NULL});
	login->credential.user_name = mem_copy_text("ada");
	login->credential.password = mem_copy_text("p:w");
	assert_headers(login, (const char *const[]){"Authorization: Basic YWRhOnA6dw==", NULL});
	login->credential.token = mem_copy_text("t");
	assert_headers(login, (const char *const[]){"Authorization: Bearer t", NULL});
}

static void whoever_is_impersonated_stands_in_headers(void **state)
{
	struct kube_login *login CLEANUP(kube_login_cleanup) = kube_login_new("https://h");
	struct kube_impersonation *other = &login->impersonation;

	(void) state;
	other->user_name = mem_copy_text("eve");
	other->uid = mem_copy_text("7");
	other->n_groups = 2;
	other->groups = mem_new_array(2, sizeof(*other->groups));
	other->groups[0] = mem_copy_text("one");
	other->groups[1] = mem_copy_text("two");
	other->n_extras = 1;
	other->extras = mem_new_array(1, sizeof(*other->extras));
	other->extras[0].key = mem_copy_text("Example.com/Scope");
	other->extras[0].value = mem_copy_text("View");
	assert_headers(login,
		       (const char *const[]){"Impersonate-User: eve", "Impersonate-Uid: 7",
					     "Impersonate-Group: one", "Impersonate-Group: two",
					     "Impersonate-Extra-example.com%2Fscope: View", NULL});
}

static void a_warning_is_shown_without_its_wrapping(void **state)
{
	char *text CLEANUP(mem_free_text) = kube_warning_text("299 - \"it is \\\"old\\\"\"");

	(void) state;
	assert_string_equal(text, "it is \"old\"");
	assert_null(kube_warning_text("299"));
	assert_null(kube_warning_text("299 - \"\""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_token_comes_before_a_password),
		cmocka_unit_test(whoever_is_impersonated_stands_in_headers),
		cmocka_unit_test(a_warning_is_shown_without_its_wrapping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
