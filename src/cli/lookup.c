#include "cli/lookup.h"

#include "base/mem.h"
#include "base/names.h"
#include "base/text.h"
#include "cli/cluster_support.h"
#include "cli/job_name.h"
#include "cli/kube_cluster.h"
#include "cli/kubernetes_program.h"
#include "cli/local_jobs.h"
#include "cli/log_selection.h"
#include "command/command.h"
#include "command/output.h"
#include "io/loop.h"
#include "jobs/cluster_job_record.h"
#include "jobs/state_folder.h"
#include "jobs/supervisor_id.h"
#include "reconcile/reconcile.h"
#include "spec/job.h"

#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

#define MOST_NAMED 5 /* named in a message */

/* A supervisor on this machine, if it is alive, has recorded the end of its job in less than
 * this. */
#define SETTLING_TIME (10 * MSEC_PER_SECOND)

/* A client for one namespace of a cluster. */
struct way {
	struct cluster_job_record job; /* by the records of this machine; else zero */
	struct options *options; /* these select the cluster; NULL: the command's own options do */
	char *where; /* "kubernetes/NAMESPACE" */
	struct client *client; /* NULL before it is needed */
};

struct lookup {
	const struct options *options;
	struct client *here; /* NULL before it is needed */
	struct kube_config *config; /* of the selected cluster; NULL before it is needed */
	struct way **ways;
	size_t n_ways, capacity;
	bool has_warned; /* about the config's unsafe settings */
	bool is_exact; /* prefixes of names are rejected */
	char **names; /* of jobs that were found by another word than their name */
	size_t n_names, names_capacity;
};

/* Clients. */

struct lookup *lookup_new(const struct options *options)
{
	struct lookup *lookup = mem_new(sizeof(*lookup));

	lookup->options = options;
	return lookup;
}

static void way_free(struct way *way)
{
	local_jobs_close(&way->client);
	options_free(way->options);
	cluster_job_record_done(&way->job);
	free(way->where);
	free(way);
}

static struct way *add_way(struct lookup *lookup, const char *namespace_name)
{
	struct way *way = mem_new(sizeof(*way));

	way->where = mem_format("kubernetes/%s", namespace_name);
	mem_grow(&lookup->ways, &lookup->capacity, lookup->n_ways, sizeof(*lookup->ways));
	lookup->ways[lookup->n_ways++] = way;
	return way;
}

void lookup_free(struct lookup *lookup)
{
	if (!lookup)
		return;
	local_jobs_close(&lookup->here);
	for (size_t i = 0; i < lookup->n_ways; i++)
		way_free(lookup->ways[i]);
	free(lookup->ways);
	kube_config_free(lookup->config);
	for (size_t i = 0; i < lookup->n_names; i++)
		free(lookup->names[i]);
	free(lookup->names);
	free(lookup);
}

void lookup_cleanup(struct lookup **lookup)
{
	lookup_free(*lookup);
}

static void add_lookup_option(const struct options *options, const char *name, struct text *text)
{
	const char *value = option_text(options, name);

	if (!value)
		return;
	text_addf(text, " --%s ", name);
	shell_word_add(text, value);
}

char *lookup_choice(const struct options *options, bool is_on_cluster)
{
	struct text text CLEANUP(text_done) = {0};

	if (is_on_cluster) {
		add_lookup_option(options, "context", &text);
		add_lookup_option(options, "kubeconfig", &text);
	}
	add_lookup_option(options, "state-dir", &text);
	return mem_copy_text(text_of(&text));
}

char *lookup_words(const struct options *options, const char *namespace_name, const char *name)
{
	char *choice CLEANUP(mem_free_text) = lookup_choice(options, namespace_name != NULL);

	return job_words_new(namespace_name, name, choice);
}

bool lookup_means_cluster(const struct options *options)
{
	return option_text(options, "context") || option_text(options, "kubeconfig") ||
	       option_text(options, "namespace");
}

int lookup_here(struct lookup *lookup, struct client **ret_client, struct err *err)
{
	int rc = lookup->here ? 0 : local_jobs_open(lookup->options, &lookup->here, err);

	if (rc == 0)
		*ret_client = lookup->here;
	return rc;
}

