#include "http/routes.h"

#include "base/line_text.h"
#include "base/mem.h"

void http_answer_text(struct http_call *call, int status, const char *text)
{
	struct text line CLEANUP(text_done) = {0};

	line_text_add_sentence(&line, text, strlen(text));
	text_add_char(&line, '\n');
	http_call_answer(call, status, "text/plain; charset=utf-8", text_of(&line), line.len);
}

void http_answer_health(struct http_call *call, const char *name, void *data)
{
	(void) name;
	(void) data;
	http_answer_text(call, 200, "ok");
}

void http_answer_ready(struct http_call *call, bool is_ready)
{
	http_answer_text(call, is_ready ? 200 : 503, is_ready ? "ok" : "not yet");
}

void http_answer_json(struct http_call *call, int status, const struct json *object)
{
	struct text text CLEANUP(text_done) = {0};

	json_add_pretty(&text, object);
	http_call_answer(call, status, "application/json", text_of(&text), text.len);
}

bool http_access_is_given(const struct http_call *call, const struct http_access *access)
{
	return http_access_accepts(access, http_call_header(call, "Authorization"),
				   access->header ? http_call_header(call, access->header) : NULL);
}

/* *ret_name is the `name` of `answer`; caller frees. */
static bool is_path(const struct http_route *route, const char *path, char **ret_name)
{
	const char *star = strchr(route->path, '*');
	size_t start = star ? (size_t) (star - route->path) : 0;

	if (!star)
		return text_equals(path, route->path);
	if (strncmp(path, route->path, start) != 0)
		return false;
	size_t len = strcspn(path + start, "/");

	if (len == 0 || !text_equals(path + start + len, star + 1))
		return false;
	*ret_name = mem_copy_bytes(path + start, len);
	return true;
}

static bool is_method(const struct http_route *route, const char *method)
{
	return text_equals(method, route->method) ||
	       (text_equals(method, "HEAD") && text_equals(route->method, "GET") && !route->acts &&
		!route->is_endless);
}

static void add_word(struct text *list, const char *word)
{
	text_addf(list, "%s%s", list->len ? ", " : "", word);
}

static void answer_not_found(const struct http_route *routes, struct http_call *call)
{
	struct text paths CLEANUP(text_done) = {0}, sentence CLEANUP(text_done) = {0};

	for (const struct http_route *route = routes; route->method; route++)
		if (route == routes || !text_equals(route->path, route[-1].path))
			add_word(&paths, route->path);
	text_addf(&sentence, "not found; this server has %s", text_of(&paths));
	http_answer_text(call, 404, text_of(&sentence));
}

void http_routes_call(const struct http_route *routes, const struct http_access *access,
		      struct http_call *call, void *data)
{
	const char *path = http_call_path(call);
	char *name CLEANUP(mem_free_text) = NULL;
	struct text methods CLEANUP(text_done) = {0}, sentence CLEANUP(text_done) = {0};

	for (const struct http_route *route = routes; route->method; route++) {
		if (!is_path(route, path, &name))
			continue;
		if (!is_method(route, http_call_method(call))) {
			add_word(&methods, route->method);
			free(TAKE(name));
			continue;
		}
		bool acts = route->acts || !text_equals(route->method, "GET");

		if (acts && http_call_is_from_browser(call)) {
			http_answer_text(call, 403, "requests of browsers are rejected");
			return;
		}
		if (!route->is_open && !http_access_is_given(call, access)) {
			http_call_add_header(call, "WWW-Authenticate", "Bearer");
			http_answer_text(call, 401, "missing or wrong bearer token");
			return;
		}
		route->answer(call, name, data);
		return;
	}
	if (methods.len == 0) {
		answer_not_found(routes, call);
		return;
	}
	http_call_add_header(call, "Allow", text_of(&methods));
	text_addf(&sentence, "method not allowed; use %s", text_of(&methods));
	http_answer_text(call, 405, text_of(&sentence));
}
