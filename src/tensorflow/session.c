#include "tensorflow/session.h"

#include "base/mem.h"
#include "base/protobuf.h"
#include "base/text.h"
#include "tensorflow/library.h"
#include "tensorflow/session_functions.h"

#include <stdio.h>

#define PART "%127[^/]" /* of DEVICE_NAME_SIZE */

/* Full names have every part, in this order; the library returns no others. They come from servers
 * and are shown on terminals. */
int device_name_read(const char *text, struct device_name *ret_name, struct err *err)
{
	struct device_name name = {0};
	char replica[DEVICE_NAME_SIZE], task[DEVICE_NAME_SIZE];
	int n_parts, len = 0;
	int64_t index;

	n_parts = sscanf(text, "/job:" PART "/replica:" PART "/task:" PART "/device:" PART "%n",
			 name.job, replica, task, name.device, &len);
	if (n_parts != 4 || text[len] || !text_is_graphic(text, strlen(text)) ||
	    text_read_int(task, 0, INT32_MAX, &index, NULL))
		return err_set(err, ERR_INVALID, "'%s' is not a full name of a device", text);
	name.task = (int) index;
	snprintf(name.kind, sizeof(name.kind), "%.*s", (int) strcspn(name.device, ":"),
		 name.device);
	*ret_name = name;
	return 0;
}

static const struct library_function function_rows[] = {
	{"TF_NewSessionOptions", offsetof(struct session_functions, new_options)},
	{"TF_DeleteSessionOptions", offsetof(struct session_functions, delete_options)},
	{"TF_SetTarget", offsetof(struct session_functions, set_target)},
	{"TF_SetConfig", offsetof(struct session_functions, set_config)},
	{"TF_NewGraph", offsetof(struct session_functions, new_graph)},
	{"TF_DeleteGraph", offsetof(struct session_functions, delete_graph)},
	{"TF_NewOperation", offsetof(struct session_functions, new_operation)},
	{"TF_SetDevice", offsetof(struct session_functions, set_device)},
	{"TF_SetAttrType", offsetof(struct session_functions, set_type)},
	{"TF_AddInput", offsetof(struct session_functions, add_input)},
	{"TF_FinishOperation", offsetof(struct session_functions, finish_operation)},
	{"TF_NewSession", offsetof(struct session_functions, new_session)},
	{"TF_CloseSession", offsetof(struct session_functions, close_session)},
	{"TF_DeleteSession", offsetof(struct session_functions, delete_session)},
	{"TF_SessionRun", offsetof(struct session_functions, run)},
	{"TF_SessionListDevices", offsetof(struct session_functions, list_devices)},
	{"TF_DeleteDeviceList", offsetof(struct session_functions, delete_devices)},
	{"TF_DeviceListCount", offsetof(struct session_functions, count_devices)},
	{"TF_DeviceListName", offsetof(struct session_functions, name_device)},
	{"TF_NewBufferFromString", offsetof(struct session_functions, new_buffer)},
	{"TF_DeleteBuffer", offsetof(struct session_functions, delete_buffer)},
	{"TF_AllocateTensor", offsetof(struct session_functions, new_tensor)},
	{"TF_DeleteTensor", offsetof(struct session_functions, delete_tensor)},
	{"TF_TensorData", offsetof(struct session_functions, tensor_bytes)},
	{"TF_TensorByteSize", offsetof(struct session_functions, tensor_size)},
};

/* Fields of ConfigProto and RunOptions. */
#define CONFIG_DEVICE_FILTERS 4
#define CONFIG_OPERATION_TIMEOUT_IN_MS 11
#define RUN_TIMEOUT_IN_MS 2

#define TYPE_FLOAT 1 /* TF_FLOAT, DT_FLOAT */

/* By number; tensorflow/c/tf_status.h. */
static const char *const code_words[] = {
	"OK",
	"CANCELLED",
	"UNKNOWN",
	"INVALID_ARGUMENT",
	"DEADLINE_EXCEEDED",
	"NOT_FOUND",
	"ALREADY_EXISTS",
	"PERMISSION_DENIED",
	"RESOURCE_EXHAUSTED",
	"FAILED_PRECONDITION",
	"ABORTED",
	"OUT_OF_RANGE",
	"UNIMPLEMENTED",
	"INTERNAL",
	"UNAVAILABLE",
	"DATA_LOSS",
	"UNAUTHENTICATED",
};

