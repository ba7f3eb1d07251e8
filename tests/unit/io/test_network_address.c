#include "unit.h"

#include "io/network_address.h"

TEST(every_loopback_address_is_this_machine)
{
	static const char *const hosts[] = {"localhost", "127.0.0.1", "127.1.2.3"};

	for (size_t i = 0; i < ARRAY_LEN(hosts); i++)
		assert_int_equal(own_host_check(hosts[i], NULL), 0);
}

/* 192.0.2.0/24 and 2001:db8::/32 are for documentation: nobody has them (RFC 5737, RFC 3849). */
TEST(an_address_of_nobody_here_is_another_machines)
{
	static const char *const hosts[] = {"192.0.2.1", "2001:db8::1"};

	for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
		struct err err = {0};

		assert_int_equal(own_host_check(hosts[i], &err), ERR_REFUSED);
		assert_non_null(strstr(err.text, hosts[i]));
	}
}

/* No resolver is asked for it: a name has no blank in it. */
TEST(a_name_that_nobody_knows_is_told_as_such)
{
	struct err err = {0};

	assert_int_equal(own_host_check("no name", &err), ERR_NOT_FOUND);
	assert_non_null(strstr(err.text, "cannot resolve host 'no name'"));
}

TEST(an_address_of_this_machine_leads_to_its_interface)
{
	char *interface = own_host_interface_towards("127.0.0.1");

	assert_string_equal(interface, "lo");
	free(interface);
	assert_null(own_host_interface_towards("localhost"));
}
