/* The name and position of each function. */
#include "tensorflow/session_functions.h"

static const struct library_function rows[] = {
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

int session_functions_find(const struct library *library, struct session_functions *ret_functions,
			   struct err *err)
{
	return library_find_functions(library, rows, ARRAY_LEN(rows), ret_functions, err);
}
