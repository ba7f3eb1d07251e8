#include "tensorflow/python_find.h"

#include "base/mem.h"
#include "base/text.h"
#include "io/file.h"
#include "io/folder.h"
#include "io/own_process.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ENDING ".dist-info"

const char *const tensorflow_package_names[] = {
	"tensorflow",       "tensorflow-cpu",     "tensorflow-gpu",  "tensorflow-intel",
	"tensorflow-macos", "tensorflow-cpu-aws", "tensorflow-rocm", "intel-tensorflow",
	"tf-nightly",       "tf-nightly-cpu",
};
const size_t n_tensorflow_package_names = ARRAY_LEN(tensorflow_package_names);

/* PEP 503. */
static char normal(char letter)
{
	return letter == '_' || letter == '.' ? '-' : (char) tolower((unsigned char) letter);
}

static bool is_package_name(const char *written, size_t len, const char *name)
{
	size_t at = 0;

	while (at < len && name[at] && normal(written[at]) == name[at])
		at++;
	return at == len && !name[at];
}

/* "tensorflow_cpu-2.21.0.dist-info": neither name nor version contains a dash. */
static bool read_entry(const char *entry, const char *const *names, size_t n_names, char **ret_name,
		       char **ret_version)
{
	const char *dash = strchr(entry, '-');

	if (!dash || !text_ends_with(dash, ENDING))
		return false;
	for (size_t i = 0; i < n_names; i++) {
		if (!is_package_name(entry, (size_t) (dash - entry), names[i]))
			continue;
		if (ret_name)
			*ret_name = mem_copy_text(names[i]);
		*ret_version = mem_copy_bytes(dash + 1, strlen(dash + 1) - strlen(ENDING));
		return true;
	}
	return false;
}

bool package_find(const char *folder, const char *const *names, size_t n_names, char **ret_name,
		  char **ret_version)
{
	DIR *open CLEANUP(folder_close) = opendir(folder);

	for (const struct dirent *entry; open && (entry = readdir(open));)
		if (read_entry(entry->d_name, names, n_names, ret_name, ret_version))
			return true;
	return false;
}

#define SETTINGS_LIMIT 65536 /* bytes of a pyvenv.cfg */

struct python_search python_search_here(void)
{
	return (struct python_search){
		.virtual_env = getenv("VIRTUAL_ENV"),
		.path = getenv("PATH"),
		.home = getenv("HOME"),
		.python_path = getenv("PYTHONPATH"),
		.user_base = getenv("PYTHONUSERBASE"),
		.pyenv_version = getenv("PYENV_VERSION"),
	};
}

static bool is_set(const char *text)
{
	return text && text[0];
}

static bool is_listed(const struct python_place *place, const struct stat *status)
{
	struct stat other;

	for (size_t i = 0; i < place->n_packages; i++)
		if (!stat(place->packages[i], &other) && other.st_ino == status->st_ino &&
		    other.st_dev == status->st_dev)
			return true;
	return false;
}

/* Takes the path over. Directories that do not exist, or are known by another name (lib64), are
 * skipped. */
static void add_packages(struct python_place *place, char *take_path)
{
	char *path CLEANUP(mem_free_text) = take_path;
	struct stat status;

	if (stat(path, &status) || !S_ISDIR(status.st_mode) || is_listed(place, &status))
		return;
	place->packages =
		mem_resize(place->packages, place->n_packages + 1, sizeof(*place->packages));
	place->packages[place->n_packages++] = TAKE(path);
}

static void add_python_path(struct python_place *place, const char *python_path)
{
	char *list CLEANUP(mem_free_text) = mem_copy_text(python_path);
	char *rest = list;

	for (char *folder; (folder = strsep(&rest, ":"));)
		if (folder[0])
			add_packages(place, mem_copy_text(folder));
}

static void add_user_packages(struct python_place *place, const struct python_search *search)
{
	if (is_set(search->user_base))
		add_packages(place, mem_format("%s/lib/python%s/site-packages", search->user_base,
					       place->version));
	else if (is_set(search->home))
		add_packages(place, mem_format("%s/.local/lib/python%s/site-packages", search->home,
					       place->version));
}

