#include "check/probe_event.h"

#include <stdarg.h>
#include <stdio.h>

static const char *const step_words[] = {"devices", "session"};

void probe_begin(const struct probe_request *request, const char *format, ...)
{
	char doing[200];
	va_list values;

	va_start(values, format);
	vsnprintf(doing, sizeof(doing), format, values);
	va_end(values);
	request->on_begin(doing, request->data);
}

void probe_report_devices(const struct probe_request *request, const char *kind, const char *task,
			  const char *const *devices, size_t n_devices, double seconds)
{
	struct json *event CLEANUP(json_cleanup) = json_new_object();
	struct json *list = json_new_array();

	for (size_t i = 0; i < n_devices; i++)
		json_append(list, json_new_string(devices[i]));
	json_set_string(event, "muster", kind);
	json_set_string(event, "task", task);
	json_set(event, "devices", list);
	json_set(event, "seconds", json_new_real(seconds));
	request->tell(event, request->data);
}

void probe_report_error(const struct probe_request *request, enum probe_step step, const char *task,
			const char *server, const char *code, const char *message)
{
	struct json *event CLEANUP(json_cleanup) = json_new_object();

	json_set_string(event, "muster", "error");
	json_set_string(event, "step", step_words[step]);
	json_set_string(event, "task", task);
	json_set_string(event, "server", server);
	json_set_string(event, "code", code);
	json_set_string(event, "message", message);
	request->tell(event, request->data);
}
