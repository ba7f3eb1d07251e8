#include "unit.h"

#include "base/own.h"
#include "tensorflow/session.h"

TEST(a_full_name_is_taken_apart)
{
	struct device_name name;

	assert_int_equal(device_name_read("/job:ps/replica:0/task:12/device:GPU:3", &name, NULL),
			 0);
	assert_string_equal(name.job, "ps");
	assert_int_equal(name.task, 12);
	assert_string_equal(name.device, "GPU:3");
	assert_string_equal(name.kind, "GPU");
}

TEST(other_forms_are_refused)
{
	const char *const texts[] = {
		"",
		"/",
		"/job:ps",
		"/device:CPU:0",
		"job:ps/replica:0/task:0/device:CPU:0",
		"/job:/replica:0/task:0/device:CPU:0",
		"/job:ps/replica:0/task:/device:CPU:0",
		"/job:ps/replica:0/task:-1/device:CPU:0",
		"/job:ps/replica:0/task:99999999999/device:CPU:0",
		"/job:ps/replica:0/task:one/device:CPU:0",
		"/job:ps/replica:0/task:0/cpu:0",
		"/job:ps/replica:0/task:0/device:",
		"/job:ps/replica:0/task:0/device:CPU:0/",
		"/job:p s/replica:0/task:0/device:CPU:0",
	};
	struct device_name name = {.task = 7};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct err err = {0};

		assert_int_equal(device_name_read(texts[i], &name, &err), ERR_INVALID);
		assert_non_null(strstr(err.text, texts[i]));
	}
	assert_int_equal(name.task, 7);
	assert_int_equal(
		device_name_read("/job:\x1b[2J/replica:0/task:0/device:CPU:0", &name, NULL),
		ERR_INVALID);
}

TEST(a_part_that_is_too_long_is_refused)
{
	struct device_name name;
	char text[DEVICE_NAME_SIZE + 100] = "/job:", *end = text + strlen(text);

	memset(end, 'w', DEVICE_NAME_SIZE);
	strcpy(end + DEVICE_NAME_SIZE, "/replica:0/task:0/device:CPU:0");
	assert_int_equal(device_name_read(text, &name, NULL), ERR_INVALID);
	strcpy(end + DEVICE_NAME_SIZE - 1, "/replica:0/task:0/device:CPU:0");
	assert_int_equal(device_name_read(text, &name, NULL), 0);
	assert_int_equal(strlen(name.job), DEVICE_NAME_SIZE - 1);
}