/* NULL: not of a cluster. */
static const char *namespace_of(const char *where)
{
	static const char place[] = "kubernetes/";

	return text_starts_with(where, place) ? where + sizeof(place) - 1 : NULL;
}

static int read_config(struct lookup *lookup, struct err *err)
{
	return lookup->config ? 0 : kube_cluster_read_config(lookup->options, &lookup->config, err);
}

/* Does not return when it succeeds. */
static int run_other_program(const struct lookup *lookup, struct err *err)
{
	char **call CLEANUP(mem_free_any) = options_call(lookup->options);
	struct err why = {0};
	int rc = kubernetes_program_exec(call, &why);

	(void) rc;
	return err_set(err, ERR_UNREACHABLE, "%s", why.text);
}

static int open_namespace(struct lookup *lookup, const struct options *options,
			  const char *namespace_name, struct client **ret_client, struct err *err)
{
	char *folder CLEANUP(mem_free_text) = NULL;

	if (!cluster_support)
		return run_other_program(lookup, err);
	int rc = local_jobs_folder(lookup->options, &folder, err);

	if (rc == 0)
		rc = cluster_support->open_client(options, namespace_name, folder, ret_client, err);
	if (rc < 0 || !lookup->config || lookup->has_warned)
		return rc;
	kube_cluster_warn(lookup->config);
	lookup->has_warned = true;
	return 0;
}

/* To this namespace, or the selected one. */
static int select_namespace_way(struct lookup *lookup, const char *namespace_name,
				const struct way **ret_way, struct err *err)
{
	struct client *client = NULL;
	int rc = read_config(lookup, err);

	if (rc < 0)
		return rc;
	if (!namespace_name)
		namespace_name = lookup->config->namespace_name;
	for (size_t i = 0; i < lookup->n_ways; i++) {
		const struct way *way = lookup->ways[i];

		if (!way->options && text_equals(namespace_of(way->where), namespace_name)) {
			*ret_way = way;
			return 0;
		}
	}
	rc = open_namespace(lookup, lookup->options, namespace_name, &client, err);
	if (rc < 0)
		return rc;
	struct way *way = add_way(lookup, namespace_name);

	way->client = client;
	*ret_way = way;
	return 0;
}

int lookup_on_cluster(struct lookup *lookup, const char *namespace_name, struct client **ret_client,
		      struct err *err)
{
	const struct way *way = NULL;
	int rc = select_namespace_way(lookup, namespace_name, &way, err);

	if (rc == 0)
		*ret_client = way->client;
	return rc;
}

/* Similar names. */

static const char *store_lookup_name(struct lookup *lookup, const char *name)
{
	mem_grow(&lookup->names, &lookup->names_capacity, lookup->n_names, sizeof(*lookup->names));
	lookup->names[lookup->n_names] = mem_copy_text(name);
	return lookup->names[lookup->n_names++];
}

/* Prints the name that was chosen for the user. */
static void print_chosen_job(const struct found_job *found)
{
	output_print_message("job %s", found->name);
}

void lookup_take_whole_names(struct lookup *lookup)
{
	lookup->is_exact = true;
}

/* Jobs of one place whose names begin with the given word. */
struct begun {
	const char *name; /* of the newest that runs, else of the newest; NULL: there is none */
	size_t count, n_running;
	struct text names; /* of the first MOST_NAMED */
};

static void find_begun(const struct found_job *sought, const struct client_row *rows, size_t count,
		       struct begun *ret_begun)
{
	bool is_on_cluster = namespace_of(sought->where);

	for (size_t i = 0; i < count; i++) {
		if (!rows[i].namespace_name == is_on_cluster ||
		    !text_starts_with(rows[i].name, sought->name))
			continue;
		ret_begun->count++;
		ret_begun->n_running += !rows[i].is_finished;
		if (!rows[i].is_finished || ret_begun->n_running == 0)
			ret_begun->name = rows[i].name;
		if (ret_begun->count <= MOST_NAMED)
			text_addf(&ret_begun->names, "%s%s", ret_begun->count > 1 ? ", " : "",
				  rows[i].name);
	}
	if (ret_begun->count > MOST_NAMED)
		text_addf(&ret_begun->names, " and %zu more", ret_begun->count - MOST_NAMED);
}

