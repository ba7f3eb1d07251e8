#include "cli/job_reference.h"

#include "base/mem.h"
#include "base/names.h"
#include "base/text.h"

#include <string.h>

static const char here[] = "local/";
static const char on_cluster[] = "kubernetes/";

static int refuse_job_reference(const char *text, struct err *err)
{
	return err_set(
		err, ERR_INVALID,
		"'%s' is not a job name (expected NAME, local/NAME or kubernetes/NAMESPACE/NAME)",
		text);
}

/* "NAMESPACE/NAME" after "kubernetes/". */
static int read_on_cluster(const char *text, struct job_reference *ret_reference, struct err *err)
{
	const char *rest = text + strlen(on_cluster);
	const char *slash = strchr(rest, '/');

	if (!slash || !slash[1] || strchr(slash + 1, '/'))
		return refuse_job_reference(text, err);
	char *namespace_name CLEANUP(mem_free_text) = mem_copy_bytes(rest, (size_t) (slash - rest));
	if (!name_is_dns_label(namespace_name))
		return err_set(err, ERR_INVALID, "'%s': '%s' is not a valid namespace name", text,
			       namespace_name);
	*ret_reference = (struct job_reference){
		.place = JOB_ON_CLUSTER, .namespace_name = TAKE(namespace_name), .name = slash + 1};
	return 0;
}

int job_reference_read(const char *text, struct job_reference *ret_reference, struct err *err)
{
	struct job_reference reference = {.place = JOB_ANYWHERE, .name = text};

	if (text_starts_with(text, on_cluster))
		return read_on_cluster(text, ret_reference, err);
	if (text_starts_with(text, here))
		reference = (struct job_reference){.place = JOB_HERE, .name = text + strlen(here)};
	if (!*reference.name || strchr(reference.name, '/'))
		return refuse_job_reference(text, err);
	*ret_reference = reference;
	return 0;
}

void job_reference_done(struct job_reference *reference)
{
	mem_free_text(&reference->namespace_name);
}
