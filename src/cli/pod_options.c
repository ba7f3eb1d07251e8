#include "cli/pod_options.h"

#include "cli/program.h"
#include "command/input.h"
#include "io/folder.h"
#include "spec/limits.h"
#include "spec/pod_fields.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

void fetch_places_done(struct fetch_places *places)
{
	for (size_t i = 0; i < places->count; i++)
		free(places->list[i]);
	free(places->list);
	*places = (struct fetch_places){0};
}

static bool lies_in_folder(const char *path)
{
	char *parent CLEANUP(mem_free_text) = mem_copy_text(path);
	size_t len = strlen(parent);

	while (len && parent[len - 1] == '/')
		len--;
	while (len && parent[len - 1] != '/')
		len--;
	parent[len] = '\0';
	return folder_exists(parent);
}

/* The job may finish long after this command, on another machine. Errors are reported now. */
static int parse_fetch_place(const char *text, char **ret_place, struct err *err)
{
	char *folder CLEANUP(mem_free_text) = realpath(".", NULL);

	if (!*text)
		return err_set(err, ERR_INVALID, "missing path after the last ':'");
	if (*text != '/' && !folder)
		return err_set_errno(err, errno, "cannot determine the working directory");
	char *place CLEANUP(mem_free_text) =
		*text == '/' ? mem_copy_text(text) : mem_format("%s/%s", folder, text);

	if (!folder_exists(place) && !lies_in_folder(place))
		return err_set(err, ERR_NOT_FOUND, "the parent directory of '%s' does not exist",
			       text);
	*ret_place = TAKE(place);
	return 0;
}

static int add_one(const char *text, struct json *document, char **ret_place, struct err *err)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	/* The colon after the path in the Pod; NULL: there is no DEST. */
	const char *first = strchr(text, ':'), *colon = first ? strchr(first + 1, ':') : NULL;
	struct fetch fetch;
	int rc = fetch_read(colon ? arena_format(arena, "%.*s", (int) (colon - text), text) : text,
			    arena, &fetch, err);

	if (rc == 0 && colon)
		rc = parse_fetch_place(colon + 1, ret_place, err);
	if (rc == 0)
		fetch_add(document, &fetch);
	return rc;
}

void fetch_options_add(const struct options *options, struct json *document,
		       struct fetch_places *places, struct text *faults)
{
	struct err err;
	size_t count;
	const char *const *texts = option_list(options, "fetch", &count);

	if (!count)
		return;
	json_remove(json_get_path(document, "metadata", "annotations", NULL), JOB_ANNOTATION_FETCH);
	places->list = mem_new_array(count, sizeof(*places->list));
	places->count = count;
	for (size_t i = 0; i < count; i++)
		if (add_one(texts[i], document, &places->list[i], &err) < 0)
			text_addf(faults, "--fetch %s: %s\n", texts[i], err.text);
}

/* job_document_add_files rejects larger ones, and says why. */
#define READ_LIMIT (16 * 1024 * 1024)

void pod_files_done(struct pod_files *pod_files)
{
	free(pod_files->command);
	free(pod_files->script_path);
	for (size_t i = 0; pod_files->is_folder && i < pod_files->n_files; i++)
		free((char *) pod_files->files[i].path);
	free(pod_files->files);
	text_done(&pod_files->bytes);
}

static bool is_python(const char *name)
{
	return text_ends_with(name, ".py") || text_ends_with(name, ".pyz");
}

static int read_script(const char *path, struct pod_files *pod_files, struct err *err)
{
	const char *slash = strrchr(path, '/');
	struct stat status;

	if (!stat(path, &status) && S_ISDIR(status.st_mode))
		return err_set(err, ERR_INVALID, "%s: a directory (expected a script)", path);
	if (input_read(path, READ_LIMIT, &pod_files->bytes, err)) {
		if (err->code == ERR_NOT_FOUND && !is_python(path))
			return err_set(err, ERR_NOT_FOUND,
				       "%s: no such file; to run a program of the image, write -- "
				       "PROGRAM ARGS",
				       path);
		return err->code;
	}
	pod_files->files = mem_new(sizeof(*pod_files->files));
	pod_files->files[0] = (struct job_file){
		.path = slash ? slash + 1 : path,
		.bytes = text_of(&pod_files->bytes),
		.len = pod_files->bytes.len,
		.is_executable = !is_python(path),
	};
	pod_files->n_files = 1;
	pod_files->script_path = mem_format("%s/%s", JOB_FILES_FOLDER, pod_files->files[0].path);
	return 0;
}

/* A directory in parts. */

/* "./train.py": the path of the script in the copy, which is the working directory. */
static int find_script(const char *path, const char *folder, struct pod_files *pod_files,
		       struct err *err)
{
	char *real CLEANUP(mem_free_text) = realpath(path, NULL);
	char *root CLEANUP(mem_free_text) = realpath(folder, NULL);
	size_t len = root ? strlen(root) : 0;

