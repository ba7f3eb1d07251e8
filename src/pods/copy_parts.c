#include "pods/copy_parts.h"

#include "base/mem.h"
#include "base/text.h"
#include "io/folder.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

char *copy_base(const char *path)
{
	size_t end = strlen(path), begin;

	while (end && path[end - 1] == '/')
		end--;
	for (begin = end; begin && path[begin - 1] != '/';)
		begin--;
	char *base = mem_copy_bytes(path + begin, end - begin);

	if (*base && !text_equals(base, ".") && !text_equals(base, ".."))
		return base;
	free(base);
	return NULL;
}

void copy_add_warning(struct kube_copy *copy, const char *warning)
{
	char *before CLEANUP(mem_free_text) = copy->warnings;

	if (*warning)
		copy->warnings =
			before ? mem_format("%s; %s", before, warning) : mem_copy_text(warning);
	else
		copy->warnings = TAKE(before);
}

void copy_warn_of_left_out(struct kube_copy *copy, const struct archive_left_out *left_out)
{
	char *warning CLEANUP(mem_free_text) = mem_format("left out: %s", left_out->text);

	if (left_out->count)
		copy_add_warning(copy, warning);
}

const char *copy_warnings(const struct kube_copy *copy)
{
	return copy->warnings ? copy->warnings : "";
}

void copy_free(struct kube_copy *copy)
{
	if (copy->stage && folder_remove(AT_FDCWD, copy->stage, NULL) < 0)
		copy->err.code = ERR_IO; /* the error is no longer used */
	archive_pack_free(copy->pack);
	free(copy->target);
	free(copy->stage);
	free(copy->warnings);
	free(copy->here);
	free(copy);
}

void kube_copy_cancel(struct kube_copy *copy)
{
	if (!copy)
		return;
	kube_script_cancel(copy->script);
	unpacker_cancel(copy->unpacker);
	copy_free(copy);
}

char *kube_copy_describe(const struct kube_copy *copy)
{
	char *amount CLEANUP(mem_free_text) = amount_of_bytes(copy->file_bytes);

	return mem_format("%" PRIu64 " file%s, %s, to %s", copy->n_files,
			  copy->n_files == 1 ? "" : "s", amount, copy->target);
}

uint64_t kube_copy_bytes(const struct kube_copy *copy)
{
	return copy->bytes;
}
