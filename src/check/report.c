#include "check/report.h"

#include "check/describe.h"
#include "check/fault.h"

static double seconds_of(msec duration)
{
	return (double) duration / MSEC_PER_SECOND;
}

static void set_seconds(struct json *object, const char *key, msec duration)
{
	json_set(object, key, json_new_real(seconds_of(duration)));
}

static struct json *write_step(const struct check *check, enum check_step step)
{
	const struct check_step_record *record = &check->steps[step];
	struct text message CLEANUP(text_done) = {0};
	struct json *object = json_new_object();

	check_describe_step(check, step, &message);
	json_set_string(object, "name", check_step_words[step]);
	json_set_string(object, "state", check_state_words[record->state]);
	if (instant_is_set(record->ended) && instant_is_set(record->started))
		set_seconds(object, "seconds", instant_since(record->started, record->ended));
	json_set_string(object, "message", text_of(&message));
	return object;
}

static struct json *write_steps(const struct check *check)
{
	struct json *list = json_new_array();

	for (enum check_step step = 0; step < CHECK_STEP_COUNT; step++)
		json_append(list, write_step(check, step));
	return list;
}

static struct json *write_servers(const struct check *check)
{
	struct json *list = json_new_array();

	for (size_t i = 0; i < check->n_tasks; i++) {
		const struct check_task *task = &check->tasks[i];
		struct json *object = json_new_object();

		json_set_string(object, "task", task->name);
		json_set_string(object, "target", task->target);
		json_set_string(object, "version", task->version);
		if (task->target)
			json_set(object, "seconds", json_new_real(task->serving_seconds));
		json_append(list, object);
	}
	return list;
}

/* The events unchanged, except for the word that they begin with. */
static struct json *write_network(const struct check *check)
{
	struct json *list = json_new_array();

	for (size_t i = 0; i < check->network.count; i++) {
		struct json *way = json_new_copy(check->network.pairs[i].event);

		json_remove(way, "muster");
		json_append(list, way);
	}
	return list;
}

static struct json *write_devices(const struct check *check)
{
	struct json *list = json_new_array();

	for (size_t i = 0; i < check->n_tasks; i++) {
		const struct check_task *task = &check->tasks[i];

		if (!task->has_devices)
			continue;
		struct json *object = json_new_object();
		struct json *devices = json_new_array();

		for (size_t k = 0; k < task->n_devices; k++)
			json_append(devices, json_new_string(task->devices[k]));
		json_set_string(object, "task", task->name);
		json_set(object, "devices", devices);
		json_set_bool(object, "ran", task->has_run);
		json_append(list, object);
	}
	return list;
}

static struct json *write_data(const struct check *check)
{
	struct json *object = json_new_object();

	json_set_string(object, "name", check->data_name);
	json_set_string(object, "source", check->data_source);
	json_set_integer(object, "examples", check->data_examples);
	return object;
}

static struct json *write_training(const struct check *check)
{
	struct json *object = json_new_object();
	struct json *list = json_new_array();

	for (size_t i = 0; i < check->n_trainers; i++) {
		struct json *worker = json_new_object();

		json_set_string(worker, "task", check->trainers[i].name);
		json_set_bool(worker, "begins", check->trainers[i].has_started);
		json_set_bool(worker, "ends", check->trainers[i].has_ended);
		json_append(list, worker);
	}
	json_set_integer(object, "step", check->step);
	json_set_integer(object, "of", check->steps_wanted);
	json_set(object, "loss", json_new_real(check->loss));
	json_set(object, "workers", list);
	return object;
}

static struct json *write_fault(const struct check *check)
{
	const struct check_fault *fault = check->fault;
	struct json *object = json_new_object();

	json_set_string(object, "step", check_step_words[fault->step]);
	json_set_string(object, "reason", check_fault_word(fault->kind));
	json_set_string(object, "task", fault->task);
	json_set_string(object, "message", fault->message);
	json_set_string(object, "advice", check_fault_advice(check));
	json_set_string(object, "job", fault->job);
	return object;
}

static const char *word_of_place(const struct check_request *request)
{
	if (request->is_on_kubernetes)
		return "kubernetes";
	return request->is_remote ? "remote" : "local";
}