static void print_chosen_of_begun(const struct begun *begun, const char *beginning)
{
	output_print_message("job %s (%s of %zu that begin with '%s')", begun->name,
			     begun->n_running ? "the one that runs" : "the newest", begun->count,
			     beginning);
}

/* NULL when no name is similar. */
static const char *find_nearest(const struct found_job *sought, const struct client_row *rows,
				size_t count)
{
	const char **names CLEANUP(mem_free_any) = mem_new_array(count + 1, sizeof(*names));

	for (size_t i = 0; i < count; i++)
		names[i] = rows[i].name;
	return name_nearest(names, count, sought->name);
}

/* For a missing job: takes the one whose name it is a prefix of, of several the only one that runs,
 * or else the newest; or sets the error "job 'digts' not found; did you mean 'digits'?". */
static int match_job_prefix(struct lookup *lookup, struct found_job *sought, const char *where,
			    const char *listing, struct err *err)
{
	struct client_row *rows = NULL;
	size_t count = 0;
	int rc = sought->client->functions->list(sought->client, &rows, &count, NULL);
	const char *nearest = rc == 0 ? find_nearest(sought, rows, count) : NULL;
	struct begun begun = {0};

	if (rc == 0)
		find_begun(sought, rows, count, &begun);
	if (begun.count > 0 && begun.n_running <= 1 && !lookup->is_exact) {
		const char *beginning = sought->name;

		sought->name = store_lookup_name(lookup, begun.name);
		if (begun.count == 1)
			print_chosen_job(sought);
		else
			print_chosen_of_begun(&begun, beginning);
		rc = 0;
	} else if (nearest) {
		rc = err_set(err, ERR_NOT_FOUND, "job '%s' not found%s; did you mean '%s'?",
			     sought->name, where, nearest);
	} else if (begun.count > 0) {
		rc = err_set(err, ERR_NOT_FOUND,
			     "job '%s' not found%s; jobs that begin with it: %s", sought->name,
			     where, text_of(&begun.names));
	} else if (log_selection_read_replica(sought->name, &(struct log_name){0})) {
		rc = err_set(err, ERR_NOT_FOUND,
			     "job '%s' not found%s; if it is a replica, name its job first: JOB %s",
			     sought->name, where, sought->name);
	} else {
		rc = err_set(err, ERR_NOT_FOUND, "job '%s' not found%s; to list the jobs: '%s'",
			     sought->name, where, listing);
	}
	text_done(&begun.names);
	client_rows_free(rows, count);
	return rc;
}

/* "namespace 'ada' of context 'prod'" */
static char *describe_namespace(const struct lookup *lookup, const char *namespace_name)
{
	const struct kube_config *config = lookup->config;

	if (!namespace_name)
		namespace_name = config->namespace_name;
	return config->context ? mem_format("namespace '%s' of context '%s'", namespace_name,
					    config->context)
			       : mem_format("namespace '%s' of this Pod's cluster", namespace_name);
}

static int match_cluster_job_prefix(struct lookup *lookup, struct found_job *sought,
				    const char *namespace_name, const char *neither,
				    struct err *err)
{
	char *described CLEANUP(mem_free_text) = describe_namespace(lookup, namespace_name);
	char *where CLEANUP(mem_free_text) = mem_format("%s in %s", neither, described);
	char *choice CLEANUP(mem_free_text) = lookup_choice(lookup->options, true);
	char *listing CLEANUP(mem_free_text) = mem_format("muster ps -A%s", choice);

	return match_job_prefix(lookup, sought, where, listing, err);
}

static int match_local_job_prefix(struct lookup *lookup, struct found_job *sought, struct err *err)
{
	char *choice CLEANUP(mem_free_text) = lookup_choice(lookup->options, false);
	char *listing CLEANUP(mem_free_text) = mem_format("muster ps -a%s", choice);

	return match_job_prefix(lookup, sought, "", listing, err);
}

/* Finding. */

