#include "spec/gpus.h"

#include "base/hash.h"
#include "base/names.h"

#include <stdio.h>

#define ID_SIZE 128
#define NUMBER_OF_WORD (1 << 30) /* the first number of GPUs that are known by a word alone */

/* The machine's list. */

static bool is_mig(const struct gpu *gpu)
{
	return text_starts_with(gpu->id, "MIG-");
}

static void add_gpu(struct gpus *gpus, const char *name, const char *id, const char *model,
		    struct arena *arena)
{
	if (gpus->count == GPUS_LIMIT)
		return;
	gpus->list[gpus->count] = (struct gpu){
		.name = arena_copy_text(arena, name),
		.id = arena_copy_text(arena, id),
		.model = arena_copy_text(arena, model),
		.number = (int) gpus->count,
	};
	gpus->count++;
}

/* "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5c89852c-…)". */
static void read_gpu(const char *line, struct arena *arena, struct gpus *gpus)
{
	const char *uuid = strstr(line, " (UUID: ");
	char number[8], id[ID_SIZE];
	int model_at = 0;

	if (!uuid || sscanf(line, "GPU %7[" NAME_DIGITS "]: %n", number, &model_at) != 1 ||
	    sscanf(uuid, " (UUID: %127[^)]", id) != 1 || line + model_at > uuid)
		return;
	char *model = arena_format(arena, "%.*s", (int) (uuid - line - model_at), line + model_at);

	add_gpu(gpus, number, id, model, arena);
}

/* "  MIG 3g.20gb     Device  1: (UUID: MIG-…)": the first one replaces its GPU. */
static void read_mig_device(const char *line, struct gpu *parent, struct arena *arena,
			    struct gpus *gpus)
{
	char number[8], id[ID_SIZE];

	if (gpus->count == 0 ||
	    sscanf(line, " MIG %*s Device %7[" NAME_DIGITS "]: (UUID: %127[^)]", number, id) != 2)
		return;
	if (!is_mig(&gpus->list[gpus->count - 1]))
		*parent = gpus->list[--gpus->count];
	add_gpu(gpus, arena_format(arena, "%s:%s", parent->name, number), id, parent->model, arena);
}

bool gpus_have_mig(const struct gpus *gpus)
{
	for (size_t i = 0; i < gpus->count; i++)
		if (is_mig(&gpus->list[i]))
			return true;
	return false;
}

void gpus_read(const char *text, struct arena *arena, struct gpus *ret_gpus)
{
	struct gpus gpus = {.has_list = true};
	char *rest = arena_copy_text(arena, text);
	struct gpu parent = {0};
	char driver[32];

	for (char *line; (line = strsep(&rest, "\n"));) {
		read_gpu(line, arena, &gpus);
		read_mig_device(line, &parent, arena, &gpus);
		if (sscanf(line, "Driver Version: %31s", driver) == 1)
			gpus.driver = arena_copy_text(arena, driver);
	}
	*ret_gpus = gpus;
}

/* Limiting it to CUDA_VISIBLE_DEVICES. */

static bool is_uuid(const char *word)
{
	return text_starts_with(word, "GPU-") || text_starts_with(word, "MIG-");
}

/* A GPU for a word without a list. Two shells that see different GPUs get different numbers. */
static bool imagine_gpu(const char *word, struct gpu *ret_gpu)
{
	int64_t number = 0;

	if (is_uuid(word))
		number = NUMBER_OF_WORD | (hash_short(word) & (NUMBER_OF_WORD - 1));
	else if (!*word || word[strspn(word, NAME_DIGITS)] ||
		 text_read_int(word, 0, NUMBER_OF_WORD - 1, &number, NULL))
		return false;
	*ret_gpu = (struct gpu){.name = word, .number = (int) number};
	return true;
}

/* The one GPU that a word names; a uuid may be abbreviated if it is unique. */
static bool find_gpu(const struct gpus *gpus, const char *word, struct gpu *ret_gpu)
{
	int n_found = 0;

	if (!gpus->has_list)
		return imagine_gpu(word, ret_gpu);
	for (size_t i = 0; i < gpus->count; i++) {
		const struct gpu *gpu = &gpus->list[i];

		if (!text_equals(gpu->name, word) &&
		    !(is_uuid(word) && text_starts_with(gpu->id, word)))
			continue;
		*ret_gpu = *gpu;
		n_found++;
	}
	return n_found == 1;
}

