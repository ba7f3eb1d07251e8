#include "unit.h"

#include "base/mem.h"
#include "base/names.h"

TEST(labels_follow_dns_1035)
{
	const char *longest = "a23456789-123456789-123456789-123456789-123456789-123456789-123";

	assert_true(name_is_dns1035_label("a"));
	assert_true(name_is_dns1035_label("my-job-0"));
	assert_true(name_is_dns1035_label(longest));
	assert_false(name_is_dns1035_label("a23456789-123456789-123456789-123456789-123456789-"
					   "123456789-1234"));
	assert_false(name_is_dns1035_label(""));
	assert_false(name_is_dns1035_label(NULL));
	assert_false(name_is_dns1035_label("0a"));
	assert_false(name_is_dns1035_label("-a"));
	assert_false(name_is_dns1035_label("a-"));
	assert_false(name_is_dns1035_label("aB"));
	assert_false(name_is_dns1035_label("a_b"));
	assert_false(name_is_dns1035_label("a.b"));
}

TEST(objects_may_have_digits_first_and_dots)
{
	assert_true(name_is_dns_label("0a"));
	assert_false(name_is_dns_label("0a.b"));
	assert_false(name_is_dns_label(""));
	assert_false(name_is_dns_label(NULL));
	assert_true(name_is_dns_subdomain("0a.b-c.d"));
	assert_false(name_is_dns_subdomain("a..b"));
	assert_false(name_is_dns_subdomain("a.b-"));
	assert_false(name_is_dns_subdomain(".a"));
	assert_false(name_is_dns_subdomain("a_b"));
	assert_false(name_is_dns_subdomain(""));
	char name[DNS_SUBDOMAIN_MAX + 2] = {0};

	memset(name, 'a', DNS_SUBDOMAIN_MAX);
	assert_true(name_is_dns_subdomain(name));
	name[DNS_SUBDOMAIN_MAX] = 'a';
	assert_false(name_is_dns_subdomain(name));
}

TEST(a_uid_can_name_a_folder)
{
	assert_true(name_is_uid("5d0c1f3e-0000-4000-8000-000000000001"));
	assert_false(name_is_uid("5d0c1f3e-0000-4000-8000-00000000000"));
	assert_false(name_is_uid("../../../escaped-0000-0000-000000000"));
	assert_false(name_is_uid(""));
	assert_false(name_is_uid(NULL));
}

TEST(labels_have_keys_and_values)
{
	assert_true(name_is_label_value(""));
	assert_true(name_is_label_value("A_1.b-C"));
	assert_false(name_is_label_value("-a"));
	assert_false(name_is_label_value("a."));
	assert_false(name_is_label_value("a b"));
	assert_false(name_is_label_value("a23456789-123456789-123456789-123456789-123456789-"
					 "123456789-1234"));
	assert_true(name_is_qualified("disk"));
	assert_true(name_is_qualified("nvidia.com/gpu"));
	assert_false(name_is_qualified(""));
	assert_false(name_is_qualified("nvidia.com/"));
	assert_false(name_is_qualified("/gpu"));
	assert_false(name_is_qualified("a/b/c"));
	assert_false(name_is_qualified("Nvidia.com/gpu"));
}

static void assert_made(const char *text, size_t max_len, const char *expected)
{
	char *name CLEANUP(mem_free_text) = name_to_dns1035(text, max_len, "job");

	assert_string_equal(name, expected);
	assert_true(name_is_dns1035_label(name));
}

TEST(any_text_becomes_a_label)
{
	assert_made("Train_MNIST.py", 63, "train-mnist-py");
	assert_made("2nd try!!", 63, "nd-try");
	assert_made("", 63, "job");
	assert_made(NULL, 63, "job");
	assert_made("\xc3\xa9t\xc3\xa9", 63, "t");
	assert_made("abc-def", 4, "abc");
	assert_made("123", 63, "job");
	assert_made("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		    1000, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
}

TEST(environment_names_are_kubernetes_ones)
{
	assert_true(name_is_environment_variable("TF_CONFIG"));
	assert_true(name_is_environment_variable("my.name-1"));
	assert_false(name_is_environment_variable("1A"));
	assert_false(name_is_environment_variable(""));
	assert_false(name_is_environment_variable("A=B"));
	assert_false(name_is_environment_variable("A B"));
}

TEST(words_are_found_and_gaps_passed_over)
{
	static const char *const words[] = {"chief", NULL, "worker", "ps"};

	assert_int_equal(name_find_word(words, 4, "worker"), 2);
	assert_int_equal(name_find_word(words, 4, "Worker"), -1);
	assert_int_equal(name_find_word_ignoring_case(words, 4, "PS"), 3);
	assert_int_equal(name_find_word(words, 4, NULL), -1);
}

TEST(the_nearest_word_is_offered)
{
	static const char *const words[] = {"restartPolicy", NULL, "replicas", "template"};

	assert_string_equal(name_nearest(words, 4, "replcias"), "replicas");
	assert_string_equal(name_nearest(words, 4, "restartpolcy"), "restartPolicy");
	assert_string_equal(name_nearest(words, 4, "RESTART_POLICY"), "restartPolicy");
	assert_null(name_nearest(words, 4, "image"));
	assert_string_equal(name_nearest((const char *const[]){"cpu", "file"}, 2, "cup"), "cpu");
	assert_null(name_nearest((const char *const[]){"cpu", "file"}, 2, "cwd"));
	assert_null(name_nearest((const char *const[]){"cpu", "file"}, 2, "nice"));
	assert_null(name_nearest(words, 4, ""));
	assert_null(name_nearest(words, 4, NULL));
}

static void assert_written(const char *word, const char *expected)
{
	struct text text CLEANUP(text_done) = {0};

	shell_word_add(&text, word);
	assert_string_equal(text_of(&text), expected);
}

TEST(plain_words_stay_as_they_are)
{
	assert_written("--image=a/b:1@sha256,c", "--image=a/b:1@sha256,c");
}

TEST(what_a_shell_would_read_otherwise_is_quoted)
{
	assert_written("", "''");
	assert_written("a b", "'a b'");
	assert_written("worker|a:1;b:2", "'worker|a:1;b:2'");
	assert_written("it's", "'it'\\''s'");
	assert_written("~", "'~'");
	assert_written("$HOME", "'$HOME'");
}