/* The job is missing, and not something on the way to its place. */
static bool is_missing(int rc, const struct found_job *sought)
{
	return rc == ERR_NOT_FOUND && sought->client;
}

/* Whether a job of this name is recorded. This cleans up nothing, since a removal must not need
 * room on the disk. */
static int find_here(struct lookup *lookup, const char *name, struct found_job *ret_found,
		     struct err *err)
{
	char *folder CLEANUP(mem_free_text) = NULL;
	struct client *client = NULL;
	int rc = lookup_here(lookup, &client, err);

	if (rc != 0)
		return rc;
	*ret_found = (struct found_job){
		.client = client, .name = name, .options = lookup->options, .where = "local"};
	return client->functions->log_folder(client, name, &folder, err);
}

static int check_job_exists(struct client *client, const char *name, struct err *err)
{
	bool is_gone = false;
	int64_t version;
	/* A record that cannot be read exists, and can be deleted. */
	int rc = client->functions->wait_for_change(client, name, 0, INSTANT_NEVER, &version,
						    &is_gone, err);

	return rc == 0 && is_gone ? err_set(err, ERR_NOT_FOUND, "job '%s' not found", name) : rc;
}

static int find_on_cluster(struct lookup *lookup, const char *namespace_name, const char *name,
			   struct found_job *ret_found, struct err *err)
{
	const struct way *way = NULL;
	int rc = select_namespace_way(lookup, namespace_name, &way, err);

	if (rc < 0)
		return rc;
	*ret_found = (struct found_job){.client = way->client,
					.name = name,
					.options = lookup->options,
					.where = way->where};
	return check_job_exists(way->client, name, err);
}

/* Jobs on clusters that this machine has recorded. */

static char *describe_place(const struct cluster_job_place *at)
{
	return at->context ? mem_format("namespace '%s' of context '%s'", at->namespace_name,
					at->context)
			   : mem_format("namespace '%s' of %s", at->namespace_name, at->server);
}

/* Whether the options select that cluster. */
static bool is_meant_cluster(struct lookup *lookup, const struct cluster_job_place *at)
{
	return read_config(lookup, NULL) == 0 &&
	       text_equals(lookup->config->cluster.server, at->server) &&
	       text_equals(lookup->config->context, at->context);
}

static struct way *add_way_of(struct lookup *lookup, struct cluster_job_record *take_job)
{
	struct way *way = add_way(lookup, take_job->at.namespace_name);

	way->job = *take_job;
	*take_job = (struct cluster_job_record){0};
	way->options = options_copy(lookup->options);
	if (!is_meant_cluster(lookup, &way->job.at)) {
		options_set_text(way->options, "context", way->job.at.context);
		options_set_text(way->options, "kubeconfig", way->job.at.kubeconfig);
	}
	return way;
}

/* The record on this machine. */
static int find_ended_in(struct lookup *lookup, const char *folder,
			 const struct cluster_job_place *at, const char *name,
			 struct found_job *ret_found, struct err *err)
{
	char *described CLEANUP(mem_free_text) = describe_place(at);
	char *why CLEANUP(mem_free_text) = mem_format(
		"it is no longer in %s, and this machine does not know how it ended", described);
	struct cluster_job_record job CLEANUP(cluster_job_record_done) = {0};
	int rc = cluster_job_record_find_at(folder, at, name, &job, err);

	if (rc == 0)
		supervisor_wait(job.record.supervisor, loop_instant_after(SETTLING_TIME));
	if (rc == 0)
		rc = cluster_job_record_finish(folder, job.record.name, RECONCILE_END_UNKNOWN, why,
					       err);
	cluster_job_record_done(&job);
	if (rc == 0)
		rc = cluster_job_record_find_at(folder, at, name, &job, err);
	if (rc < 0)
		return rc;
	return find_here(lookup, add_way_of(lookup, &job)->job.record.name, ret_found, err);
}

/* Its cluster has deleted the job, so it has finished. */
static int find_ended(struct lookup *lookup, const struct cluster_job_place *at, const char *name,
		      struct found_job *ret_found, struct err *err)
{
	char *folder CLEANUP(mem_free_text) = NULL;
	int rc = local_jobs_folder(lookup->options, &folder, err);

