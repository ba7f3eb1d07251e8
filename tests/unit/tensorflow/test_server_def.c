/* The bytes by hand; tests/system compares many more with those of TensorFlow's own class. */
#include "unit.h"

#include "tensorflow/serving.h"

static void assert_def(const char *text, const char *job, int index, double fraction, int threads,
		       const char *wanted, size_t len)
{
	struct faults faults CLEANUP(faults_done) = {0};
	struct cluster_spec *spec CLEANUP(cluster_spec_cleanup) = NULL;
	struct text message CLEANUP(text_done) = {0};
	const struct server_settings settings = {
		.protocol = "grpc",
		.gpu_memory_fraction = fraction,
		.inter_op_threads = threads,
	};

	assert_int_equal(cluster_spec_read(text, &faults, &spec), 0);
	assert_int_equal(cluster_spec_set_own(spec, job, index, NULL), 0);
	server_def_add(spec, &settings, &message);
	assert_int_equal(message.len, len);
	assert_memory_equal(text_of(&message), wanted, len);
}

TEST(a_cluster_of_one_task_has_no_index)
{
	static const char wanted[] = "\x0a\x0e" /* cluster */
				     "\x0a\x0c" /* job */
				     "\x0a\x01w" /* name */
				     "\x12\x07\x08\x00\x12\x03h:1" /* tasks: 0 */
				     "\x12\x01w" /* job_name */
				     "\x2a\x04grpc"; /* protocol */

	assert_def("w|h:1", "w", 0, 0, 0, wanted, sizeof(wanted) - 1);
}

TEST(tasks_are_written_from_the_last_to_the_first)
{
	static const char wanted[] = "\x0a\x17"
				     "\x0a\x15\x0a\x01w"
				     "\x12\x07\x08\x01\x12\x03i:2"
				     "\x12\x07\x08\x00\x12\x03h:1"
				     "\x12\x01w"
				     "\x18\x01" /* task_index */
				     "\x22\x0d\x28\x03" /* threads */
				     "\x32\x09\x09\0\0\0\0\0\0\xe0\x3f" /* GPU options */
				     "\x2a\x04grpc";

	assert_def("w|h:1;i:2", "w", 1, 0.5, 3, wanted, sizeof(wanted) - 1);
}
