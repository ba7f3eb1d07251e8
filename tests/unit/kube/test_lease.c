/* What a Lease says, and how it is written. */
#include "unit_json.h"

#include "kube/lease.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* 2026-01-02T03:04:05.678Z */
#define NOW ((msec) 1767323045678)

/* As the server gives it back. */
static struct json *lease_held_by(const char *holder)
{
	struct job job = {.name = "digits", .name_space = "team", .uid = "1234"};
	struct json *object = kube_lease_new("digits.job", &job, holder, NOW);
	struct json *metadata = json_object_at(object, "metadata");

	json_set_string(metadata, "resourceVersion", "42");
	json_set_string(metadata, "uid", "5678");
	json_set(metadata, "managedFields",
		 json_of("[{\"time\": \"2026-01-02T03:04:05Z\"}, {\"time\": "
			 "\"2025-01-02T03:04:05Z\"}]"));
	return object;
}

static const char *text_at(const struct json *object, const char *key)
{
	return json_as_string(json_get_path(object, "spec", key, NULL), "");
}

TEST(a_new_lease_belongs_to_the_job_and_says_when_it_was_taken)
{
	struct json *object CLEANUP(json_cleanup) = lease_held_by("me");
	struct kube_lease lease;

	assert_string_equal(text_at(object, "renewTime"), "2026-01-02T03:04:05.678000Z");
	assert_string_equal(text_at(object, "acquireTime"), "2026-01-02T03:04:05.678000Z");
	assert_int_equal(kube_lease_read(object, &lease, NULL), 0);
	assert_string_equal(lease.record.holder, "me");
	assert_string_equal(lease.uid, "5678");
	assert_string_equal(lease.owner_uid, "1234");
	assert_int_equal(lease.record.version, 42);
	assert_int_equal(lease.record.duration, LEASE_DURATION);
	assert_int_equal(lease.record.fate, LEASE_FATE_UNKNOWN);
	assert_int_equal(lease.renewed_at, NOW);
	assert_int_equal(lease.written_at, NOW - 678);
}

TEST(a_renewal_names_the_version_and_leaves_the_time_of_taking)
{
	struct json *object CLEANUP(json_cleanup) = lease_held_by("me");
	struct json *renewed CLEANUP(json_cleanup) = NULL;
	struct json *taken CLEANUP(json_cleanup) = NULL;
	struct kube_lease lease;

	assert_int_equal(kube_lease_read(object, &lease, NULL), 0);
	renewed = kube_lease_hold(&lease, "me", NOW);
	taken = kube_lease_hold(&lease, "you", NOW);
	assert_string_equal(
		json_as_string(json_get_path(renewed, "metadata", "resourceVersion", NULL), ""),
		"42");
	assert_null(json_get_path(renewed, "spec", "acquireTime", NULL));
	assert_string_equal(text_at(taken, "holderIdentity"), "you");
	assert_string_equal(text_at(taken, "acquireTime"), "2026-01-02T03:04:05.678000Z");
	assert_int_equal(json_as_integer(json_get_path(taken, "spec", "leaseTransitions", NULL), 0),
			 1);
}

static bool is_held(const struct json *object, msec now)
{
	struct kube_lease lease;

	return kube_lease_read_held(object, now, &lease);
}

TEST(a_job_is_supervised_for_as_long_as_its_lease_is_renewed)
{
	struct json *object CLEANUP(json_cleanup) = lease_held_by("elsewhere_1_2_3_boot_ff");
	struct json *released CLEANUP(json_cleanup) = lease_held_by("");
	struct kube_lease lease;

	assert_true(kube_lease_read_held(object, NOW + 15000, &lease));
	char *supervisor CLEANUP(mem_free_text) = lease_holder_describe(lease.record.holder);

	assert_string_equal(supervisor, "muster on elsewhere (process 1)");
	assert_false(is_held(object, NOW + 25000));
	assert_false(is_held(NULL, NOW));
	assert_false(is_held(released, NOW));
}

/* The identity of a child that has ended since. */
static char *holder_of_child(void)
{
	int fds[2];
	char text[LEASE_HOLDER_SIZE] = "";

	assert_int_equal(pipe(fds), 0);
	pid_t pid = fork();

	if (pid == 0) {
		char *own;

		if (lease_holder_new(&own, NULL) == 0 &&
		    write(fds[1], own, strlen(own)) == (ssize_t) strlen(own))
			pause();
		_exit(1);
	}
	assert_true(read(fds[0], text, sizeof(text) - 1) > 0);
	assert_int_equal(lease_holder_fate(text), LEASE_FATE_ALIVE);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(fds[0]);
	close(fds[1]);
	return mem_copy_text(text);
}

TEST(a_holder_of_this_machine_is_known_to_be_gone)
{
	char *holder CLEANUP(mem_free_text) = holder_of_child();
	struct json *object CLEANUP(json_cleanup) = lease_held_by(holder);

	assert_int_equal(lease_holder_fate(holder), LEASE_FATE_GONE);
	assert_false(is_held(object, NOW));
}

TEST(a_holder_that_is_none_of_ours_is_shown_as_it_is)
{
	char *plain CLEANUP(mem_free_text) = lease_holder_describe("kube-controller\033[2J");

	assert_string_equal(plain, "kube-controller?[2J");
	assert_int_equal(lease_holder_fate("a_b_c"), LEASE_FATE_UNKNOWN);
	assert_int_equal(lease_holder_fate(""), LEASE_FATE_UNKNOWN);
	assert_int_equal(lease_holder_fate("h_1_2_3"), LEASE_FATE_UNKNOWN);
}

TEST(what_is_no_lease_is_refused)
{
	struct json *object CLEANUP(json_cleanup) = json_of("{\"metadata\": {}, \"spec\": {}}");
	struct kube_lease lease;

	assert_int_equal(kube_lease_read(object, &lease, NULL), ERR_INVALID);
	assert_false(is_held(object, NOW));
}

/* Whoever may write Leases may write any number into one. */
TEST(numbers_that_no_server_takes_stay_in_their_range)
{
	struct json *object CLEANUP(json_cleanup) = lease_held_by("you");
	struct json *spec = json_get(object, "spec"), *taken CLEANUP(json_cleanup) = NULL;
	struct kube_lease lease;

	json_set_integer(spec, "leaseDurationSeconds", INT64_MAX);
	json_set_integer(spec, "leaseTransitions", INT64_MAX);
	assert_int_equal(kube_lease_read(object, &lease, NULL), 0);
	assert_int_equal(lease.record.duration, MSEC_LONGEST);
	assert_true(is_held(object, NOW));
	taken = kube_lease_hold(&lease, "me", NOW);
	assert_int_equal(json_as_integer(json_get_path(taken, "spec", "leaseTransitions", NULL), 0),
			 1);
	json_set_integer(spec, "leaseDurationSeconds", INT64_MIN);
	assert_int_equal(kube_lease_read(object, &lease, NULL), 0);
	assert_int_equal(lease.record.duration, 0);
}