struct session {
	const struct library *library;
	struct session_functions functions;
	struct TF_Status *status;
	struct TF_Graph *graph;
	struct TF_Session *session;
	msec timeout;
	struct session_device *devices;
	size_t n_devices;
	size_t n_operations; /* to give each a unique name */
};

static int session_code_of(const struct session *session)
{
	return session->library->get_code(session->status);
}

const char *session_code(const struct session *session)
{
	int code = session_code_of(session);

	return code >= 0 && (size_t) code < ARRAY_LEN(code_words) ? code_words[code] : "UNKNOWN";
}

/* The error of the last call; 0: success. */
static int check_session_status(const struct session *session, struct err *err)
{
	const char *message = session->library->message(session->status);
	int first_line = (int) strcspn(message, "\n"); /* the rest are names of nodes */
	struct text duration CLEANUP(text_done) = {0};
	int code = session_code_of(session);

	if (code == TF_CODE_OK)
		return 0;
	if (code == TF_CODE_DEADLINE_EXCEEDED) {
		text_add_duration(&duration, session->timeout);
		return err_set(err, ERR_UNREACHABLE, "no response within %s", text_of(&duration));
	}
	if (code == TF_CODE_UNAVAILABLE)
		return err_set(err, ERR_UNREACHABLE, "%.*s", first_line, message);
	return err_set(err, code == TF_CODE_INVALID_ARGUMENT ? ERR_INVALID : ERR_REFUSED, "%.*s",
		       first_line, message);
}

static void connect_session(struct session *session, const struct session_target *target)
{
	const struct session_functions *functions = &session->functions;
	struct TF_SessionOptions *options = functions->new_options();
	struct text config CLEANUP(text_done) = {0}, filter CLEANUP(text_done) = {0};

	/* A filter that matches no task leaves only the master's own, which is always included. */
	if (target->reach == SESSION_TASK)
		text_addf(&filter, "/job:%s/task:%d", target->job, target->task);
	else
		text_add(&filter, "/job:no_other_task");
	if (target->reach != SESSION_ALL)
		protobuf_add_text(&config, CONFIG_DEVICE_FILTERS, text_of(&filter));
	protobuf_add_number(&config, CONFIG_OPERATION_TIMEOUT_IN_MS, target->timeout);
	functions->set_target(options, target->master);
	functions->set_config(options, text_of(&config), config.len, session->status);
	if (session_code_of(session) == TF_CODE_OK)
		session->session = functions->new_session(session->graph, options, session->status);
	functions->delete_options(options);
}

int session_check_library(const struct library *library, struct err *err)
{
	struct session_functions functions;

	return library_find_functions(library, function_rows, ARRAY_LEN(function_rows), &functions,
				      err);
}

int session_open(const struct library *library, const struct session_target *target,
		 struct session **ret_session, struct err *err)
{
	struct session *session CLEANUP(session_cleanup) = mem_new(sizeof(*session));
	int failure = library_find_functions(library, function_rows, ARRAY_LEN(function_rows),
					     &session->functions, err);

	if (failure)
		return failure;
	session->library = library;
	session->timeout = target->timeout;
	session->status = library->new_status();
	session->graph = session->functions.new_graph();
	connect_session(session, target);
	failure = check_session_status(session, err);
	if (!failure)
		*ret_session = TAKE(session);
	return failure;
}

static void clear_session_devices(struct session *session)
{
	for (size_t i = 0; i < session->n_devices; i++)
		free(session->devices[i].full_name);
	free(session->devices);
	session->devices = NULL;
	session->n_devices = 0;
}

/* A task that did not answer is not contacted again: a server drops an unused session. */
static void close_session(struct session *session)
{
	if (session_code_of(session) != TF_CODE_DEADLINE_EXCEEDED)
		session->functions.close_session(session->session, session->status);
	session->functions.delete_session(session->session, session->status);
}

void session_close(struct session *session)
{
	if (!session)
		return;
	if (session->session)
		close_session(session);
	if (session->graph)
		session->functions.delete_graph(session->graph);
	if (session->status)
		session->library->delete_status(session->status);
	clear_session_devices(session);
	free(session);
}

void session_cleanup(struct session **session)
{
	session_close(*session);
}

static int store_session_devices(struct session *session, const struct TF_DeviceList *list,
				 struct err *err)
{
	int count = session->functions.count_devices(list);

	session->devices = mem_new_array((size_t) count, sizeof(*session->devices));
	for (int i = 0; i < count; i++) {
		const char *name = session->functions.name_device(list, i, session->status);
		struct session_device *device = &session->devices[i];

		if (check_session_status(session, err) ||
		    device_name_read(name, &device->name, err))
			return ERR_REFUSED;
		device->full_name = mem_copy_text(name);
		session->n_devices++;
	}
	return 0;
}

