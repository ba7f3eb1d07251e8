#include "fake_tensorflow.h"

#include "base/mem.h"
#include "base/own.h"
#include "tensorflow/session_functions.h"

#include <assert.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is exported here is declared nowhere: the program finds it by name. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define SCHEME "grpc://"
#define MOST_FILTERS 4
#define MOST_OPERATIONS 16

enum { OK = 0, INVALID_ARGUMENT = 3, DEADLINE_EXCEEDED = 4 };

struct TF_Status {
	int code;
	char message[200];
};

struct TF_SessionOptions {
	char target[200];
	char filters[MOST_FILTERS][100];
	size_t n_filters;
};

struct TF_Operation {
	char kind[50], device[200];
	int n_inputs;
};

struct TF_OperationDescription {
	struct TF_Operation *operation;
};

struct TF_Graph {
	struct TF_Operation operations[MOST_OPERATIONS];
	struct TF_OperationDescription description;
	int n_operations;
};

struct TF_Session {
	struct TF_SessionOptions options;
};

struct TF_DeviceList {
	char names[FAKE_TASKS * FAKE_DEVICES][200];
	int count;
};

struct TF_Tensor {
	size_t len;
	float values[64];
};

struct TF_Buffer {
	char *bytes;
	size_t len;
};

struct fake_cluster fake_cluster;

static void *new_object(size_t size)
{
	fake_cluster.n_open++;
	return mem_new(size);
}

static void delete_object(void *object)
{
	fake_cluster.n_open--;
	free(object);
}

static void set_status(struct TF_Status *status, int code, const char *message)
{
	status->code = code;
	snprintf(status->message, sizeof(status->message), "%s", message);
}

const char *TF_Version(void)
{
	return "2.99.0";
}

struct TF_Status *TF_NewStatus(void)
{
	return new_object(sizeof(struct TF_Status));
}

void TF_DeleteStatus(struct TF_Status *status)
{
	delete_object(status);
}

int TF_GetCode(const struct TF_Status *status)
{
	return status->code;
}

const char *TF_Message(const struct TF_Status *status)
{
	return status->message;
}

/* Options. */

/* A field of a protobuf message that muster has written, and that is taken at its word. */
struct field {
	uint64_t number;
	uint64_t value; /* or how many bytes there are */
	const char *bytes;
};