	return rc < 0 ? rc : find_ended_in(lookup, folder, at, name, ret_found, err);
}

/* Another job may have its name by now. */
static bool is_same_job_record(struct client *client, const char *name, const char *uid)
{
	struct json *object CLEANUP(json_cleanup) = NULL;

	return client->functions->get(client, name, &object, NULL) < 0 ||
	       text_equals(json_as_string(json_get_path(object, "metadata", "uid", NULL), NULL),
			   uid);
}

/* ERR_NOT_FOUND then means the connection, and not the job. */
static int set_place_unreachable_error(const char *name, const struct cluster_job_place *at,
				       struct err *err)
{
	char *described CLEANUP(mem_free_text) = describe_place(at);

	if (err->code == ERR_NOT_FOUND)
		err->code = ERR_UNREACHABLE;
	return err_prefix(err, "job '%s' was started in %s, which cannot be reached", name,
			  described);
}

/* Only the server that had the job can say that it was deleted: the kubeconfig may have been
 * rewritten, and select another one. */
static int check_server(const struct way *way, struct err *err)
{
	struct kube_config *config CLEANUP(kube_config_cleanup) = NULL;
	int rc = kube_cluster_read_config(way->options, &config, err);

	if (rc == 0 && !text_equals(config->cluster.server, way->job.at.server))
		rc = err_set(err, ERR_UNREACHABLE,
			     "it ran on server %s, but the kubeconfig now points to %s",
			     way->job.at.server, config->cluster.server);
	return rc;
}

static int find_job_by_way(struct lookup *lookup, struct way *way, const char *name,
			   struct found_job *ret_found, struct err *err)
{
	const struct cluster_job_place *at = &way->job.at;
	int rc = open_namespace(lookup, way->options, at->namespace_name, &way->client, err);

	if (rc < 0)
		return set_place_unreachable_error(name, at, err);
	rc = check_job_exists(way->client, name, err);
	bool is_gone = rc == ERR_NOT_FOUND ||
		       (rc == 0 && !is_same_job_record(way->client, name, way->job.record.uid));

	if (is_gone)
		rc = check_server(way, err);
	if (rc < 0)
		return set_place_unreachable_error(name, at, err);
	if (is_gone)
		return find_ended(lookup, at, name, ret_found, err);
	*ret_found = (struct found_job){
		.client = way->client, .name = name, .options = way->options, .where = way->where};
	return 0;
}

int lookup_known(struct lookup *lookup, const char *name, struct found_job *ret_found,
		 struct err *err)
{
	char *folder CLEANUP(mem_free_text) = NULL;
	struct cluster_job_record job = {0};

	if (local_jobs_folder(lookup->options, &folder, NULL) < 0 ||
	    cluster_job_record_find(folder, name, &job, NULL) < 0)
		return ERR_NOT_FOUND;
	return find_job_by_way(lookup, add_way_of(lookup, &job), name, ret_found, err);
}

static int find_known(const char *folder, const struct job_reference *reference,
		      struct cluster_job_record *ret_job, struct err *err)
{
	if (reference->place != JOB_ON_CLUSTER)
		return cluster_job_record_find(folder, reference->name, ret_job, err);
	char *record_name CLEANUP(mem_free_text) =
		cluster_job_record_name(reference->namespace_name, reference->name);

	return cluster_job_record_get(folder, record_name, ret_job, err);
}

int lookup_remembered(struct lookup *lookup, const char *argument, struct found_job *ret_found,
		      struct err *err)
{
	struct job_reference reference CLEANUP(job_reference_done) = {0};
	char *folder CLEANUP(mem_free_text) = NULL;
	struct cluster_job_record job = {0};
	int rc = job_reference_read(argument, &reference, err);

	if (rc == 0)
		rc = local_jobs_folder(lookup->options, &folder, err);
	if (rc == 0 &&
	    (reference.place == JOB_HERE || find_known(folder, &reference, &job, NULL) < 0))
		rc = err_set(err, ERR_NOT_FOUND,
			     "this machine has no record of a running job '%s' on a cluster",
			     argument);
	if (rc < 0)
		return rc;
	return find_here(lookup, add_way_of(lookup, &job)->job.record.name, ret_found, err);
}

