/* Any bytes as the query of a request to `muster serve`: what /create takes is a job without a
 * fault, of this image and nothing else. */
#include "fuzz.h"

#include "base/mem.h"
#include "base/text.h"
#include "http/query.h"
#include "serve/job_log.h"
#include "spec/elasticdl.h"
#include "spec/job.h"
#include "spec/limits.h"
#include "spec/pod_template.h"

#include <stdlib.h>
#include <string.h>

#define MOST_PARAMETERS 16

struct parameters {
	struct elasticdl_parameter list[MOST_PARAMETERS];
	size_t count;
};

static void add(const char *name, const char *value, void *data)
{
	struct parameters *parameters = data;

	if (parameters->count < MOST_PARAMETERS)
		parameters->list[parameters->count++] = (struct elasticdl_parameter){name, value};
}

static void must(bool is_so)
{
	if (!is_so)
		abort();
}

static void check_job(const struct elasticdl_request *request)
{
	static const struct elasticdl_manner manner = {
		.program_image = "muster:1",
		.program_path = "/bin/muster",
		.secret_name = "test.pod-server",
	};
	struct json *document CLEANUP(json_cleanup) = elasticdl_document_new(request, &manner);
	struct faults faults CLEANUP(faults_done) = {0};
	struct job *job CLEANUP(job_cleanup) = NULL;
	int replicas = 0;

	must(job_read(document, NULL, JOB_STRICT, &faults, &job) == 0);
	for (size_t i = 0; i < job->n_roles; i++) {
		const struct json *container = pod_template_container(job->roles[i].template);

		must(text_equals(json_as_string(json_get(container, "image"), ""), request->image));
		replicas += job->roles[i].replicas;
	}
	must(replicas == request->workers + request->ps && replicas <= LIMIT_REPLICAS);
	must(text_equals(job->name, request->task));
}

static void check_log(const char *query)
{
	struct job_log_request request = {0};
	struct err err = {0};

	if (job_log_request_read(query, &request, &err) < 0)
		must(err.text[0]);
	else
		job_log_request_done(&request);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	char *text CLEANUP(mem_free_text) = mem_copy_bytes((const char *) bytes, len);
	struct http_query *query CLEANUP(http_query_cleanup) = http_query_new(text);
	struct elasticdl_request request = {0};
	struct parameters parameters = {.count = 0};
	const char *name, *value;
	struct err err = {0};

	check_log(text);
	if (!query)
		return 0;
	for (const void *place = NULL; http_query_next(query, &place, &name, &value);)
		add(name, value, &parameters);
	if (elasticdl_read(parameters.list, parameters.count, &request, &err) < 0)
		must(err.text[0]);
	else
		check_job(&request);
	return 0;
}
