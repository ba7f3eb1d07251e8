#include "tensorflow/package_find.h"

#include "base/mem.h"
#include "base/text.h"
#include "io/folder.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

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
