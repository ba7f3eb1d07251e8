#include "unit.h"

#include "base/own.h"
#include "status/exception.h"

/* As TensorFlow 2.21 and 2.15 print them. */
TEST(what_is_printed_at_every_start_is_noise)
{
	static const char *const lines[] = {
		"I0000 00:00:1795815815.021002   16723 port.cc:153] oneDNN custom operations are "
		"on.",
		"2026-11-27 21:36:55.181702: I tensorflow/core/platform/cpu_feature_guard.cc:210] "
		"This TensorFlow binary is optimized",
		"To enable the following instructions: AVX2 FMA, in other operations, rebuild "
		"TensorFlow with the appropriate compiler flags.",
		"WARNING: All log messages before absl::InitializeLog() is called are written to "
		"STDERR",
	};

	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		assert_true(log_noise_is(lines[i]));
}

TEST(what_a_program_says_is_none)
{
	static const char *const lines[] = {
		"",
		"I0000",
		"I0000 00:00:1795815815.021002   16723 port.cc:153",
		"E0000 00:00:1795815815.021002   16723 rpc.cc:3] Connection refused",
		"F0000 00:00:1795815815.021002   16723 rpc.cc:3] Check failed",
		"2026-11-27 21:36:55.181702: E external/local_xla/xla/cuda.cc:2] failed call",
		"2026-11-27 21:36:55 INFO epoch 3",
		"ValueError: no",
		"I give up",
	};

	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		assert_false(log_noise_is(lines[i]));
}
