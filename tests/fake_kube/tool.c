#include "tool.h"

#include "base/mem.h"
#include "io/file.h"

#include <stdio.h>

#define FILE_LIMIT (1024 * 1024)

void tool_print(struct json *take_object)
{
	struct json *object CLEANUP(json_cleanup) = take_object;
	struct text line CLEANUP(text_done) = {0};

	json_add_compact(&line, object);
	printf("%s\n", text_of(&line));
	fflush(stdout);
}

char *tool_content_of(const char *path)
{
	char *content;
	size_t len;
	struct err err = {0};

	if (file_read_whole(path, FILE_LIMIT, &content, &len, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		exit(2);
	}
	return content;
}

struct kube_login *tool_login_new(const char *server, char *const *files)
{
	struct kube_login *login = kube_login_new(server);

	if (files) {
		login->authority = tool_content_of(files[0]);
		login->credential.client_certificate = tool_content_of(files[1]);
		login->credential.client_key = tool_content_of(files[2]);
	}
	return login;
}
