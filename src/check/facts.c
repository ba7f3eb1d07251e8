#include "check/facts.h"

const char *const check_model_words[CHECK_MODEL_COUNT] = {"mnist", "census", "mwms", "ps2", "none"};

bool check_model_brings_servers(enum check_model model)
{
	return model == CHECK_MWMS || model == CHECK_PS2;
}

bool check_request_trains(const struct check_request *request)
{
	return request->model != CHECK_NO_MODEL && !request->is_setup_only;
}

const char *check_trainer_role(enum check_model model)
{
	return model == CHECK_PS2 ? "chief" : "worker";
}

int check_trainer_count(enum check_model model, int workers)
{
	return model == CHECK_PS2 ? 1 : workers;
}

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
