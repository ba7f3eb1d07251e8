#include "logs/unsaved_output.h"

#include "base/mem.h"

/* With more than this, a program waits. */
#define ENOUGH ((size_t) 128 * 1024)

struct unsaved_attempt_output {
	struct log_name name;
	struct text text;
	size_t n_taken; /* of the text */
};

struct unsaved_output {
	struct unsaved_attempt_output **outputs;
	size_t count;
	size_t capacity;
	bool is_shown;
};

struct unsaved_output *unsaved_output_new(void)
{
	return mem_new(sizeof(struct unsaved_output));
}

static void clear_unkept_output(struct unsaved_attempt_output *output)
{
	text_clear(&output->text);
	output->n_taken = 0;
}

void unsaved_output_free(struct unsaved_output *unsaved_output)
{
	if (!unsaved_output)
		return;
	for (size_t i = 0; i < unsaved_output->count; i++) {
		text_done(&unsaved_output->outputs[i]->text);
		mem_free_any(&unsaved_output->outputs[i]);
	}
	mem_free_any(&unsaved_output->outputs);
	mem_free_any(&unsaved_output);
}

void unsaved_output_set_shown(struct unsaved_output *unsaved_output, bool is_shown)
{
	unsaved_output->is_shown = is_shown;
	for (size_t i = 0; !is_shown && i < unsaved_output->count; i++)
		clear_unkept_output(unsaved_output->outputs[i]);
}

bool unsaved_output_is_shown(const struct unsaved_output *unsaved_output)
{
	return unsaved_output->is_shown;
}

struct unsaved_attempt_output *unsaved_output_find(const struct unsaved_output *unsaved_output,
						   const struct log_name *name)
{
	for (size_t i = 0; i < unsaved_output->count; i++)
		if (log_name_compare(&unsaved_output->outputs[i]->name, name) == 0)
			return unsaved_output->outputs[i];
	return NULL;
}

struct unsaved_attempt_output *unsaved_output_create(struct unsaved_output *unsaved_output,
						     const struct log_name *name)
{
	struct unsaved_attempt_output *output = unsaved_output_find(unsaved_output, name);

	if (output)
		return output;
	output = mem_new(sizeof(*output));
	output->name = *name;
	mem_grow(&unsaved_output->outputs, &unsaved_output->capacity, unsaved_output->count,
		 sizeof(*unsaved_output->outputs));
	unsaved_output->outputs[unsaved_output->count++] = output;
	return output;
}

/* Taken bytes are removed from memory, even if a slow terminal never takes all of them. */
void unsaved_output_add(struct unsaved_attempt_output *output, const char *bytes, size_t len)
{
	if (output->n_taken >= ENOUGH) {
		text_remove_beginning(&output->text, output->n_taken);
		output->n_taken = 0;
	}
	text_add_bytes(&output->text, bytes, len);
}

bool unsaved_output_has_room(const struct unsaved_attempt_output *output)
{
	return output->text.len - output->n_taken < ENOUGH;
}

size_t unsaved_output_take(struct unsaved_attempt_output *output, char *bytes, size_t len)
{
	if (unsaved_output_is_empty(output))
		return 0;
	size_t left = output->text.len - output->n_taken;
	size_t taken = left < len ? left : len;

	memcpy(bytes, output->text.bytes + output->n_taken, taken);
	output->n_taken += taken;
	if (output->n_taken == output->text.len)
		clear_unkept_output(output);
	return taken;
}

bool unsaved_output_is_empty(const struct unsaved_attempt_output *output)
{
	return !output || output->text.len == output->n_taken;
}
