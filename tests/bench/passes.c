/* What a pass of the reconciler costs in a large job: passes REPLICAS
 *
 * The fake back end starts the replicas, one a moment, so that each pass finds one change and
 * writes a status. Prints the passes, and the processor time of the middle one and of all together
 * in microseconds. */
#include "base/json.h"
#include "base/mem.h"
#include "fake/backend_fake.h"
#include "fake/store_memory.h"
#include "jobs/reconciler.h"
#include "spec/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BEGIN ((msec) 1767225600000)

struct bench {
	struct reconciler *reconciler;
	struct reconciler_outcome outcome;
	int64_t version; /* as the last pass found it */
	double *samples; /* of passes that followed a change */
	size_t count;
};

static double processor_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double) now.tv_sec * 1e6 + (double) now.tv_nsec / 1e3;
}

static void on_passed(const struct reconciler_outcome *outcome, const struct err *err, void *data)
{
	struct bench *bench = data;

	if (err) {
		fprintf(stderr, "passes: %s\n", err->text);
		exit(1);
	}
	bench->outcome = *outcome;
}

static double pass(struct bench *bench, msec now)
{
	double begin = processor_time();

	reconciler_run_pass(bench->reconciler, now);
	return processor_time() - begin;
}

static int by_size(const void *a, const void *b)
{
	double first = *(const double *) a, second = *(const double *) b;

	return first < second ? -1 : first > second;
}

static struct job *job_new(int replicas)
{
	char *text CLEANUP(mem_free_text) = mem_format(
		"{\"apiVersion\": \"kubeflow.org/v1\", \"kind\": \"TFJob\", \"metadata\": "
		"{\"name\": "
		"\"bench\"}, \"spec\": {\"tfReplicaSpecs\": {\"Worker\": {\"replicas\": %d, "
		"\"restartPolicy\": \"Never\", \"template\": {\"spec\": {\"containers\": "
		"[{\"name\": "
		"\"tensorflow\", \"image\": \"i\", \"command\": [\"train\"]}]}}}}}}",
		replicas);
	struct faults faults CLEANUP(faults_done) = {0};
	struct json *document CLEANUP(json_cleanup) = NULL;
	struct job *job;

	if (json_read(text, strlen(text), &document, NULL) < 0 ||
	    job_read(document, NULL, JOB_LENIENT, &faults, &job) < 0)
		return NULL;
	job_set_uid(job, "bench");
	return job;
}

int main(int argc, char **argv)
{
	int replicas = argc > 1 ? atoi(argv[1]) : 0;
	struct job *job = replicas > 0 ? job_new(replicas) : NULL;
	struct store *store = store_memory_new();
	struct backend *backend = backend_fake_new(&backend_fake_like_kubernetes, BEGIN);
	struct bench bench = {.samples = mem_new_array((size_t) replicas, sizeof(double))};
	const struct reconciler_settings settings = {.store = store,
						     .backend = backend,
						     .job_name = "bench",
						     .on_passed = on_passed,
						     .data = &bench};

	if (!job || reconciler_create_job(store, job, NULL, "", NULL, BEGIN, NULL) < 0)
		return 2;
	for (int i = 0; i < replicas; i++)
		backend_fake_set_behaviour(
			backend, "worker", i, 0,
			&(struct fake_behaviour){.start_takes = 1000 + i, .runs_for = MSEC_NEVER});
	store->is_small = true; /* as on a cluster */
	bench.reconciler = reconciler_new(&settings);
	msec now = BEGIN;

	do
		(void) pass(&bench, now);
	while (bench.outcome.wake_at <= now);
	double all = 0;

	while (backend_fake_next_event(backend) != MSEC_NEVER && bench.count < (size_t) replicas) {
		now = backend_fake_next_event(backend);
		backend_fake_advance(backend, now);
		bench.samples[bench.count] = pass(&bench, now);
		all += bench.samples[bench.count++];
	}
	qsort(bench.samples, bench.count, sizeof(double), by_size);
	printf("{\"passes\": %zu, \"median (us)\": %.0f, \"all (us)\": %.0f}\n", bench.count,
	       bench.samples[bench.count / 2], all);
	reconciler_free(bench.reconciler);
	backend->functions->free(backend);
	store->functions->free(store);
	job_free(job);
	free(bench.samples);
	return 0;
}
