#include "unit.h"

#include "base/own.h"
#include "spec/script_imports.h"

static void a_script_of_pytorch_is_known_by_its_imports(void **state)
{
	(void) state;
	static const char *const scripts[] = {
		"import torch",
		"import os\nimport numpy as np, torch.nn as nn\n",
		"def main():\n    from torch.utils import data\n",
		"from lightning.pytorch import Trainer",
		"\tfrom accelerate import Accelerator\r\n",
	};

	for (size_t i = 0; i < ARRAY_LEN(scripts); i++)
		assert_true(script_is_for_torch(scripts[i]));
}

static void any_other_script_is_not(void **state)
{
	(void) state;
	static const char *const scripts[] = {
		"",
		"import os",
		"# import torch",
		"print('import torch')",
		"import torchmetrics",
		"import mytorch, os.torch",
		"from . import torch",
		"import torch\nimport tensorflow as tf\n",
		"from jax import numpy\nimport torch",
		"import",
		"import ,,,",
		"from",
	};

	for (size_t i = 0; i < ARRAY_LEN(scripts); i++)
		assert_false(script_is_for_torch(scripts[i]));
	assert_false(script_is_for_torch(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_script_of_pytorch_is_known_by_its_imports),
		cmocka_unit_test(any_other_script_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
