/* What a client makes of Pods as a real cluster showed them (tests/golden/pods/). */
#include "golden_pod.h"

#include "cluster/job_view.h"

/* The worker of that Pod, in this state and attempt, laid over with it. The Pod lives as long as
 * the result is looked at: the caller frees it. */
static struct job_pod *lay_over(const char *name, struct replica_status *replica)
{
	struct json *object CLEANUP(json_cleanup) = golden_pod(name);
	const struct json *labels = json_get_path(object, "metadata", "labels", NULL);
	int64_t index;

	json_set_string(json_object_at(object, "spec"), "nodeName", "node-7");
	json_set_string(json_object_at(object, "status"), "podIP", "10.1.2.3");
	assert_int_equal(text_read_int(json_as_string(json_get(labels, "muster/index"), ""), 0,
				       INT32_MAX, &index, NULL),
			 0);
	replica->index = (int) index;
	struct job_pod *pod = job_pod_read(object);

	assert_non_null(pod);
	job_view_pod_lay_over(pod, replica);
	return pod;
}

TEST(a_pod_that_runs_says_where)
{
	struct replica_status replica = {
		.role = "worker", .state = REPLICA_STARTING, .exit_code = -1};
	struct job_pod *pod = lay_over("running", &replica);

	assert_int_equal(replica.state, REPLICA_RUNNING);
	assert_string_equal(replica.pod, "running");
	assert_string_equal(replica.node, "node-7");
	assert_string_equal(replica.ip, "10.1.2.3");
	assert_int_not_equal(replica.start_time, MSEC_UNSET);
	job_pod_free(pod);
}

TEST(an_end_that_nobody_wrote_is_seen)
{
	struct replica_status replica = {
		.role = "worker", .state = REPLICA_RUNNING, .exit_code = -1};
	struct job_pod *pod = lay_over("code-3", &replica);

	assert_int_equal(replica.state, REPLICA_FAILED);
	assert_int_equal(replica.exit_code, 3);
	assert_int_not_equal(replica.end_time, MSEC_UNSET);
	job_pod_free(pod);
}

TEST(what_was_made_of_an_end_stays)
{
	struct replica_status replica = {.role = "worker",
					 .state = REPLICA_STOPPED,
					 .exit_code = -1,
					 .signal = 15,
					 .reason = "Stopped"};
	struct job_pod *pod = lay_over("code-3", &replica);

	assert_int_equal(replica.state, REPLICA_STOPPED);
	assert_int_equal(replica.signal, 15);
	assert_non_null(replica.node);
	job_pod_free(pod);
}

TEST(the_pod_of_an_earlier_attempt_says_nothing_of_this_one)
{
	struct replica_status replica = {
		.role = "worker", .attempt = 7, .state = REPLICA_PENDING, .exit_code = -1};
	struct job_pod *pod = lay_over("running", &replica);

	assert_int_equal(replica.state, REPLICA_PENDING);
	assert_null(replica.pod);
	job_pod_free(pod);
}
