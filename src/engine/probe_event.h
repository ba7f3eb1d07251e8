/* Events of a probe. For the files of engine/probe* alone. */
#pragma once

#include "base/own.h"
#include "engine/probe_request.h"

enum probe_step { PROBE_DEVICES, PROBE_SESSION };

void probe_begin(const struct probe_request *request, const char *format, ...) PRINTF_LIKE(2, 3);
/* `kind` is "devices" or "ran". */
void probe_tell_devices(const struct probe_request *request, const char *kind, const char *task,
			const char *const *devices, size_t n_devices, double seconds);
/* `task` and `server` may be NULL. `code` is TensorFlow's word. */
void probe_tell_error(const struct probe_request *request, enum probe_step step, const char *task,
		      const char *server, const char *code, const char *message);
