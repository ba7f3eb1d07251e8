#include "core/check_facts.h"

const char *const check_step_words[CHECK_STEP_COUNT] = {
	"library", "data", "servers", "network", "devices", "session", "training", "result",
};
const char *const check_state_words[CHECK_STATE_COUNT] = {
	"waiting", "running", "passed", "failed", "skipped",
};
const char *const check_result_words[CHECK_RESULT_COUNT] = {
	"running",
	"passed",
	"failed",
	"interrupted",
};
