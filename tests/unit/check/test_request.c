#include "unit.h"

#include "base/text.h"
#include "check/request.h"

static struct check_server read_one(const char *text, struct arena *arena)
{
	struct text faults CLEANUP(text_done) = {0};
	size_t count;
	struct check_server *servers = check_servers_read(text, arena, "", &faults, &count);

	assert_int_equal(count, 1);
	return servers[0];
}

TEST(an_address_has_a_host_and_a_port)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct check_server server = read_one("grpc://db7:2222", arena);

	assert_string_equal(server.url, "grpc://db7:2222");
	assert_string_equal(server.place, "db7:2222");
	assert_string_equal(server.host, "db7");
	assert_int_equal(server.port, 2222);
	assert_string_equal(read_one("10.0.0.7:1", arena).url, "grpc://10.0.0.7:1");
}

TEST(brackets_stand_around_an_ipv6_address)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct check_server server = read_one("grpc://[fe80::1]:65535", arena);

	assert_string_equal(server.place, "[fe80::1]:65535");
	assert_string_equal(server.host, "fe80::1");
	assert_int_equal(server.port, 65535);
}

TEST(what_is_no_address_is_refused)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	static const char *const wrong[] = {
		"grpc://",   "db7",          "db7:",         ":2222", "db7:0",
		"db7:65536", "db7:port",     "fe80::1:2",    "[]:1",  "http://a:1",
		"[a:1",      "grpc://a/b:1", "grpc://a b:1", "a]:1",
	};

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		struct text faults CLEANUP(text_done) = {0};
		size_t count;
		const struct check_server *servers =
			check_servers_read(wrong[i], arena, "", &faults, &count);

		assert_non_null(servers);
		assert_int_equal(count, 0);
		assert_non_null(strstr(text_of(&faults), "grpc://host:2222"));
	}
}

TEST(of_a_list_each_server_counts_once_and_each_fault_is_told)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct text faults CLEANUP(text_done) = {0};
	size_t count;
	const struct check_server *servers =
		check_servers_read("grpc://a:1,,db7,b:2,a:1,", arena, "here: ", &faults, &count);

	assert_int_equal(count, 2);
	assert_string_equal(servers[0].url, "grpc://a:1");
	assert_string_equal(servers[1].url, "grpc://b:2");
	assert_true(text_starts_with(text_of(&faults), "here: 'db7' is not an address"));
	assert_ptr_equal(strchr(text_of(&faults), '\n'), text_of(&faults) + faults.len - 1);
}