/* For a job that the cluster has deleted. */
static int find_remembered(struct lookup *lookup, const char *namespace_name, const char *name,
			   struct found_job *ret_found, struct err *err)
{
	const struct kube_config *config = lookup->config;
	const struct cluster_job_place place = {
		.server = config->cluster.server,
		.context = config->context,
		.namespace_name = namespace_name ? namespace_name : config->namespace_name,
	};

	return find_ended(lookup, &place, name, ret_found, err);
}

static int find_named_on_cluster(struct lookup *lookup, const char *namespace_name,
				 const char *name, struct found_job *ret_found, struct err *err)
{
	struct found_job remembered = {0};
	int rc = find_on_cluster(lookup, namespace_name, name, ret_found, err);

	if (!is_missing(rc, ret_found))
		return rc;
	if (find_remembered(lookup, namespace_name, name, &remembered, NULL) == 0) {
		*ret_found = remembered;
		return 0;
	}
	return match_cluster_job_prefix(lookup, ret_found, namespace_name, "", err);
}

static int find_named_here(struct lookup *lookup, const char *name, struct found_job *ret_found,
			   struct err *err)
{
	int rc = find_here(lookup, name, ret_found, err);

	return is_missing(rc, ret_found) ? match_local_job_prefix(lookup, ret_found, err) : rc;
}

/* An error in the kubeconfig must not hide that this machine does not have the job. */
static int set_cluster_unasked_error(const struct lookup *lookup, const char *name, struct err *err)
{
	const char *context = lookup->config ? lookup->config->context : NULL;
	char *cluster CLEANUP(mem_free_text) =
		context ? mem_format("the cluster of context '%s'", context)
			: mem_copy_text("the cluster");

	return err_prefix(err, "job '%s' is not on this machine, and %s cannot be reached", name,
			  cluster);
}

static int find_anywhere(struct lookup *lookup, const char *name, struct found_job *ret_found,
			 struct err *err)
{
	struct found_job found = {0};
	int rc = lookup_known(lookup, name, ret_found, err);

	if (rc != ERR_NOT_FOUND)
		return rc;
	rc = find_here(lookup, name, ret_found, err);
	if (!is_missing(rc, ret_found))
		return rc;
	/* A job that was found by its record and is still active may have changed its name between
	 * the reads. */
	rc = lookup_known(lookup, name, ret_found, err);
	if (rc != ERR_NOT_FOUND)
		return rc;
	rc = read_config(lookup, err);
	if (rc == ERR_UNREACHABLE) /* there is no cluster */
		return find_named_here(lookup, name, ret_found, err);
	if (rc == 0)
		rc = find_on_cluster(lookup, NULL, name, &found, err);
	/* A finished job is recorded on this machine just before the cluster deletes it. */
	if (is_missing(rc, &found) && find_here(lookup, name, ret_found, NULL) == 0)
		return 0;
	if (is_missing(rc, &found) && match_local_job_prefix(lookup, ret_found, NULL) == 0)
		return 0;
	if (is_missing(rc, &found))
		rc = match_cluster_job_prefix(lookup, &found, NULL, ", neither here nor", err);
	else if (rc < 0)
		return set_cluster_unasked_error(lookup, name, err);
	if (rc == 0)
		*ret_found = found;
	return rc;
}

static int find_newest(struct lookup *lookup, struct found_job *ret_found, struct err *err)
{
	int rc = lookup_newest_job(lookup, ret_found, err);

	if (rc == 0)
		print_chosen_job(ret_found);
	return rc;
}

int lookup_job(struct lookup *lookup, const char *argument, struct found_job *ret_found,
	       struct err *err)
{
	struct job_reference reference CLEANUP(job_reference_done) = {0};
	struct found_job found = {0};

	if (!argument)
		return find_newest(lookup, ret_found, err);
	int rc = job_reference_read(argument, &reference, err);