static uint64_t take_varint(const char **at)
{
	uint64_t value = 0;

	for (int shift = 0;; shift += 7) {
		char byte = *(*at)++;

		value |= (uint64_t) (byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
}

static struct field take_field(const char **at)
{
	enum { NUMBER = 0, BYTES = 2 };
	uint64_t tag = take_varint(at);
	struct field field = {.number = tag >> 3, .value = take_varint(at)};

	assert((tag & 7) == NUMBER || (tag & 7) == BYTES);
	if ((tag & 7) == BYTES) {
		field.bytes = *at;
		*at += field.value;
	}
	return field;
}

struct TF_SessionOptions *TF_NewSessionOptions(void)
{
	return new_object(sizeof(struct TF_SessionOptions));
}

void TF_DeleteSessionOptions(struct TF_SessionOptions *options)
{
	delete_object(options);
}

void TF_SetTarget(struct TF_SessionOptions *options, const char *target)
{
	snprintf(options->target, sizeof(options->target), "%s", target);
}

void TF_SetConfig(struct TF_SessionOptions *options, const void *config, size_t len,
		  struct TF_Status *status)
{
	const char *at = config, *end = at + len;

	while (at < end) {
		struct field field = take_field(&at);

		if (field.number == 11)
			fake_cluster.operation_timeout = (long) field.value;
		if (field.number == 4 && options->n_filters < MOST_FILTERS)
			snprintf(options->filters[options->n_filters++],
				 sizeof(options->filters[0]), "%.*s", (int) field.value,
				 field.bytes);
	}
	set_status(status, OK, "");
}

/* Graphs. */

struct TF_Graph *TF_NewGraph(void)
{
	return new_object(sizeof(struct TF_Graph));
}

void TF_DeleteGraph(struct TF_Graph *graph)
{
	delete_object(graph);
}

struct TF_OperationDescription *TF_NewOperation(struct TF_Graph *graph, const char *kind,
						const char *name)
{
	assert(graph->n_operations < MOST_OPERATIONS && name[0]);
	graph->description.operation = &graph->operations[graph->n_operations++];
	snprintf(graph->description.operation->kind, sizeof(graph->operations[0].kind), "%s", kind);
	return &graph->description;
}

void TF_SetDevice(struct TF_OperationDescription *description, const char *device)
{
	snprintf(description->operation->device, sizeof(description->operation->device), "%s",
		 device);
}

void TF_SetAttrType(struct TF_OperationDescription *description, const char *attribute, int type)
{
	bool is_input = !strcmp(description->operation->kind, "Placeholder");

	assert(!strcmp(attribute, is_input ? "dtype" : "T") && type == 1);
}

void TF_AddInput(struct TF_OperationDescription *description, struct TF_Output input)
{
	assert(input.operation && input.index == 0);
	description->operation->n_inputs++;
}

struct TF_Operation *TF_FinishOperation(struct TF_OperationDescription *description,
					struct TF_Status *status)
{
	set_status(status, OK, "");
	return description->operation;
}

/* Sessions. */

struct TF_Session *TF_NewSession(struct TF_Graph *graph, const struct TF_SessionOptions *options,
				 struct TF_Status *status)
{
	(void) graph;
	if (!strchr(options->target + strlen(SCHEME), ':')) {
		set_status(status, INVALID_ARGUMENT, "Could not interpret it as a host-port pair.");
		return NULL;
	}
	struct TF_Session *session = new_object(sizeof(*session));

	session->options = *options;
	set_status(status, OK, "");
	return session;
}

void TF_CloseSession(struct TF_Session *session, struct TF_Status *status)
{
	(void) session;
	fake_cluster.n_closed++;
	set_status(status, OK, "");
}

void TF_DeleteSession(struct TF_Session *session, struct TF_Status *status)
{
	delete_object(session);
	set_status(status, OK, "");
}

static bool is_master(const struct TF_Session *session, const struct fake_task *task)
{
	return !strcmp(session->options.target + strlen(SCHEME), task->address);
}

static bool is_reached(const struct TF_Session *session, const struct fake_task *task)
{
	char name[100];

	snprintf(name, sizeof(name), "/job:%s/task:%d", task->job, task->index);
	for (size_t i = 0; i < session->options.n_filters; i++)
		if (!strcmp(session->options.filters[i], name))
			return true;
	return session->options.n_filters == 0 || is_master(session, task);
}

static bool is_answered(struct fake_task *task)
{
	if (task->n_answers > 0 && --task->n_answers == 0)
		task->is_silent = true;
	return !task->is_silent;
}

static void add_devices(struct TF_DeviceList *list, const struct fake_task *task)
{
	for (size_t i = 0; i < FAKE_DEVICES && task->devices[i]; i++)
		snprintf(list->names[list->count++], sizeof(list->names[0]),
			 "/job:%s/replica:0/task:%d/device:%s", task->job, task->index,
			 task->devices[i]);
}

struct TF_DeviceList *TF_SessionListDevices(struct TF_Session *session, struct TF_Status *status)
{
	struct TF_DeviceList *list = new_object(sizeof(*list));
	bool has_master = false, is_silent = false;

	for (size_t i = 0; i < fake_cluster.n_tasks; i++) {
		struct fake_task *task = &fake_cluster.tasks[i];

		if (!is_reached(session, task))
			continue;
		has_master = has_master || is_master(session, task);
		is_silent = !is_answered(task) || is_silent;
		add_devices(list, task);
	}
	set_status(status, OK, "");
	if (has_master && !is_silent)
		return list;
	delete_object(list);
	set_status(status, DEADLINE_EXCEEDED, "Deadline Exceeded");
	return NULL;
}

void TF_DeleteDeviceList(struct TF_DeviceList *list)
{
	delete_object(list);
}

int TF_DeviceListCount(const struct TF_DeviceList *list)
{
	return list->count;
}

const char *TF_DeviceListName(const struct TF_DeviceList *list, int index, struct TF_Status *status)
{
	set_status(status, OK, "");
	return list->names[index];
}

/* Running. */

struct TF_Buffer *TF_NewBufferFromString(const void *bytes, size_t len)
{
	struct TF_Buffer *buffer = new_object(sizeof(*buffer));

	buffer->bytes = mem_copy_bytes(bytes, len);
	buffer->len = len;
	return buffer;
}

void TF_DeleteBuffer(struct TF_Buffer *buffer)
{
	free(buffer->bytes);
	delete_object(buffer);
}

struct TF_Tensor *TF_AllocateTensor(int type, const int64_t *lengths, int n_lengths, size_t len)
{
	struct TF_Tensor *tensor = new_object(sizeof(*tensor));

	assert(type == 1 && n_lengths == 2 && lengths[0] == 8 && lengths[1] == 8);
	assert(len == sizeof(tensor->values));
	tensor->len = len;
	return tensor;
}

void TF_DeleteTensor(struct TF_Tensor *tensor)
{
	delete_object(tensor);
}

void *TF_TensorData(const struct TF_Tensor *tensor)
{
	return (void *) tensor->values;
}

size_t TF_TensorByteSize(const struct TF_Tensor *tensor)
{
	return tensor->len;
}

static struct TF_Tensor *multiply(const struct TF_Tensor *left, const struct TF_Tensor *right)
{
	struct TF_Tensor *product = new_object(sizeof(*product));

	product->len = sizeof(product->values);
	for (int i = 0; i < 64; i++)
		for (int k = 0; k < 8; k++)
			product->values[i] +=
				left->values[i / 8 * 8 + k] * right->values[k * 8 + i % 8];
	return product;
}

static struct fake_task *task_of(const char *device)
{
	for (size_t i = 0; i < fake_cluster.n_tasks; i++) {
		struct fake_task *task = &fake_cluster.tasks[i];
		char beginning[100];

		snprintf(beginning, sizeof(beginning), "/job:%s/replica:0/task:%d/", task->job,
			 task->index);
		if (!strncmp(device, beginning, strlen(beginning)))
			return task;
	}
	return NULL;
}

void TF_SessionRun(struct TF_Session *session, const struct TF_Buffer *options,
		   const struct TF_Output *inputs, struct TF_Tensor *const *input_values,
		   int n_inputs, const struct TF_Output *outputs, struct TF_Tensor **output_values,
		   int n_outputs, const struct TF_Operation *const *targets, int n_targets,
		   struct TF_Buffer *metadata, struct TF_Status *status)
{
	const char *at = options->bytes, *end = at + options->len;

	assert(n_inputs == 2 && n_outputs == 1 && n_targets == 0 && !targets && !metadata);
	assert(inputs[0].operation != inputs[1].operation && outputs[0].operation->n_inputs == 2);
	while (at < end) {
		struct field field = take_field(&at);

		if (field.number == 2)
			fake_cluster.run_timeout = (long) field.value;
	}
	const struct fake_task *task = task_of(outputs[0].operation->device);

	if (!task || !is_reached(session, task)) {
		set_status(status, INVALID_ARGUMENT,
			   "Cannot assign a device for operation MatMul\n\t [[MatMul]]");
		return;
	}
	set_status(status, task->is_silent ? DEADLINE_EXCEEDED : OK, "");
	if (task->is_silent)
		return;
	output_values[0] = multiply(input_values[0], input_values[1]);
	if (task->is_wrong)
		output_values[0]->values[63] += 1;
}

struct library fake_library(void)
{
	fake_cluster = (struct fake_cluster){0};
	return (struct library){
		.path = (char *) "fake",
		.handle = dlopen(NULL, RTLD_LAZY),
		.version = TF_Version,
		.new_status = TF_NewStatus,
		.delete_status = TF_DeleteStatus,
		.get_code = TF_GetCode,
		.message = TF_Message,
	};
}

struct library fake_library_without_functions(void)
{
	struct library library = fake_library();

	library.handle = dlopen("libc.so.6", RTLD_LAZY);
	return library;
}
