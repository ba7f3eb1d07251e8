/* Any bytes as a job file: job_read says what is wrong with it, or makes a job whose own document
 * makes the same job again. */
#include "fuzz.h"

#include "base/json.h"
#include "base/yaml.h"
#include "spec/job.h"

#include <stdlib.h>

static void check_reads_back(const struct job *job, enum job_strictness strictness)
{
	struct job *again CLEANUP(job_cleanup) = NULL;
	struct faults faults CLEANUP(faults_done) = {0};

	if (job_read(job->document, NULL, strictness, &faults, &again) < 0 ||
	    !json_equals(job->document, again->document))
		abort();
}

static void check_job(const struct document *document, enum job_strictness strictness)
{
	struct job *job CLEANUP(job_cleanup) = NULL;
	struct faults faults CLEANUP(faults_done) = {0};
	struct text text CLEANUP(text_done) = {0};
	int rc = job_read(document_root(document), document, strictness, &faults, &job);

	faults_describe(&faults, "job.yaml", &text);
	if ((rc < 0) != (faults.count > 0) || (rc == 0) != (job != NULL))
		abort();
	if (job) {
		job_describe_ignored_here(job, &text);
		check_reads_back(job, strictness);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct document **documents = NULL;
	size_t count = 0;

	if (documents_read((const char *) bytes, len, &documents, &count, NULL) < 0)
		return 0;
	for (size_t i = 0; i < count; i++) {
		check_job(documents[i], JOB_STRICT);
		check_job(documents[i], JOB_LENIENT);
	}
	documents_free(documents, count);
	return 0;
}
