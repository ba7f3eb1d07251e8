/* Any bytes as the ConfigMap that remembers a job: it is no record, or one whose names can name
 * folders and Pods, and whose words move no cursor when its end is told. */
#include "fuzz.h"

#include "base/mem.h"
#include "base/names.h"
#include "cluster/store_record.h"
#include "jobs/record.h"
#include "reconcile/report.h"

#include <stdlib.h>

static void must(bool is_so)
{
	if (!is_so)
		abort();
}

/* Colours of a program's own last output stay. */
static void check_words(const struct text *text)
{
	for (const char *at = text_of(text); *at; at++)
		must((unsigned char) *at >= ' ' || *at == '\n' || *at == '\t' || *at == '\033');
}

static void check_roles(const struct status *status)
{
	for (size_t i = 0; i < status->n_replicas; i++)
		must(name_is_dns_label(status->replicas[i].role));
	if (status->failure && status->failure->role)
		must(name_is_dns_label(status->failure->role));
}

static void check_record(const struct store_record *record)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct job *job CLEANUP(job_cleanup) = NULL;
	struct text text CLEANUP(text_done) = {0};
	struct status status;

	must(name_is_uid(record->uid) && name_is_dns1035_label(record->name));
	if (record_read(record, arena, &job, &status, NULL) < 0)
		return;
	for (size_t i = 0; i < job->n_roles; i++)
		must(name_is_dns_label(job->roles[i].name));
	check_roles(&status);
	if (status_is_finished(&status))
		report_outcome(job, &status, job->name, &(struct failure_style){0}, &text);
	check_words(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct json *config_map CLEANUP(json_cleanup) = NULL;
	struct store_record record CLEANUP(store_record_done) = {0};

	if (json_read((const char *) bytes, len, &config_map, NULL) == 0 &&
	    store_kube_read(config_map, &record, NULL) == 0)
		check_record(&record);
	return 0;
}