static void add_site_packages(struct python_place *place, const char *prefix)
{
	add_packages(place, mem_format("%s/lib/python%s/site-packages", prefix, place->version));
	add_packages(place, mem_format("%s/lib64/python%s/site-packages", prefix, place->version));
}

/* Debian keeps its own packages apart from pip's; Fedora does so under /usr/local too. */
static void add_system_packages(struct python_place *place, const char *prefix)
{
	char *local CLEANUP(mem_free_text) = mem_format("%s/local", prefix);

	add_packages(place, mem_format("%s/lib/python%s/dist-packages", local, place->version));
	add_packages(place, mem_format("%s/lib/python3/dist-packages", prefix));
	add_packages(place, mem_format("%s/lib/python%s/dist-packages", prefix, place->version));
	add_site_packages(place, local);
	add_site_packages(place, prefix);
}

/* "3.11" of "python3.11"; NULL: not of that form. */
static const char *version_in_name(const char *name)
{
	int major, minor, end = 0;

	if (sscanf(name, "python%d.%d%n", &major, &minor, &end) != 2 || name[end])
		return NULL;
	return name + strlen("python");
}

static int minor_of(const char *version)
{
	return version ? atoi(strchr(version, '.') + 1) : -1;
}

/* The newest pythonX.Y in PREFIX/lib. */
static char *version_in_folder(const char *prefix)
{
	char *lib CLEANUP(mem_free_text) = mem_format("%s/lib", prefix);
	DIR *folder CLEANUP(folder_close) = opendir(lib);
	char *newest = NULL;

	for (const struct dirent *entry; folder && (entry = readdir(folder));) {
		const char *version = version_in_name(entry->d_name);

		if (!version || minor_of(version) <= minor_of(newest))
			continue;
		free(newest);
		newest = mem_copy_text(version);
	}
	return newest;
}

static char *find_version(const char *interpreter, const char *prefix)
{
	char *real CLEANUP(mem_free_text) = realpath(interpreter, NULL);
	const char *slash = real ? strrchr(real, '/') : NULL;
	const char *version = slash ? version_in_name(slash + 1) : NULL;

	return version ? mem_copy_text(version) : version_in_folder(prefix);
}

/* The value of "KEY = VALUE" in a pyvenv.cfg; NULL: absent. Caller frees. */
static char *setting_of(const char *settings, const char *key)
{
	char *copy CLEANUP(mem_free_text) = mem_copy_text(settings);
	char *rest = copy;
	size_t len = strlen(key);

	for (char *line; (line = strsep(&rest, "\n"));) {
		if (strncmp(line, key, len) != 0)
			continue;
		char *value = line + len + strspn(line + len, " \t");

		if (*value++ != '=')
			continue;
		value += strspn(value, " \t");
		value[strcspn(value, "\r")] = '\0';
		return mem_copy_text(value);
	}
	return NULL;
}

/* A virtual environment's own packages, and the base's if configured. */
static void add_venv_packages(struct python_place *place, const char *prefix, const char *settings,
			      const struct python_search *search)
{
	char *sees_system CLEANUP(mem_free_text) =
		setting_of(settings, "include-system-site-packages");
	char *home CLEANUP(mem_free_text) = setting_of(settings, "home");

	add_site_packages(place, prefix);
	if (!home || !sees_system || !text_equals_ignoring_case(sees_system, "true"))
		return;
	char *base CLEANUP(mem_free_text) = file_folder_of(home);

	add_user_packages(place, search);
	add_system_packages(place, base);
}

/* The parent of the program's directory, with links followed. */
static char *real_prefix_of(const char *interpreter)
{
	char *real CLEANUP(mem_free_text) = realpath(interpreter, NULL);
	char *bin CLEANUP(mem_free_text) = file_folder_of(real ? real : interpreter);

	return file_folder_of(bin);
}