int session_list_devices(struct session *session, const struct session_device **ret_devices,
			 size_t *ret_count, struct err *err)
{
	struct TF_DeviceList *list =
		session->functions.list_devices(session->session, session->status);
	int failure = check_session_status(session, err);

	clear_session_devices(session);
	if (!failure)
		failure = store_session_devices(session, list, err);
	if (list)
		session->functions.delete_devices(list);
	if (failure)
		return failure;
	*ret_devices = session->devices;
	*ret_count = session->n_devices;
	return 0;
}

/* SIDE by SIDE floats. In the left matrix each is its row + 1, in the right its column + 1. */
#define SIDE 8

static struct TF_Tensor *new_matrix(const struct session *session, bool is_left)
{
	const int64_t lengths[2] = {SIDE, SIDE};
	struct TF_Tensor *matrix =
		session->functions.new_tensor(TYPE_FLOAT, lengths, 2, SIDE * SIDE * sizeof(float));
	float *values = session->functions.tensor_bytes(matrix);

	for (int i = 0; i < SIDE * SIDE; i++)
		values[i] = (float) ((is_left ? i / SIDE : i % SIDE) + 1);
	return matrix;
}

static bool is_product(const struct session *session, const struct TF_Tensor *matrix)
{
	const float *values = session->functions.tensor_bytes(matrix);

	if (session->functions.tensor_size(matrix) != SIDE * SIDE * sizeof(float))
		return false;
	for (int i = 0; i < SIDE * SIDE; i++) {
		int product = SIDE * (i / SIDE + 1) * (i % SIDE + 1);

		if (values[i] != (float) product)
			return false;
	}
	return true;
}

/* Adds an operation to the graph, placed on the device. `inputs` may be NULL. */
static struct TF_Operation *add_operation(struct session *session, const char *kind,
					  const char *type_attribute, const char *device,
					  struct TF_Operation *const inputs[2])
{
	const struct session_functions *functions = &session->functions;
	char *name CLEANUP(mem_free_text) = mem_format("%s_%zu", kind, session->n_operations++);
	struct TF_OperationDescription *description =
		functions->new_operation(session->graph, kind, name);

	functions->set_device(description, device);
	functions->set_type(description, type_attribute, TYPE_FLOAT);
	for (int i = 0; inputs && i < 2; i++)
		functions->add_input(description, (struct TF_Output){inputs[i], 0});
	return functions->finish_operation(description, session->status);
}

/* The matrices are fed: constants would be multiplied where the graph is simplified. */
static int run_product(struct session *session, struct TF_Operation *const inputs[2],
		       struct TF_Operation *product, struct TF_Tensor **ret_product,
		       struct err *err)
{
	const struct session_functions *functions = &session->functions;
	const struct TF_Output fed[2] = {{inputs[0], 0}, {inputs[1], 0}}, wanted = {product, 0};
	struct TF_Tensor *values[2] = {new_matrix(session, true), new_matrix(session, false)};
	struct text options CLEANUP(text_done) = {0};

	protobuf_add_number(&options, RUN_TIMEOUT_IN_MS, session->timeout);
	struct TF_Buffer *buffer = functions->new_buffer(text_of(&options), options.len);

	functions->run(session->session, buffer, fed, values, 2, &wanted, ret_product, 1, NULL, 0,
		       NULL, session->status);
	functions->delete_buffer(buffer);
	functions->delete_tensor(values[0]);
	functions->delete_tensor(values[1]);
	return check_session_status(session, err);
}

int session_multiply(struct session *session, const char *device, struct err *err)
{
	struct TF_Operation *inputs[2], *product;
	struct TF_Tensor *result = NULL;
	int failure = 0;

	for (int i = 0; i < 2 && !failure; i++) {
		inputs[i] = add_operation(session, "Placeholder", "dtype", device, NULL);
		failure = check_session_status(session, err);
	}
	if (failure)
		return failure;
	product = add_operation(session, "MatMul", "T", device, inputs);
	failure = check_session_status(session, err);
	if (!failure)
		failure = run_product(session, inputs, product, &result, err);
	if (!failure && !is_product(session, result))
		failure = err_set(err, ERR_IO, "the product of two matrices is wrong");
	if (result)
		session->functions.delete_tensor(result);
	return failure;
}
