#include "tensorflow/python_find.h"

#include "base/text.h"
#include "io/file.h"
#include "io/folder.h"
#include "io/own_process.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>

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

/* The package directories of one Python, as they are found. */
struct finding {
	const struct python_search *search;
	struct arena *arena;
	struct python_place place;
};

/* Directories that do not exist, or are known by another name (lib64), are skipped. */
PRINTF_LIKE(2, 3)
static void add_packages(struct finding *finding, const char *path_format, ...)
{
	struct python_place *place = &finding->place;
	struct stat status, other;
	va_list values;

	va_start(values, path_format);
	char *path CLEANUP(mem_free_text) = mem_format_list(path_format, values);

	va_end(values);
	if (stat(path, &status) || !S_ISDIR(status.st_mode))
		return;
	for (size_t i = 0; i < place->n_packages; i++)
		if (!stat(place->packages[i], &other) && other.st_ino == status.st_ino &&
		    other.st_dev == status.st_dev)
			return;
	place->packages = arena_grow(finding->arena, place->packages, place->n_packages,
				     sizeof(*place->packages));
	place->packages[place->n_packages++] = arena_copy_text(finding->arena, path);
}

static void add_user_packages(struct finding *finding)
{
	const struct python_search *search = finding->search;

	if (is_set(search->user_base))
		add_packages(finding, "%s/lib/python%s/site-packages", search->user_base,
			     finding->place.version);
	else if (is_set(search->home))
		add_packages(finding, "%s/.local/lib/python%s/site-packages", search->home,
			     finding->place.version);
}

static void add_site_packages(struct finding *finding, const char *prefix)
{
	add_packages(finding, "%s/lib/python%s/site-packages", prefix, finding->place.version);
	add_packages(finding, "%s/lib64/python%s/site-packages", prefix, finding->place.version);
}

/* Debian keeps its own packages apart from pip's; Fedora does so under /usr/local too. */
static void add_system_packages(struct finding *finding, const char *prefix)
{
	const char *version = finding->place.version;
	char *local CLEANUP(mem_free_text) = mem_format("%s/local", prefix);

	add_packages(finding, "%s/lib/python%s/dist-packages", local, version);
	add_packages(finding, "%s/lib/python3/dist-packages", prefix);
	add_packages(finding, "%s/lib/python%s/dist-packages", prefix, version);
	add_site_packages(finding, local);
	add_site_packages(finding, prefix);
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

/* That of the interpreter's own name, else the newest pythonX.Y in PREFIX/lib. */
static const char *find_version(const char *interpreter, const char *prefix, struct arena *arena)
{
	char *real CLEANUP(mem_free_text) = realpath(interpreter, NULL);
	const char *slash = real ? strrchr(real, '/') : NULL;
	const char *newest = arena_copy_text(arena, slash ? version_in_name(slash + 1) : NULL);
	char *lib CLEANUP(mem_free_text) = mem_format("%s/lib", prefix);
	DIR *folder CLEANUP(folder_close) = newest ? NULL : opendir(lib);

	for (const struct dirent *entry; folder && (entry = readdir(folder));) {
		const char *version = version_in_name(entry->d_name);

		if (version && minor_of(version) > minor_of(newest))
			newest = arena_copy_text(arena, version);
	}
	return newest;
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
static void add_venv_packages(struct finding *finding, const char *prefix, const char *settings)
{
	char *sees_system CLEANUP(mem_free_text) =
		setting_of(settings, "include-system-site-packages");
	char *home CLEANUP(mem_free_text) = setting_of(settings, "home");

	add_site_packages(finding, prefix);
	if (!home || !sees_system || !text_equals_ignoring_case(sees_system, "true"))
		return;
	char *base CLEANUP(mem_free_text) = file_folder_of(home);

	add_user_packages(finding);
	add_system_packages(finding, base);
}

static struct python_place read_place(const char *interpreter, const struct python_search *search,
				      struct arena *arena)
{
	char *real CLEANUP(mem_free_text) = realpath(interpreter, NULL);
	char *bin CLEANUP(mem_free_text) = file_folder_of(interpreter);
	char *above CLEANUP(mem_free_text) = file_folder_of(bin);
	/* Python looks for it in its own directory and the parent, without following links. */
	char *file CLEANUP(mem_free_text) = mem_format("%s/pyvenv.cfg", above);
	char *settings CLEANUP(mem_free_text) = file_read_text(file);
	char *real_bin CLEANUP(mem_free_text) = file_folder_of(real ? real : interpreter);
	char *prefix CLEANUP(mem_free_text) = file_folder_of(settings ? bin : real_bin);
	char *list CLEANUP(mem_free_text) = mem_copy_text(search->python_path);
	char *rest = list;
	struct finding finding = {
		.search = search,
		.arena = arena,
		.place = {.interpreter = arena_copy_text(arena, interpreter),
			  .version = find_version(interpreter, prefix, arena)},
	};

	for (char *folder; (folder = strsep(&rest, ":"));)
		if (folder[0])
			add_packages(&finding, "%s", folder);
	if (finding.place.version && settings) {
		add_venv_packages(&finding, prefix, settings);
	} else if (finding.place.version) {
		add_user_packages(&finding);
		add_system_packages(&finding, prefix);
	}
	return finding.place;
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

static char *program_in_path(const char *name, const struct python_search *search)
{
	const char *rest = search->path, *found;
	size_t len;

	while ((found = search_path_next(&rest, &len))) {
		char *folder CLEANUP(mem_free_text) = mem_copy_bytes(found, len);
		char *program CLEANUP(mem_free_text) = mem_format("%s/%s", folder, name);
		bool is_shim = text_ends_with(folder, "/shims");
		char *meant = NULL;

		if (file_is_program(program))
			meant = is_shim ? behind_shim(folder, name, search) : TAKE(program);
		if (meant)
			return meant;
	}
	return NULL;
}

int python_find_in_path(const struct python_search *search, struct arena *arena,
			struct python_place *ret_place, struct err *err)
{
	char *program CLEANUP(mem_free_text) = program_in_path("python3", search);

	if (!program)
		program = program_in_path("python", search);
	if (!program)
		return err_set(err, ERR_NOT_FOUND, "python3 not found in PATH");
	*ret_place = read_place(program, search, arena);
	return 0;
}

int python_find(const struct python_search *search, struct arena *arena,
		struct python_place *ret_place, struct err *err)
{
	static const char *const names[] = {"python3", "python"};

	for (size_t i = 0; is_set(search->virtual_env) && i < ARRAY_LEN(names); i++) {
		char *program CLEANUP(mem_free_text) =
			mem_format("%s/bin/%s", search->virtual_env, names[i]);

		if (!file_is_program(program))
			continue;
		*ret_place = read_place(program, search, arena);
		ret_place->is_virtual_env = true;
		return 0;
	}
	return python_find_in_path(search, arena, ret_place, err);
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
