#include "unit.h"

#include "base/mem.h"
#include "spec/job_build.h"
#include "spec/job_files.h"

static const char *const true_command[] = {"true", NULL};

static struct json *document_new(const char *working_dir)
{
	struct job_build build = {.name = "digits",
				  .workers = 1,
				  .command = true_command,
				  .working_dir = working_dir,
				  .grace = -1,
				  .timeout = -1};

	return job_document_new(&build);
}

static void expect_template(const struct json *document, const char *json)
{
	struct text text CLEANUP(text_done) = {0};

	json_add_compact(&text, json_get_path(document, "spec", "tfReplicaSpecs", "Worker",
					      "template", "spec", NULL));
	assert_string_equal(text_of(&text), json);
}

TEST(files_are_mounted_and_the_command_gets_a_folder_to_write_to)
{
	static const struct job_file files[] = {
		{"train.py", "pass\n", 5, false},
		{"lib/run.sh", "exit\n", 5, true},
	};
	struct json *document CLEANUP(json_cleanup) = document_new(NULL);

	assert_int_equal(job_document_add_files(document, files, 2, NULL), 0);
	expect_template(
		document,
		"{\"containers\":[{\"name\":\"tensorflow\",\"command\":[\"true\"],\"volumeMounts\":"
		"["
		"{\"name\":\"muster-files\",\"mountPath\":\"/muster/files\",\"readOnly\":true},"
		"{\"name\":\"muster-work\",\"mountPath\":\"/muster/work\"}],"
		"\"workingDir\":\"/muster/work\"}],\"volumes\":["
		"{\"name\":\"muster-files\",\"projected\":{\"sources\":[{\"configMap\":{"
		"\"name\":\"digits.files-0-ac4dfe8d96a30557\",\"items\":[{\"key\":\"train.py\","
		"\"path\":\"train."
		"py\"},"
		"{\"key\":\"file-1\",\"path\":\"lib/run.sh\",\"mode\":365}]}}]}},"
		"{\"name\":\"muster-work\",\"emptyDir\":{}}]}");
}

TEST(other_contents_have_another_name)
{
	static const size_t parts[] = {0, 1};
	struct job_file files[] = {{"a.py", "1", 1, false}, {"b.py", "2", 1, false}};
	char *first CLEANUP(mem_free_text) = job_files_name("digits", files, 2, parts, 0);
	char *second CLEANUP(mem_free_text) = job_files_name("digits", files, 2, parts, 1);

	files[1].bytes = "3";
	char *same CLEANUP(mem_free_text) = job_files_name("digits", files, 2, parts, 0);
	char *changed CLEANUP(mem_free_text) = job_files_name("digits", files, 2, parts, 1);

	assert_string_equal(first, same);
	assert_string_not_equal(second, changed);
	files[1].bytes = "2";
	files[1].path = "c.py";
	char *renamed CLEANUP(mem_free_text) = job_files_name("digits", files, 2, parts, 1);

	assert_string_not_equal(second, renamed);
}

TEST(a_working_folder_that_was_asked_for_stays)
{
	static const struct job_file file = {"train.py", "pass\n", 5, false};
	struct json *document CLEANUP(json_cleanup) = document_new("/srv");

	assert_int_equal(job_document_add_files(document, &file, 1, NULL), 0);
	expect_template(
		document,
		"{\"containers\":[{\"name\":\"tensorflow\",\"command\":[\"true\"],\"workingDir\":"
		"\"/srv\","
		"\"volumeMounts\":["
		"{\"name\":\"muster-files\",\"mountPath\":\"/muster/files\",\"readOnly\":true}]}],"
		"\"volumes\":[{\"name\":\"muster-files\",\"projected\":{\"sources\":[{"
		"\"configMap\":{"
		"\"name\":\"digits.files-0-85794d22eb505064\",\"items\":[{\"key\":\"train.py\","
		"\"path\":\"train."
		"py\"}]}}]"
		"}}]}");
}

TEST(a_packed_folder_is_unpacked_where_the_command_runs)
{
	char *name CLEANUP(mem_free_text) = job_files_packed_name(0);
	const struct job_file files[] = {{name, "x", 1, false}};
	struct json *document CLEANUP(json_cleanup) = document_new("/elsewhere");
	const struct json *spec = json_get_path(document, "spec", "tfReplicaSpecs", "Worker",
						"template", "spec", NULL);
	const struct json *container = json_at(json_get(spec, "containers"), 0);
	struct text text CLEANUP(text_done) = {0};

	json_set_string(json_at(json_get(spec, "containers"), 0), "image", "model:1");
	assert_int_equal(job_document_add_files(document, files, 1, NULL), 0);
	job_document_add_unpacking(document);
	json_add_compact(&text, json_get(spec, "initContainers"));
	assert_string_equal(
		text_of(&text),
		"[{\"name\":\"muster-folder\",\"image\":\"model:1\",\"command\":[\"sh\",\"-c\","
		"\"cat "
		"/muster/files/muster-folder.tgz.* | tar -x -z -o -f - -C /muster/work\"],"
		"\"volumeMounts\":[{\"name\":\"muster-files\",\"mountPath\":\"/muster/files\","
		"\"readOnly\":true},{\"name\":\"muster-work\",\"mountPath\":\"/muster/work\"}]}]");
	assert_string_equal(json_as_string(json_get(container, "workingDir"), ""), "/muster/work");
	assert_int_equal(json_count(json_get(spec, "volumes")), 2);
}

