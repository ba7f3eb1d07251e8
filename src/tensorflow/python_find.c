#include "tensorflow/python_find.h"

#include "base/text.h"
#include "io/file.h"
#include "io/folder.h"
#include "io/own_process.h"
#include "io/program_call.h"

#include <ctype.h>
#include <dirent.h>
#include <unistd.h>

#define ENDING ".dist-info"

static bool is_package_name(const char *written, size_t len, const char *name)
{
	for (size_t at = 0; at < len; at++) {
		/* PEP 503. */
		char letter = written[at] == '_' || written[at] == '.'
				      ? '-'
				      : (char) tolower((unsigned char) written[at]);

		if (letter != name[at])
			return false;
	}
	return !name[len];
}

bool package_find(const char *folder, const char *const *names, size_t n_names, struct arena *arena,
		  const char **ret_name, const char **ret_version)
{
	DIR *open CLEANUP(folder_close) = opendir(folder);

	/* "tensorflow_cpu-2.21.0.dist-info": neither name nor version contains a dash. */
	for (const struct dirent *entry; open && (entry = readdir(open));) {
		const char *dash = strchr(entry->d_name, '-');

		for (size_t i = 0; dash && text_ends_with(dash, ENDING) && i < n_names; i++) {
			if (!is_package_name(entry->d_name, (size_t) (dash - entry->d_name),
					     names[i]))
				continue;
			if (ret_name)
				*ret_name = names[i];
			*ret_version = arena_format(
				arena, "%.*s", (int) (strlen(dash + 1) - strlen(ENDING)), dash + 1);
			return true;
		}
	}
	return false;
}

#define ANSWER_LIMIT 65536 /* bytes */
#define TIME_LIMIT 20000 /* ms: from a slow network file system */
#define MARK "muster asks: " /* a sitecustomize may print before it */

struct python_search python_search_here(void)
{
	return (struct python_search){.virtual_env = getenv("VIRTUAL_ENV"), .path = getenv("PATH")};
}

char *python_in_path(const char *path)
{
	char *program = search_path_find(path, "python3");

	return program ? program : search_path_find(path, "python");
}

char **python_environment(struct arena *arena)
{
	const char *rest = getenv("PYTHONPATH"), *folder;
	struct text entry CLEANUP(text_done) = {0};
	size_t len;

	text_add(&entry, "PYTHONPATH");
	for (char before = '='; (folder = search_path_next(&rest, &len)); before = ':') {
		text_add_char(&entry, before);
		text_add_bytes(&entry, folder, len);
	}
	const char *const changes[] = {arena_copy_text(arena, text_of(&entry)), NULL};

	return own_environment_with(changes);
}

/* Its version, then a line for each directory. */
static int read_answer(char *answer, struct arena *arena, struct python_place *place)
{
	char *rest = answer ? strstr(answer, MARK) : NULL;

	if (!rest)
		return ERR_INVALID;
	rest += strlen(MARK);
	place->version = arena_copy_text(arena, strsep(&rest, "\n"));
	for (char *folder; (folder = strsep(&rest, "\n"));) {
		if (!folder[0])
			continue;
		place->packages = arena_grow(arena, place->packages, place->n_packages,
					     sizeof(*place->packages));
		place->packages[place->n_packages++] = arena_copy_text(arena, folder);
	}
	return 0;
}

int python_ask(const char *interpreter, struct arena *arena, struct python_place *ret_place,
	       struct err *err)
{
	char *words[] = {
		(char *) interpreter,
		"-c",
		"import os, sys\n"
		"print('\\n" MARK "%d.%d' % sys.version_info[:2])\n"
		"print('\\n'.join(path for path in sys.path if path and os.path.isdir(path)))",
		NULL,
	};
	char **environment CLEANUP(mem_free_any) = python_environment(arena);
	const struct program_question question = {
		.program = interpreter,
		.arguments = words,
		.environment = environment,
		.limit = ANSWER_LIMIT,
		.time_limit = TIME_LIMIT,
	};
	struct text answer CLEANUP(text_done) = {0};
	struct python_place place = {.interpreter = arena_copy_text(arena, interpreter)};
	int rc = program_call_wait(&question, &answer, err);

	if (rc < 0)
		return err_prefix(err, "%s does not work", interpreter);
	char *text CLEANUP(mem_free_text) = text_take(&answer);

	if (read_answer(text, arena, &place) < 0)
		return err_set(err, ERR_INVALID, "%s is not Python", interpreter);
	*ret_place = place;
	return 0;
}

int python_find(const struct python_search *search, struct arena *arena,
		struct python_place *ret_place, struct err *err)
{
	bool has_environment = search->virtual_env && search->virtual_env[0];
	char *folder CLEANUP(mem_free_text) =
		has_environment ? mem_format("%s/bin", search->virtual_env) : NULL;
	char *inside CLEANUP(mem_free_text) = python_in_path(folder);
	char *outside CLEANUP(mem_free_text) = inside ? NULL : python_in_path(search->path);

	if (!inside && !outside)
		return err_set(err, ERR_NOT_FOUND, "python3 not found in PATH");
	int rc = python_ask(inside ? inside : outside, arena, ret_place, err);

	if (rc == 0)
		ret_place->is_virtual_env = inside;
	return rc;
}

const char *python_package_version(const struct python_place *place, const char *name,
				   struct arena *arena)
{
	const char *version = NULL;

	for (size_t i = 0; i < place->n_packages && !version; i++)
		(void) package_find(place->packages[i], &name, 1, arena, NULL, &version);
	return version;
}

bool tensorflow_package_find(const char *folder, struct arena *arena, const char **ret_name,
			     const char **ret_version)
{
	static const char *const names[] = {
		"tensorflow",       "tensorflow-cpu",     "tensorflow-gpu",  "tensorflow-intel",
		"tensorflow-macos", "tensorflow-cpu-aws", "tensorflow-rocm", "intel-tensorflow",
		"tf-nightly",       "tf-nightly-cpu",
	};

	return package_find(folder, names, ARRAY_LEN(names), arena, ret_name, ret_version);
}

const char *python_tensorflow_folder(const struct python_place *place)
{
	for (size_t i = 0; i < place->n_packages; i++) {
		char *modules CLEANUP(mem_free_text) =
			mem_format("%s/tensorflow/__init__.py", place->packages[i]);

		if (access(modules, R_OK) == 0)
			return place->packages[i];
	}
	return NULL;
}