static void set_request(struct json *object, const struct check_request *request)
{
	json_set_string(object, "name", request->name);
	json_set_string(object, "where", word_of_place(request));
	json_set_string(object, "model", check_model_words[request->model]);
	json_set_bool(object, "syncReplicas", request->is_sync);
}

struct json *check_write_json(const struct check *check)
{
	struct json *object = json_new_object();

	json_set_string(object, "result", check_result_words[check->result]);
	set_request(object, &check->request);
	set_seconds(object, "seconds", instant_since(check->started, check->ended));
	json_set(object, "steps", write_steps(check));
	json_set(object, "servers", write_servers(check));
	json_set(object, "network", write_network(check));
	json_set(object, "devices", write_devices(check));
	if (check->data_name)
		json_set(object, "data", write_data(check));
	if (check->n_trainers > 0)
		json_set(object, "training", write_training(check));
	if (check->figures)
		json_set(object, "figures", json_new_copy(check->figures));
	if (check->fault)
		json_set(object, "fault", write_fault(check));
	return object;
}

/* Texts are UTF-8 without control characters except the line feed; characters invalid in XML 1.0
 * are omitted. */
static void add_xml(struct text *text, const char *plain)
{
	for (; *plain; plain++) {
		if (*plain == '&')
			text_add(text, "&amp;");
		else if (*plain == '<')
			text_add(text, "&lt;");
		else if (*plain == '>')
			text_add(text, "&gt;");
		else if (*plain == '"')
			text_add(text, "&quot;");
		else if ((unsigned char) *plain >= ' ' || *plain == '\n')
			text_add_char(text, *plain);
	}
}

static void add_attribute(struct text *text, const char *name, const char *value)
{
	text_addf(text, " %s=\"", name);
	add_xml(text, value);
	text_add_char(text, '"');
}

static void add_failure_element(const struct check *check, struct text *text)
{
	text_add(text, "      <failure");
	add_attribute(text, "type", check_fault_word(check->fault->kind));
	add_attribute(text, "message", check->fault->message);
	text_add_char(text, '>');
	add_xml(text, check->fault->message);
	text_add_char(text, '\n');
	add_xml(text, check_fault_advice(check));
	text_add(text, "</failure>\n");
}

static void add_test_case(const struct check *check, enum check_step step, struct text *text)
{
	const struct check_step_record *record = &check->steps[step];
	bool is_taken = record->state == CHECK_PASSED || record->state == CHECK_FAILED;
	struct text message CLEANUP(text_done) = {0};

	check_describe_step(check, step, &message);
	text_addf(text, "    <testcase classname=\"muster.check\" name=\"%s\" time=\"%.3f\">\n",
		  check_step_words[step],
		  is_taken ? seconds_of(instant_since(record->started, record->ended)) : 0.0);
	if (record->state == CHECK_FAILED) {
		add_failure_element(check, text);
	} else if (is_taken) {
		text_add(text, "      <system-out>");
		add_xml(text, text_of(&message));
		text_add(text, "</system-out>\n");
	} else {
		text_add(text, "      <skipped");
		add_attribute(text, "message", text_of(&message));
		text_add(text, "/>\n");
	}
	text_add(text, "    </testcase>\n");
}

static int count_untaken(const struct check *check)
{
	int count = 0;

	for (enum check_step step = 0; step < CHECK_STEP_COUNT; step++)
		count += check->steps[step].state == CHECK_SKIPPED ||
			 check->steps[step].state == CHECK_WAITING;
	return count;
}

static void add_counts(const struct check *check, struct text *text)
{
	text_addf(text, " tests=\"%d\" failures=\"%d\" errors=\"0\" skipped=\"%d\" time=\"%.3f\"",
		  CHECK_STEP_COUNT, check->fault ? 1 : 0, count_untaken(check),
		  seconds_of(instant_since(check->started, check->ended)));
}

void check_write_junit(const struct check *check, struct text *text)
{
	text_add(text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites");
	add_counts(check, text);
	text_add(text, ">\n  <testsuite name=\"muster check\" timestamp=\"");
	text_add_time(text, check->began);
	text_add_char(text, '"');
	add_counts(check, text);
	text_add(text, ">\n");
	for (enum check_step step = 0; step < CHECK_STEP_COUNT; step++)
		add_test_case(check, step, text);
	text_add(text, "  </testsuite>\n</testsuites>\n");
}
