#include "cli/kube_cluster.h"

#include "command/command.h"
#include "command/output.h"
#include "jobs/cluster_job_record.h"
#include "kube/credential.h"

const struct option_row cluster_job_rows[] = {CLUSTER_JOB_ROWS, {0}};

int kube_cluster_read_config(const struct options *options, struct kube_config **ret_config,
			     struct err *err)
{
	struct kube_config_search search = kube_config_search_here();

	search.file = option_text(options, "kubeconfig");
	search.context = option_text(options, "context");
	search.namespace_name = option_text(options, "namespace");
	return kube_config_read(&search, NULL, ret_config, err);
}

int kube_cluster_place_job(const struct kube_config *config, const struct job *job,
			   struct job **ret_job, struct err *err)
{
	struct json *document CLEANUP(json_cleanup) = json_new_copy(job->document);
	struct json *metadata = json_object_at(document, "metadata");
	struct faults faults CLEANUP(faults_done) = {0};

	if (!json_get(metadata, "namespace"))
		json_set_string(metadata, "namespace", config->namespace_name);
	if (job_read(document, NULL, JOB_STRICT, &faults, ret_job) < 0)
		return err_set(err, ERR_INVALID, "%s", faults.list[0].sentence);
	return 0;
}

char *kube_cluster_write_place(const struct options *options, const struct kube_config *config,
			       const char *namespace_name)
{
	/* One file, as an absolute path for later commands; no option takes several. */
	const char *list = getenv("KUBECONFIG"), *file = option_text(options, "kubeconfig");
	bool is_in_list = !file && list && *list && !strchr(list, ':');
	char *kubeconfig CLEANUP(mem_free_text) =
		file || is_in_list ? realpath(file ? file : list, NULL) : NULL;
	const struct cluster_job_place place = {
		.server = config->cluster.server,
		.context = config->context,
		.kubeconfig = kubeconfig,
		.namespace_name = namespace_name,
	};

	return cluster_job_place_write(&place);
}

/* As kubectl prints them. */
static void on_kube_warning(const char *sentence, void *data)
{
	(void) data;
	output_print_message("Warning: %s", sentence);
}

int kube_cluster_log_in(struct loop *loop, struct kube_login **ret_login, struct err *err,
			void *data)
{
	struct kube_config *config CLEANUP(kube_config_cleanup) = NULL;
	int rc = kube_cluster_read_config(data, &config, err);

	if (rc == 0)
		rc = kube_login_open(loop, config, ret_login, err);
	if (rc < 0)
		return rc;
	config = NULL; /* the login owns it now */
	(*ret_login)->on_warning = on_kube_warning;
	(*ret_login)->timeout = option_duration(data, "request-timeout", 0);
	return 0;
}

int kube_cluster_fail(const struct err *err)
{
	output_print_message("%s", err->text);
	if (err->code == ERR_INVALID || err->code == ERR_NOT_FOUND || err->code == ERR_EXISTS)
		return EXIT_USAGE;
	return err->code == ERR_UNREACHABLE || err->code == ERR_REFUSED ? EXIT_NOT_REACHED
									: EXIT_INTERNAL;
}

void kube_cluster_warn(const struct kube_config *config)
{
	if (config->cluster.skips_verify)
		output_print_message("the certificate of the API server is not verified "
				     "(insecure-skip-tls-verify)");
}