static struct python_place *place_new(const char *interpreter, const struct python_search *search)
{
	struct python_place *place = mem_new(sizeof(*place));
	char *bin CLEANUP(mem_free_text) = file_folder_of(interpreter);
	char *above CLEANUP(mem_free_text) = file_folder_of(bin);
	/* Python looks for it in its own directory and the parent, without following links. */
	char *file CLEANUP(mem_free_text) = mem_format("%s/pyvenv.cfg", above);
	char *settings CLEANUP(mem_free_text) = file_read_text(file);
	char *prefix CLEANUP(mem_free_text) =
		settings ? mem_copy_text(above) : real_prefix_of(interpreter);

	place->interpreter = mem_copy_text(interpreter);
	place->version = find_version(interpreter, prefix);
	if (is_set(search->python_path))
		add_python_path(place, search->python_path);
	if (!place->version)
		return place;
	if (settings) {
		add_venv_packages(place, prefix, settings, search);
		return place;
	}
	add_user_packages(place, search);
	add_system_packages(place, prefix);
	return place;
}

/* pyenv puts a shell script before every Python, which reads pyenv's settings
 * (github.com/pyenv/pyenv, "Understanding shims"). NULL if the version it would choose does not
 * exist or is the system's. */
static char *behind_shim(const char *shims, const char *name, const struct python_search *search)
{
	char *root CLEANUP(mem_free_text) = file_folder_of(shims);
	char *file CLEANUP(mem_free_text) = mem_format("%s/version", root);
	char *version CLEANUP(mem_free_text) = NULL;
	size_t len;

	if (is_set(search->pyenv_version))
		version = mem_copy_text(search->pyenv_version);
	else if (file_read_whole(file, SETTINGS_LIMIT, &version, &len, NULL))
		return NULL;
	version[strcspn(version, ":\r\n")] = '\0';
	char *program CLEANUP(mem_free_text) =
		mem_format("%s/versions/%s/bin/%s", root, version, name);

	return file_is_program(program) ? TAKE(program) : NULL;
}

static char *program_in(const char *folder, const char *name, const struct python_search *search)
{
	char *program CLEANUP(mem_free_text) = mem_format("%s/%s", folder, name);

	if (!file_is_program(program))
		return NULL;
	return text_ends_with(folder, "/shims") ? behind_shim(folder, name, search) : TAKE(program);
}

static char *program_in_path(const char *name, const struct python_search *search)
{
	const char *rest = search->path, *found;
	char *program = NULL;
	size_t len;

	while (!program && (found = search_path_next(&rest, &len))) {
		char *folder CLEANUP(mem_free_text) = mem_copy_bytes(found, len);

		program = program_in(folder, name, search);
	}
	return program;
}

int python_find_in_path(const struct python_search *search, struct python_place **ret_place,
			struct err *err)
{
	char *program CLEANUP(mem_free_text) = program_in_path("python3", search);

	if (!program)
		program = program_in_path("python", search);
	if (!program)
		return err_set(err, ERR_NOT_FOUND, "python3 not found in PATH");
	*ret_place = place_new(program, search);
	return 0;
}

static char *program_of_virtual_env(const struct python_search *search)
{
	static const char *const names[] = {"python3", "python"};

	for (size_t i = 0; is_set(search->virtual_env) && i < ARRAY_LEN(names); i++) {
		char *program CLEANUP(mem_free_text) =
			mem_format("%s/bin/%s", search->virtual_env, names[i]);

		if (file_is_program(program))
			return TAKE(program);
	}
	return NULL;
}

int python_find(const struct python_search *search, struct python_place **ret_place,
		struct err *err)
{
	char *program CLEANUP(mem_free_text) = program_of_virtual_env(search);

	if (!program)
		return python_find_in_path(search, ret_place, err);
	*ret_place = place_new(program, search);
	(*ret_place)->is_virtual_env = true;
	return 0;
}

void python_place_cleanup(struct python_place **place)
{
	if (!*place)
		return;
	for (size_t i = 0; i < (*place)->n_packages; i++)
		free((*place)->packages[i]);
	free((*place)->packages);
	free((*place)->interpreter);
	free((*place)->version);
	free(*place);
}