	if (rc < 0)
		return rc;
	if (reference.place == JOB_ANYWHERE && lookup_means_cluster(lookup->options))
		reference.place = JOB_ON_CLUSTER;
	switch (reference.place) {
	case JOB_HERE:
		rc = find_named_here(lookup, reference.name, &found, err);
		break;
	case JOB_ON_CLUSTER:
		rc = find_named_on_cluster(lookup, reference.namespace_name, reference.name, &found,
					   err);
		break;
	case JOB_ANYWHERE:
		rc = find_anywhere(lookup, reference.name, &found, err);
		break;
	}
	if (rc == 0)
		*ret_found = found;
	return rc;
}

/* Without a name. */

/* The rows of the selected place, by age, the oldest first, and their client. */
static int list_meant(struct lookup *lookup, struct found_job *ret_found,
		      struct client_row **ret_rows, size_t *ret_count, struct err *err)
{
	const struct way *way = NULL;
	struct client *client = NULL;
	int rc = lookup_means_cluster(lookup->options)
			 ? select_namespace_way(lookup, NULL, &way, err)
			 : lookup_here(lookup, &client, err);

	if (rc < 0)
		return rc;
	if (way)
		client = way->client;
	assert(client);
	*ret_found = (struct found_job){
		.client = client, .options = lookup->options, .where = way ? way->where : "local"};
	return client->functions->list(client, ret_rows, ret_count, err);
}

int lookup_newest_job(struct lookup *lookup, struct found_job *ret_found, struct err *err)
{
	struct client_row *rows = NULL;
	size_t count = 0;
	int rc = list_meant(lookup, ret_found, &rows, &count, err);

	if (rc == 0 && count > 0)
		ret_found->name = store_lookup_name(lookup, rows[count - 1].name);
	else if (rc == 0)
		rc = err_set(err, ERR_NOT_FOUND, "no jobs yet; to start one: 'muster run'");
	client_rows_free(rows, count);
	return rc;
}

/* "3 jobs are running (digits, faces, 1 more): name the job" */
static int set_ambiguous_job_error(const struct client_row *rows, size_t count, size_t n_running,
				   struct err *err)
{
	struct text names CLEANUP(text_done) = {0};
	size_t n_named = 0;

	for (size_t i = count; i > 0 && n_named < MOST_NAMED; i--)
		if (!rows[i - 1].is_finished)
			text_addf(&names, "%s%s", n_named++ ? ", " : "", rows[i - 1].name);
	if (n_running > n_named)
		text_addf(&names, ", %zu more", n_running - n_named);
	return err_set(err, ERR_INVALID, "%zu jobs are running (%s): name the job", n_running,
		       text_of(&names));
}

int lookup_only_running_job(struct lookup *lookup, struct found_job *ret_found, struct err *err)
{
	struct client_row *rows = NULL;
	size_t count = 0, n_running = 0;
	int rc = list_meant(lookup, ret_found, &rows, &count, err);

	for (size_t i = 0; rc == 0 && i < count; i++)
		if (!rows[i].is_finished && n_running++ == 0)
			ret_found->name = store_lookup_name(lookup, rows[i].name);
	if (rc == 0 && n_running == 0)
		rc = err_set(err, ERR_NOT_FOUND, "no job is running");
	else if (rc == 0 && n_running > 1)
		rc = set_ambiguous_job_error(rows, count, n_running, err);
	else if (rc == 0)
		print_chosen_job(ret_found);
	client_rows_free(rows, count);
	return rc;
}

int lookup_jobs(struct lookup *lookup, struct found_jobs *ret_jobs)
{
	struct found_jobs jobs = {0};
	struct err err = {0};
	const char *const *arguments = options_arguments(lookup->options);
	int exit_code = EXIT_DONE;

	jobs.list = mem_new_array(options_n_arguments(lookup->options) + 1, sizeof(*jobs.list));
	for (size_t i = 0; arguments[i]; i++)
		if (lookup_job(lookup, arguments[i], &jobs.list[jobs.count], &err))
			exit_code = output_fail(&err);
		else
			jobs.count++;
	*ret_jobs = jobs;
	return exit_code;
}

void found_jobs_done(struct found_jobs *jobs)
{
	free(jobs->list);
}

const char *lookup_namespace(const struct found_job *found)
{
	return namespace_of(found->where);
}
