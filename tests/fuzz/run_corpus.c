/* Runs a fuzz target on every file of a folder: with this main a corpus is an ordinary test.
 *
 *     corpus_yaml tests/fuzz/corpus/yaml
 *
 * Prints each file's name before its bytes are used, so that a crash can be told to its file. */
#include "fuzz.h"

#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

static void close_file(FILE **file)
{
	if (*file)
		fclose(*file);
}

static void close_folder(DIR **folder)
{
	if (*folder)
		closedir(*folder);
}

static int run_file(const char *path)
{
	FILE *file CLEANUP(close_file) = fopen(path, "rb");
	struct text bytes CLEANUP(text_done) = {0};
	char part[4096];
	size_t len;

	if (!file) {
		perror(path);
		return 1;
	}
	while ((len = fread(part, 1, sizeof(part), file)) > 0)
		text_add_bytes(&bytes, part, len);
	/* A copy of just that size, so that a sanitizer sees the first byte behind it. */
	char *copy CLEANUP(mem_free_text) = mem_new(bytes.len ? bytes.len : 1);

	if (bytes.len)
		memcpy(copy, bytes.bytes, bytes.len);
	return LLVMFuzzerTestOneInput((const uint8_t *) copy, bytes.len);
}

static int run_folder(const char *path)
{
	DIR *folder CLEANUP(close_folder) = opendir(path);
	int n_files = 0;

	for (const struct dirent *entry; folder && (entry = readdir(folder));) {
		char *file CLEANUP(mem_free_text) = mem_format("%s/%s", path, entry->d_name);

		if (entry->d_name[0] == '.')
			continue;
		printf("%s\n", file);
		fflush(stdout);
		if (run_file(file) != 0)
			return 1;
		n_files++;
	}
	if (n_files == 0)
		fprintf(stderr, "%s: no files\n", path);
	return n_files == 0;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return 2;
	}
	return run_folder(argv[1]);
}
