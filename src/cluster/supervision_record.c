#include "cluster/supervision_state.h"

#include "base/mem.h"
#include "cluster/backend.h"
#include "jobs/cluster_job_record.h"
#include "jobs/record.h"

static void report_record_trouble(struct cluster_supervision *supervision, int rc,
				  const struct err *err)
{
	if (rc < 0 && rc != ERR_NOT_FOUND)
		reporter_print_error(&supervision->base.reporter, err->text);
}

static int get_record(struct cluster_supervision *supervision, struct store_record *ret_record,
		      struct err *err)
{
	return supervision->base.store->functions->get(
		supervision->base.store, supervision->base.job->name, ret_record, err);
}

void supervision_kube_update_record(struct cluster_supervision *supervision)
{
	const struct supervision_kube_request *request = supervision->request;
	const struct supervision *base = &supervision->base;
	struct store_record record CLEANUP(store_record_done) = {0};
	struct err err = {0};
	int rc = 0;

	/* As last reported, which the cluster may have deleted; else as it is on the cluster. */
	if (base->reporter.document)
		record = record_new(base->job, &base->reporter.status, false, "", base->created);
	else
		rc = get_record(supervision, &record, &err);
	if (rc == 0)
		rc = cluster_job_record_save(request->base.state_folder, &record, request->place,
					     &err);
	report_record_trouble(supervision, rc, &err);
}

void supervision_kube_finish_record(struct cluster_supervision *supervision, const char *reason,
				    const char *why)
{
	const struct job *job = supervision->base.job;
	char *name CLEANUP(mem_free_text) = cluster_job_record_name(job->name_space, job->name);
	struct err err = {0};

	if (!has_supervised(supervision))
		return;
	report_record_trouble(supervision,
			      cluster_job_record_finish(supervision->request->base.state_folder,
							name, reason, why, &err),
			      &err);
}

void supervision_kube_create_record(struct cluster_supervision *supervision)
{
	const struct supervision_kube_request *request = supervision->request;
	const struct job *job = supervision->base.job;
	struct store_record record CLEANUP(store_record_done) = {0};
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct backend *backend = supervision->base.backend;
	char *name CLEANUP(mem_free_text) = cluster_job_record_name(job->name_space, job->name);
	struct observed observed = {0};
	struct err err = {0};
	int rc = get_record(supervision, &record, &err);

	if (rc == 0)
		rc = backend->functions->observe(backend, job, arena, &observed, &err);
	if (rc == 0) {
		const struct observed names = backend_kube_observe_new(job, arena);

		observed.addresses = names.addresses; /* withdrawn ones too */
		observed.n_addresses = names.n_addresses;
		rc = cluster_job_record_save_finished(request->base.state_folder, name,
						      request->place, &record, &observed, &err);
	}
	report_record_trouble(supervision, rc, &err);
}
