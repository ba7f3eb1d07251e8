#include "check/facts.h"

const char *const check_step_words[CHECK_STEP_COUNT] = {
	"library", "data", "servers", "network", "devices", "session", "training", "result",
};

const struct check_task_fact check_task_facts[CHECK_STEP_COUNT] = {
	[CHECK_SERVERS] = {"target", "serving", "serve"},
	[CHECK_DEVICES] = {"devices", "listed", "list its devices"},
	[CHECK_SESSION] = {"ran", "ran an operation", "run an operation"},
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

const char *check_trainer_role(const struct check *check)
{
	return check->request.model == CHECK_PS2 ? "chief" : "worker";
}

int check_count_workers(const struct check *check)
{
	const char *name = NULL;
	struct json *task;
	int count = 0;

	while (json_next(check->tasks, &name, &task))
		count += text_starts_with(name, "worker-");
	return count;
}

bool check_has(const struct json *process, const char *fact)
{
	const struct json *value = json_get(process, fact);

	return json_as_bool(value, value != NULL);
}

size_t check_count_with(const struct json *processes, const char *fact)
{
	const char *name = NULL;
	struct json *process;
	size_t count = 0;

	while (json_next(processes, &name, &process))
		count += check_has(process, fact);
	return count;
}

const char *check_first_with(const struct json *processes, const char *fact)
{
	const char *name = NULL;
	struct json *process;

	while (json_next(processes, &name, &process))
		if (check_has(process, fact))
			return name;
	return NULL;
}
