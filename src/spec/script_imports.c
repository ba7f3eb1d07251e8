#include "spec/script_imports.h"

#include "base/names.h"

#include <stddef.h>
#include <string.h>

static bool is_one_of(const char *const *words, size_t count, const char *name, size_t len)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(words[i]) == len && strncmp(words[i], name, len) == 0)
			return true;
	return false;
}

struct imports {
	bool has_torch, has_other;
};

static void add_module(const char *name, size_t len, struct imports *imports)
{
	static const char *const torch[] = {"torch",      "torchvision",
					    "lightning",  "pytorch_lightning",
					    "accelerate", "deepspeed"};
	static const char *const others[] = {"tensorflow", "tf_keras", "keras", "jax", "flax"};

	imports->has_torch |= is_one_of(torch, ARRAY_LEN(torch), name, len);
	imports->has_other |= is_one_of(others, ARRAY_LEN(others), name, len);
}

/* "import numpy as np, torch.nn" or "from torch import nn". */
static void read_statement(const char *line, struct imports *imports)
{
	bool is_from = strncmp(line, "from ", strlen("from ")) == 0;

	if (!is_from && strncmp(line, "import ", strlen("import ")) != 0)
		return;
	do {
		line += strcspn(line, " ,");
		line += strspn(line, " ,");
		size_t len = strspn(line, NAME_LETTERS NAME_DIGITS "_");

		add_module(line, len, imports);
		line += strcspn(line, ",\n");
	} while (!is_from && *line == ',');
}

bool script_is_for_torch(const char *text)
{
	struct imports imports = {0};

	while (text && *text) {
		read_statement(text + strspn(text, " \t"), &imports);
		text = strchr(text, '\n');
		text += text != NULL;
	}
	return imports.has_torch && !imports.has_other;
}