void gpus_limit(struct gpus *gpus, const char *visible, struct arena *arena)
{
	struct gpus shown = {.has_list = gpus->has_list,
			     .driver = gpus->driver,
			     .fault = gpus->fault,
			     .is_limited = true};
	char *rest = arena_copy_text(arena, visible);
	bool is_twice = false;
	struct gpu gpu;

	if (!visible)
		return;
	for (char *word; (word = strsep(&rest, ",")) && shown.count < GPUS_LIMIT;) {
		word += strspn(word, " ");
		word[strcspn(word, " ")] = '\0';
		if (!find_gpu(gpus, word, &gpu)) {
			if (*word && !text_equals(word, "-1") && !shown.fault)
				shown.fault = arena_format(
					arena, GPUS_VARIABLE "=%s: this machine has no GPU '%s'",
					visible, word);
			break;
		}
		for (size_t i = 0; i < shown.count; i++)
			is_twice |= shown.list[i].number == gpu.number;
		if (is_twice)
			break;
		gpu.id = word;
		shown.list[shown.count++] = gpu;
	}
	*gpus = shown;
}

/* Sets. */

static gpu_set one(size_t position)
{
	return (gpu_set) 1 << position;
}

gpu_set gpus_all(const struct gpus *gpus)
{
	return gpus->count == GPUS_LIMIT ? ~(gpu_set) 0 : one(gpus->count) - 1;
}

gpu_set gpus_take_lowest(gpu_set *set, size_t count)
{
	gpu_set taken = 0;

	for (; count > 0 && *set; count--) {
		gpu_set lowest = *set & ~(*set - 1);

		taken |= lowest;
		*set ^= lowest;
	}
	return taken;
}

size_t gpus_count(gpu_set set)
{
	size_t count = 0;

	for (; set; set &= set - 1)
		count++;
	return count;
}

static void add_words(const struct gpus *gpus, gpu_set set, bool are_ids, struct text *text)
{
	for (size_t i = 0; i < gpus->count; i++)
		if (set & one(i))
			text_addf(text, "%s%s", set & (one(i) - 1) ? "," : "",
				  are_ids ? gpus->list[i].id : gpus->list[i].name);
}

void gpus_add_names(const struct gpus *gpus, gpu_set set, struct text *text)
{
	add_words(gpus, set, false, text);
	if (!set)
		text_add(text, "none");
}

void gpus_add_ids(const struct gpus *gpus, gpu_set set, struct text *text)
{
	add_words(gpus, set, true, text);
}

bool gpus_names_have(const char *names, int number)
{
	while (names && strspn(names, NAME_DIGITS) > 0) {
		if (atoi(names) == number)
			return true;
		names = strchr(names, ',');
		names += names != NULL;
	}
	return false;
}

void gpus_add_models(const struct gpus *gpus, struct text *text)
{
	for (size_t i = 0; i < gpus->count; i++) {
		const char *model = gpus->list[i].model;
		bool is_last = i + 1 == gpus->count;

		text_add(text, gpus->list[i].name);
		if (!is_last && text_equals(model, gpus->list[i + 1].model))
			text_add(text, ",");
		else
			text_addf(text, "%s%s%s", model ? " " : "", model ? model : "",
				  is_last ? "" : "; ");
	}
}

/* Scripts. */

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

struct imports {
	bool has_torch, has_other;
};

static void add_module(const char *name, size_t len, struct imports *imports)
{
	static const char *const torch[] = {
		"torch",      "torchvision", "lightning",    "pytorch_lightning",
		"accelerate", "deepspeed",   "transformers", "trl",
		"peft",       "diffusers",   "timm",         "sentence_transformers"};
	static const char *const others[] = {"tensorflow", "tf_keras", "keras", "jax", "flax"};
	char *module CLEANUP(mem_free_text) = mem_copy_bytes(name, len);

	imports->has_torch |= name_find_word(torch, ARRAY_LEN(torch), module) >= 0;
	imports->has_other |= name_find_word(others, ARRAY_LEN(others), module) >= 0;
}

/* "import numpy as np, torch.nn" or "from torch import nn". */
static void read_statement(const char *line, struct imports *imports)
{
	bool is_from = text_starts_with(line, "from ");

	if (!is_from && !text_starts_with(line, "import "))
		return;
	do {
		line += strcspn(line, " ,");
		line += strspn(line, " ,");
		size_t len = strspn(line, NAME_LETTERS NAME_DIGITS "_");

		add_module(line, len, imports);
		line += strcspn(line, ",;\n");
	} while (!is_from && *line == ',');
}

bool script_is_for_torch(const char *text)
{
	struct imports imports = {0};

	if (text && text_starts_with(text, BYTE_ORDER_MARK))
		text += strlen(BYTE_ORDER_MARK);
	while (text && *text) {
		read_statement(text + strspn(text, " \t"), &imports);
		text = strpbrk(text, "\n;");
		text += text != NULL;
	}
	return imports.has_torch && !imports.has_other;
}
