#include "unit.h"

#include "base/own.h"
#include "gpu_lists.h"
#include "spec/gpus.h"

static void expect_limited(const char *list, const char *visible, const char *expected)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct text text CLEANUP(text_done) = {0};
	struct gpus gpus = {0};

	if (list)
		gpus_read(list, arena, &gpus);
	gpus_limit(&gpus, visible, arena);
	gpus_add_names(&gpus, gpus_all(&gpus), &text);
	text_add_char(&text, ' ');
	gpus_add_ids(&gpus, gpus_all(&gpus), &text);
	assert_string_equal(text_of(&text), expected);
}

TEST(the_list_of_a_machine_is_read)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct text text CLEANUP(text_done) = {0};
	struct gpus gpus;

	gpus_read(four_gpus, arena, &gpus);
	gpus_add_models(&gpus, &text);
	assert_string_equal(text_of(&text), "0,1 NVIDIA A100-SXM4-40GB; 2,3 Tesla T4");
	assert_int_equal(gpus.count, 4);
	assert_string_equal(gpus.driver, "550.54.14");
	assert_string_equal(gpus.list[0].name, "0");
	assert_string_equal(gpus.list[0].model, "NVIDIA A100-SXM4-40GB");
	assert_string_equal(gpus.list[3].id, "GPU-bb000000-0000");
	assert_int_equal(gpus.list[3].number, 3);
	expect_limited("", NULL, "none ");
	expect_limited("No devices were found\nGPU 0: lost\nGPU x: y (UUID: z)\n", NULL, "none ");
	expect_limited(NULL, NULL, "none ");
}

TEST(a_gpu_cut_into_mig_devices_is_none_itself)
{
	expect_limited(mig_devices, NULL, "0:0,0:1,1 MIG-c1,MIG-c2,GPU-ab");
	expect_limited(mig_devices, "MIG-c2,1", "0:1,1 MIG-c2,1");
	expect_limited("  MIG 3g.20gb     Device  0: (UUID: MIG-c1)\n", NULL, "none ");
}

TEST(the_variable_of_cuda_limits_what_is_there)
{
	expect_limited(four_gpus, "2,0", "2,0 2,0");
	expect_limited(four_gpus, "GPU-ab, 3", "1,3 GPU-ab,3");
	expect_limited(four_gpus, "", "none ");
	expect_limited(four_gpus, "-1", "none ");
	expect_limited(four_gpus, "0,-1,1", "0 0");
	expect_limited(four_gpus, "0,7,1", "0 0");
	expect_limited(four_gpus, "1,1", "1 1");
	expect_limited(four_gpus, "GPU-a", "none "); /* of two */
	expect_limited(four_gpus, "NoDevFiles", "none ");
	expect_limited(NULL, "0,1", "0,1 0,1");
	expect_limited(NULL, "GPU-ab,MIG-c1/1/0", "GPU-ab,MIG-c1/1/0 GPU-ab,MIG-c1/1/0");
	expect_limited(NULL, "-1", "none ");
}

TEST(gpus_keep_their_numbers_whatever_is_shown)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct gpus gpus, other, imagined = {0}, imagined_too = {0};

	gpus_read(four_gpus, arena, &gpus);
	other = gpus;
	gpus_limit(&gpus, "3", arena);
	gpus_limit(&other, "GPU-bb,0", arena);
	assert_int_equal(gpus.list[0].number, 3);
	assert_int_equal(other.list[0].number, 3);
	assert_int_equal(other.list[1].number, 0);
	gpus_limit(&imagined, "GPU-aa", arena);
	gpus_limit(&imagined_too, "GPU-ab", arena);
	assert_true(imagined.list[0].number != imagined_too.list[0].number);
}

TEST(a_gpu_that_the_machine_does_not_have_is_told)
{
	static const struct {
		const char *visible, *fault;
	} rows[] = {
		{"0,9,1", "CUDA_VISIBLE_DEVICES=0,9,1: this machine has no GPU '9'"},
		{"GPU-cc", "CUDA_VISIBLE_DEVICES=GPU-cc: this machine has no GPU 'GPU-cc'"},
		{"0,-1", NULL},
		{"0,", NULL},
		{"3,0", NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct arena *arena CLEANUP(arena_cleanup) = arena_new();
		struct gpus gpus;

		gpus_read(four_gpus, arena, &gpus);
		gpus_limit(&gpus, rows[i].visible, arena);
		assert_true(text_equals(gpus.fault, rows[i].fault));
		assert_true(gpus.is_limited);
	}
}

TEST(a_gpu_is_found_among_names)
{
	assert_true(gpus_names_have("0", 0));
	assert_true(gpus_names_have("2,13", 13));
	assert_true(gpus_names_have("0:1,1:0", 1));
	assert_false(gpus_names_have("2,13", 1));
	assert_false(gpus_names_have("none", 0));
	assert_false(gpus_names_have("GPU-1,1", 1));
	assert_false(gpus_names_have("", 0));
	assert_false(gpus_names_have(NULL, 0));
}

TEST(a_script_of_pytorch_is_known_by_its_imports)
{
	static const char *const scripts[] = {
		"import torch",
		"import os\nimport numpy as np, torch.nn as nn\n",
		"def main():\n    from torch.utils import data\n",
		"from lightning.pytorch import Trainer",
		"\tfrom accelerate import Accelerator\r\n",
		"from transformers import Trainer\n",
		"import sys; import torch\n",
		"\xef\xbb\xbf"
		"import torch\n",
	};

	for (size_t i = 0; i < ARRAY_LEN(scripts); i++)
		assert_true(script_is_for_torch(scripts[i]));
}

TEST(any_other_script_is_not)
{
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
		"import torch; import jax",
		"import",
		"import ,,,",
		"from",
	};

	for (size_t i = 0; i < ARRAY_LEN(scripts); i++)
		assert_false(script_is_for_torch(scripts[i]));
	assert_false(script_is_for_torch(NULL));
}