TEST(a_part_ends_where_the_next_file_would_not_fit)
{
	const struct job_file files[] = {
		{"a", NULL, JOB_FILES_PART_SIZE - 1, false},
		{"b", NULL, 1, false},
		{"c", NULL, 1, false},
		{"d", NULL, JOB_FILES_PART_SIZE, false},
		{"e", NULL, 0, false},
	};
	size_t *parts CLEANUP(mem_free_any) = NULL;

	assert_int_equal(job_files_spread(files, 5, &parts, NULL), 0);
	assert_int_equal(parts[0], 0);
	assert_int_equal(parts[1], 0);
	assert_int_equal(parts[2], 1);
	assert_int_equal(parts[3], 2);
	assert_int_equal(parts[4], 2);
}

TEST(a_file_that_no_part_can_hold_is_named)
{
	const struct job_file file = {"weights.h5", NULL, JOB_FILES_PART_SIZE + 1, false};
	struct json *document CLEANUP(json_cleanup) = document_new(NULL);
	struct json *before CLEANUP(json_cleanup) = json_new_copy(document);
	struct err err = {0};

	assert_int_equal(job_document_add_files(document, &file, 1, &err), ERR_LIMIT);
	assert_string_equal(
		err.text,
		"weights.h5 has 1000001 bytes, but a ConfigMap holds at most 1000000: use --sync "
		"DIR, which compresses files, or put it into the image or on a volume");
	assert_true(json_equals(document, before));
	assert_int_equal(job_document_add_files(document, &file, 1, NULL), ERR_LIMIT);
}

TEST(keys_are_paths_where_kubernetes_takes_them)
{
	static const char *const pairs[][2] = {
		{"train.py", "train.py"}, {".hidden", ".hidden"},  {"..data", "file-7"},
		{"a/b", "file-7"},        {"two words", "file-7"}, {"file-3", "file-7"},
		{"\xc3\xa4", "file-7"},
	};

	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		struct job_file file = {.path = pairs[i][0]};
		char *key CLEANUP(mem_free_text) = job_files_key(&file, 7);

		assert_string_equal(key, pairs[i][1]);
	}
}

static const char *const command[] = {"train", NULL};
static const struct env_entry variables[] = {
	{"TOKEN", "first"}, {"COLOUR", "$(TOKEN)"}, {"TOKEN", "s3cret"}};

TEST(the_document_names_them_without_their_values)
{
	struct json *document CLEANUP(json_cleanup) = job_document_new(
		&(struct job_build){.name = "j", .workers = 1, .ps = 1, .command = command});
	struct job_secret secret CLEANUP(job_secret_done) = {0};
	struct text text CLEANUP(text_done) = {0};
	const char *found;
	int count = 0;

	job_secret_init(&secret, "j.env", variables, ARRAY_LEN(variables));
	job_document_add_secret(document, &secret);
	json_add_compact(&text, document);
	assert_null(strstr(text_of(&text), "s3cret"));
	assert_null(strstr(text_of(&text), "$(TOKEN)"));
	for (found = text_of(&text);
	     (found = strstr(found, "{\"name\":\"TOKEN\",\"valueFrom\":{\"secretKeyRef\":"
				    "{\"name\":\"j.env\",\"key\":\"TOKEN\"}}}"));
	     found++)
		count++;
	assert_int_equal(count, 2); /* of the worker and of the ps */
}

TEST(values_are_kept_as_they_are_and_the_later_one_counts)
{
	struct job_secret secret CLEANUP(job_secret_done) = {0};
	struct text text CLEANUP(text_done) = {0};

	job_secret_init(&secret, "j.env", variables, ARRAY_LEN(variables));
	json_add_compact(&text, secret.values);
	assert_string_equal(text_of(&text), "{\"TOKEN\":\"s3cret\",\"COLOUR\":\"$(TOKEN)\"}");
}

TEST(without_a_secret_the_document_stays)
{
	struct json *document CLEANUP(json_cleanup) = job_document_new(
		&(struct job_build){.name = "j", .workers = 1, .command = command});
	struct json *before CLEANUP(json_cleanup) = json_new_copy(document);

	job_document_add_secret(document, &(struct job_secret){0});
	assert_true(json_equals(document, before));
}
