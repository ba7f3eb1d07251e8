#include "logs/unkept.h"

#include "base/mem.h"
#include "base/text.h"

#include <string.h>

/* Beyond this a program waits. */
#define ENOUGH ((size_t) 128 * 1024)

struct unkept_output {
	struct log_name name;
	struct text text;
	size_t n_taken; /* of the text */
};

struct unkept {
	struct unkept_output **outputs;
	size_t count;
	size_t capacity;
	bool is_shown;
};

struct unkept *unkept_new(void)
{
	return mem_new(sizeof(struct unkept));
}

static void forget(struct unkept_output *output)
{
	text_clear(&output->text);
	output->n_taken = 0;
}

void unkept_free(struct unkept *unkept)
{
	if (!unkept)
		return;
	for (size_t i = 0; i < unkept->count; i++) {
		text_done(&unkept->outputs[i]->text);
		mem_free_any(&unkept->outputs[i]);
	}
	mem_free_any(&unkept->outputs);
	mem_free_any(&unkept);
}

void unkept_set_shown(struct unkept *unkept, bool is_shown)
{
	unkept->is_shown = is_shown;
	for (size_t i = 0; !is_shown && i < unkept->count; i++)
		forget(unkept->outputs[i]);
}

bool unkept_is_shown(const struct unkept *unkept)
{
	return unkept->is_shown;
}

struct unkept_output *unkept_find(const struct unkept *unkept, const struct log_name *name)
{
	for (size_t i = 0; i < unkept->count; i++)
		if (log_name_compare(&unkept->outputs[i]->name, name) == 0)
			return unkept->outputs[i];
	return NULL;
}

struct unkept_output *unkept_make(struct unkept *unkept, const struct log_name *name)
{
	struct unkept_output *output = unkept_find(unkept, name);

	if (output)
		return output;
	output = mem_new(sizeof(*output));
	output->name = *name;
	mem_grow(&unkept->outputs, &unkept->capacity, unkept->count, sizeof(*unkept->outputs));
	unkept->outputs[unkept->count++] = output;
	return output;
}

/* What was taken does not lie about until all is, which a slow terminal may never come to. */
void unkept_add(struct unkept_output *output, const char *bytes, size_t len)
{
	if (output->n_taken >= ENOUGH) {
		text_remove_beginning(&output->text, output->n_taken);
		output->n_taken = 0;
	}
	text_add_bytes(&output->text, bytes, len);
}

bool unkept_has_room(const struct unkept_output *output)
{
	return output->text.len - output->n_taken < ENOUGH;
}

size_t unkept_take(struct unkept_output *output, char *bytes, size_t len)
{
	if (unkept_is_empty(output))
		return 0;
	size_t left = output->text.len - output->n_taken;
	size_t taken = left < len ? left : len;

	memcpy(bytes, output->text.bytes + output->n_taken, taken);
	output->n_taken += taken;
	if (output->n_taken == output->text.len)
		forget(output);
	return taken;
}

bool unkept_is_empty(const struct unkept_output *output)
{
	return !output || output->text.len == output->n_taken;
}
