/* Any text as a cluster spec, and as a TF_CONFIG. What the grammar takes is written again as it
 * stood; whatever is refused has faults, and they stand within the text. */
#include "fuzz.h"

#include "base/mem.h"
#include "spec/cluster_spec.h"

#include <stdlib.h>
#include <string.h>

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void check_lookups(struct cluster_spec *spec)
{
	for (size_t i = 0; i < spec->n_jobs; i++) {
		const struct spec_job *job = &spec->jobs[i];

		check(job->n_tasks > 0);
		for (size_t k = 0; k < job->n_tasks && k < 100; k++) {
			const struct spec_task *task = &job->tasks[k];
			char *host CLEANUP(mem_free_text) = address_host(task->address);

			check(cluster_spec_task(spec, job->name, task->index) == task);
			check(host[0] && address_port(task->address) > 0);
			check(k == 0 || task[-1].index < task->index);
		}
		check(cluster_spec_set_own(spec, job->name, job->tasks[0].index, NULL) == 0);
	}
}

static void check_writes_back(const struct cluster_spec *spec, const char *wanted)
{
	struct text text CLEANUP(text_done) = {0};

	for (size_t i = 0; i < spec->n_jobs; i++) {
		text_addf(&text, "%s%s", i == 0 ? "" : ",", spec->jobs[i].name);
		for (size_t k = 0; k < spec->jobs[i].n_tasks; k++)
			text_addf(&text, "%c%s", k == 0 ? '|' : ';',
				  spec->jobs[i].tasks[k].address);
	}
	check(text_equals(text_of(&text), wanted));
}

static void check_faults(const struct faults *faults, size_t len)
{
	check(faults->count > 0);
	for (size_t i = 0; i < faults->count; i++) {
		const struct fault *fault = &faults->list[i];

		check(fault->sentence[0]);
		check(fault->place.line == 0 ||
		      (fault->place.column > 0 && (size_t) fault->place.column <= len + 1));
	}
}

static void try_as(int (*read)(const char *, struct faults *, struct cluster_spec **),
		   const char *text, bool is_grammar)
{
	struct faults faults CLEANUP(faults_done) = {0};
	struct cluster_spec *spec CLEANUP(cluster_spec_cleanup) = NULL;

	if (read(text, &faults, &spec)) {
		check(!spec);
		check_faults(&faults, strlen(text));
		return;
	}
	check_lookups(spec);
	if (is_grammar)
		check_writes_back(spec, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	char *text CLEANUP(mem_free_text) = mem_copy_bytes(bytes, len);

	try_as(cluster_spec_read, text, true);
	try_as(cluster_spec_read_tf_config, text, false);
	return 0;
}
