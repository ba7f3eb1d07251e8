/* The functions of TensorFlow's C API for a client's session.
 *
 * Source: tensorflow/c/c_api.h, tf_buffer.h and tf_tensor.h, the same since TensorFlow 2.12. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* TensorFlow's own types; muster only holds pointers to them, except those passed by value. */
struct TF_Status;
struct TF_SessionOptions;
struct TF_Session;
struct TF_Graph;
struct TF_OperationDescription;
struct TF_Operation;
struct TF_DeviceList;
struct TF_Tensor;
struct TF_Buffer;

struct TF_Output {
	struct TF_Operation *operation;
	int index;
};

struct session_functions {
	struct TF_SessionOptions *(*new_options)(void);
	void (*delete_options)(struct TF_SessionOptions *options);
	void (*set_target)(struct TF_SessionOptions *options, const char *target);
	void (*set_config)(struct TF_SessionOptions *options, const void *config, size_t len,
			   struct TF_Status *status);

	struct TF_Graph *(*new_graph)(void);
	void (*delete_graph)(struct TF_Graph *graph);
	struct TF_OperationDescription *(*new_operation)(struct TF_Graph *graph, const char *kind,
							 const char *name);
	void (*set_device)(struct TF_OperationDescription *description, const char *device);
	void (*set_type)(struct TF_OperationDescription *description, const char *attribute,
			 int type);
	void (*add_input)(struct TF_OperationDescription *description, struct TF_Output input);
	struct TF_Operation *(*finish_operation)(struct TF_OperationDescription *description,
						 struct TF_Status *status);

	struct TF_Session *(*new_session)(struct TF_Graph *graph,
					  const struct TF_SessionOptions *options,
					  struct TF_Status *status);
	void (*close_session)(struct TF_Session *session, struct TF_Status *status);
	void (*delete_session)(struct TF_Session *session, struct TF_Status *status);
	/* Options, inputs, outputs, targets, metadata. */
	void (*run)(struct TF_Session *session, const struct TF_Buffer *options,
		    const struct TF_Output *inputs, struct TF_Tensor *const *input_values,
		    int n_inputs, const struct TF_Output *outputs, struct TF_Tensor **output_values,
		    int n_outputs, const struct TF_Operation *const *targets, int n_targets,
		    struct TF_Buffer *metadata, struct TF_Status *status);

	struct TF_DeviceList *(*list_devices)(struct TF_Session *session, struct TF_Status *status);
	void (*delete_devices)(struct TF_DeviceList *devices);
	int (*count_devices)(const struct TF_DeviceList *devices);
	const char *(*name_device)(const struct TF_DeviceList *devices, int index,
				   struct TF_Status *status);

	struct TF_Buffer *(*new_buffer)(const void *bytes, size_t len);
	void (*delete_buffer)(struct TF_Buffer *buffer);
	struct TF_Tensor *(*new_tensor)(int type, const int64_t *lengths, int n_lengths,
					size_t len);
	void (*delete_tensor)(struct TF_Tensor *tensor);
	void *(*tensor_bytes)(const struct TF_Tensor *tensor);
	size_t (*tensor_size)(const struct TF_Tensor *tensor);
};
