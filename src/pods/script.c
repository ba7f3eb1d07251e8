#include "pods/script.h"

#define ANSWER_LIMIT 64
#define COMPLAINTS_LIMIT 2048 /* an error's sentence shows its beginning */

struct kube_script {
	struct kube_script_request request; /* the callbacks */
	struct kube_exec *exec;
	struct text answer; /* as far as it has arrived */
	struct text complaints;
	bool has_answered;
};

static void free_script(struct kube_script *script)
{
	text_done(&script->answer);
	text_done(&script->complaints);
	free(script);
}

static void on_script_output(enum kube_channel channel, const char *bytes, size_t len, void *data)
{
	struct kube_script *script = data;
	size_t room = COMPLAINTS_LIMIT - script->complaints.len;
	size_t answer_room = ANSWER_LIMIT - script->answer.len;
	const char *end = memchr(bytes, '\n', len);
	size_t line = end ? (size_t) (end - bytes) : len;

	if (channel != KUBE_CHANNEL_OUTPUT) {
		text_add_bytes(&script->complaints, bytes, len < room ? len : room);
	} else if (!script->has_answered) {
		/* A long line is no answer of our scripts: it is cut. */
		text_add_bytes(&script->answer, bytes, line < answer_room ? line : answer_room);
		script->has_answered = end;
		if (end)
			script->request.on_answer(text_of(&script->answer), end + 1, len - line - 1,
						  script->request.data);
	} else if (script->request.on_bytes) {
		script->request.on_bytes(bytes, len, script->request.data);
	}
}

static void on_script_room(void *data)
{
	const struct kube_script *script = data;

	if (script->has_answered && script->request.on_room)
		script->request.on_room(script->request.data);
}

static enum err_code script_err_code_of(int exit_code)
{
	switch (exit_code) {
	case KUBE_SCRIPT_NOT_FOUND:
		return ERR_NOT_FOUND;
	case KUBE_SCRIPT_UNSUPPORTED:
		return ERR_UNSUPPORTED;
	case KUBE_SCRIPT_EXISTS:
		return ERR_EXISTS;
	default:
		return ERR_IO;
	}
}

static int check_script_result(const struct kube_script *script, int exit_code,
			       const struct err *lost, struct err *err)
{
	const char *complaint = text_of(&script->complaints);

	if (lost) {
		*err = *lost;
		return err->code;
	}
	if (exit_code == 0)
		return 0;
	if (*complaint)
		return err_set(err, script_err_code_of(exit_code), "%s", complaint);
	return err_set(err, script_err_code_of(exit_code),
		       "the shell in the container exited with code %d", exit_code);
}

static void on_script_exec_end(int exit_code, const struct err *lost, void *data)
{
	struct kube_script *script = data;
	struct text *complaints = &script->complaints;
	struct err err = {0};

	/* Lines become one sentence. */
	while (complaints->len && complaints->bytes[complaints->len - 1] == '\n')
		text_shorten(complaints, complaints->len - 1);
	for (char *feed = complaints->bytes; feed && (feed = strchr(feed, '\n'));)
		*feed = ';';
	int rc = check_script_result(script, exit_code, lost, &err);

	script->exec = NULL;
	script->request.on_end(rc ? "" : text_of(&script->complaints), rc ? &err : NULL,
			       script->request.data);
	free_script(script);
}

/* sh -c TEXT sh ARGUMENTS… Caller frees the list. */
static const char **script_command_of(const struct kube_script_request *request)
{
	const char *const beginning[] = {"sh", "-c", request->text, "sh"};
	size_t n_arguments = 0;

	while (request->arguments[n_arguments])
		n_arguments++;
	const char **command =
		mem_new_array(ARRAY_LEN(beginning) + n_arguments + 1, sizeof(*command));

	memcpy(command, beginning, sizeof(beginning));
	memcpy(command + ARRAY_LEN(beginning), request->arguments, n_arguments * sizeof(*command));
	return command;
}

struct kube_script *kube_script_new(struct kube_api *api, const struct kube_script_request *request)
{
	struct kube_script *script = mem_new(sizeof(*script));
	const char **command CLEANUP(mem_free_any) = script_command_of(request);
	const struct kube_exec_request exec = {
		.container = request->container,
		.command = command,
		.has_input = request->has_input,
		.on_output = on_script_output,
		.on_room = on_script_room,
		.on_end = on_script_exec_end,
		.data = script,
	};

	script->request = *request;
	script->exec = kube_exec_new(api, &exec);
	return script;
}

void kube_script_cancel(struct kube_script *script)
{
	if (!script)
		return;
	kube_exec_cancel(script->exec);
	free_script(script);
}

struct kube_exec *kube_script_exec(const struct kube_script *script)
{
	return script->exec;
}