	if (!root)
		return err_set_errno(err, errno, "--sync: cannot read directory '%s'", folder);
	if (!real)
		return err_set_errno(err, errno, "cannot read '%s'", path);
	if (!text_starts_with(real, root) || real[len] != '/')
		return err_set(err, ERR_INVALID, "%s: not inside the --sync directory %s", path,
			       folder);
	pod_files->script_path = mem_format(".%s", real + len);
	return 0;
}

static void cut_into_parts(struct pod_files *pod_files)
{
	size_t len = pod_files->bytes.len;

	pod_files->is_folder = true;
	pod_files->n_files = (len + JOB_FILES_PART_SIZE - 1) / JOB_FILES_PART_SIZE;
	pod_files->files = mem_new_array(pod_files->n_files, sizeof(*pod_files->files));
	for (size_t i = 0; i < pod_files->n_files; i++) {
		size_t begin = i * JOB_FILES_PART_SIZE;
		size_t left = len - begin;

		pod_files->files[i] = (struct job_file){
			.path = job_files_packed_name(i),
			.bytes = text_of(&pod_files->bytes) + begin,
			.len = left < JOB_FILES_PART_SIZE ? left : JOB_FILES_PART_SIZE,
		};
	}
}

static int pack_folder(const char *folder, sync_folder_pack_fn pack, const char *script,
		       struct pod_files *pod_files, struct err *err)
{
	struct stat status;
	int rc = 0;

	if (stat(folder, &status) < 0)
		return errno == ENOENT
			       ? err_set(err, ERR_NOT_FOUND, "--sync: '%s' not found", folder)
			       : err_set_errno(err, errno, "--sync: cannot read '%s'", folder);
	if (!S_ISDIR(status.st_mode))
		return err_set(err, ERR_INVALID, "--sync: '%s' is not a directory", folder);
	if (script)
		rc = find_script(script, folder, pod_files, err);
	if (rc == 0)
		rc = pack(folder,
			  pod_files->script_path ? pod_files->script_path + strlen("./") : NULL,
			  &pod_files->bytes, err);
	if (rc == 0)
		cut_into_parts(pod_files);
	return rc;
}

int pod_files_find(const char *const *arguments, bool is_program, const char *folder,
		   sync_folder_pack_fn pack, struct pod_files *pod_files, struct err *err)
{
	const char *first = arguments[0];

	if (!first)
		return program_refuse_nothing(err);
	bool is_module = pod_files->is_module;
	bool is_script = !is_program && !is_module && (is_python(first) || strchr(first, '/'));
	bool has_python = is_module || (is_script && is_python(first));
	int rc = 0;

	if (folder)
		rc = pack_folder(folder, pack, is_script ? first : NULL, pod_files, err);
	else if (is_script)
		rc = read_script(first, pod_files, err);
	if (rc < 0)
		return rc;
	/* The words of the command line, with the script's path replaced. */
	pod_files->command = program_command(has_python ? "python3" : NULL, is_module, arguments);
	if (is_script)
		pod_files->command[has_python ? 2 : 0] = pod_files->script_path;
	return 0;
}

void pod_options_done(struct pod_options *pod_options)
{
	documents_free(pod_options->documents, pod_options->n_documents);
}

static struct pod_texts texts_of(const struct options *options, const char *name)
{
	struct pod_texts texts;

	texts.list = option_list(options, name, &texts.count);
	return texts;
}

static int read_template(const char *path, struct pod_options *pod_options, struct err *err)
{
	struct text text CLEANUP(text_done) = {0};

	if (input_read(path, LIMIT_DOCUMENT_SIZE, &text, err))
		return err->code;
	if (documents_read(text_of(&text), text.len, &pod_options->documents,
			   &pod_options->n_documents, err))
		return err_prefix(err, "%s", path);
	if (pod_options->n_documents != 1)
		return err_set(err, ERR_INVALID, "%s: contains %zu documents (expected one Pod)",
			       path, pod_options->n_documents);
	if (pod_build_template(document_root(pod_options->documents[0]),
			       &pod_options->build.template, err))
		return err_prefix(err, "%s", path);
	return 0;
}

bool pod_options_read(const struct options *options, struct pod_options *pod_options,
		      struct text *faults)
{
	const char *template = option_text(options, "pod-template");
	struct faults found CLEANUP(faults_done) = {0};
	struct err err;

	pod_options->build = (struct pod_build){
		.image = option_text(options, "image"),
		.name_space = option_text(options, "namespace"),
		.cpu = option_text(options, "cpu"),
		.memory = option_text(options, "memory"),
		.gpu = option_text(options, "gpu"),
		.service_account = option_text(options, "service-account"),
		.priority = option_text(options, "priority"),
		.image_pull_secrets = texts_of(options, "image-pull-secret"),
		.node_selectors = texts_of(options, "node-selector"),
		.tolerations = texts_of(options, "toleration"),
		.volumes = texts_of(options, "volume"),
	};
	if (template && read_template(template, pod_options, &err)) {
		text_addf(faults, "--pod-template: %s\n", err.text);
		return false;
	}
	if (template)
		pod_fields_check_file(pod_options->documents[0], &found);
	if (found.count)
		text_add(faults, "--pod-template: ");
	faults_describe(&found, template, faults);
	return !found.count;
}
