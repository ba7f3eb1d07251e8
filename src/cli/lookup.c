#include "cli/lookup.h"

#include "base/mem.h"
#include "base/names.h"
#include "cli/cluster_support.h"
#include "cli/kube_cluster.h"
#include "cli/kubernetes_program.h"
#include "cli/local_jobs.h"
#include "cli/replica_name.h"
#include "command/command.h"
#include "command/output.h"
#include "jobs/cluster_job_record.h"
#include "jobs/supervisor_id.h"
#include "reconcile/reconcile.h"
#include "spec/job.h"

#define MOST_NAMED 5 /* named in a message */
#define CLUSTER_PLACE "kubernetes/"

/* A supervisor on this machine, if it is alive, has recorded the end of its job in less than
 * this. */
#define SETTLING_TIME (10 * MSEC_PER_SECOND)

/* A client for one namespace of a cluster. */
struct way {
	struct way *next;
	struct found_job found; /* without a name; its client is NULL before it is needed */
	struct cluster_job_record job; /* by the records of this machine; else zero */
	struct options *options; /* these select its cluster; NULL: the command's own do */
};

struct lookup {
	const struct options *options;
	struct arena *arena; /* of the ways, and the names of found jobs */
	char *folder; /* of the records of this machine; NULL before it is needed */
	struct client *here; /* the same */
	struct kube_config *config; /* of the selected cluster; the same */
	struct way *ways;
	bool has_warned; /* about the config's unsafe settings */
	enum lookup_names names;
};

/* Clients. */

struct lookup *lookup_new(const struct options *options)
{
	struct lookup *lookup = mem_new(sizeof(*lookup));

	lookup->options = options;
	lookup->arena = arena_new();
	return lookup;
}

static struct way *add_way(struct lookup *lookup, const char *namespace_name)
{
	struct way *way = arena_take(lookup->arena, sizeof(*way));

	way->next = lookup->ways;
	lookup->ways = way;
	way->found.options = lookup->options;
	way->found.where = arena_format(lookup->arena, CLUSTER_PLACE "%s", namespace_name);
	way->found.namespace_name = way->found.where + strlen(CLUSTER_PLACE);
	return way;
}

void lookup_free(struct lookup *lookup)
{
	if (!lookup)
		return;
	local_jobs_close(&lookup->here);
	for (struct way *way = lookup->ways; way; way = way->next) {
		local_jobs_close(&way->found.client);
		options_free(way->options);
		cluster_job_record_done(&way->job);
	}
	kube_config_free(lookup->config);
	free(lookup->folder);
	arena_free(lookup->arena);
	free(lookup);
}

void lookup_cleanup(struct lookup **lookup)
{
	lookup_free(*lookup);
}

void lookup_take_names(struct lookup *lookup, enum lookup_names names)
{
	lookup->names = names;
}

char *lookup_choice(const struct options *options, bool is_on_cluster)
{
	static const char *const names[] = {"context", "kubeconfig", "state-dir"};
	struct text text = {0};

	for (size_t i = is_on_cluster ? 0 : 2; i < ARRAY_LEN(names); i++) {
		const char *value = option_text(options, names[i]);

		if (!value)
			continue;
		text_addf(&text, " --%s ", names[i]);
		shell_word_add(&text, value);
	}
	return text_take(&text);
}

char *lookup_words(const struct options *options, const char *namespace_name, const char *name)
{
	char *choice CLEANUP(mem_free_text) = lookup_choice(options, namespace_name != NULL);

	return job_words_new(namespace_name, name, choice);
}

char *found_job_words(const struct found_job *found)
{
	return lookup_words(found->options, found->namespace_name, found->name);
}

bool lookup_means_cluster(const struct options *options)
{
	return option_text(options, "context") || option_text(options, "kubeconfig") ||
	       option_text(options, "namespace");
}

static const char *state_folder(struct lookup *lookup)
{
	if (!lookup->folder)
		lookup->folder = local_jobs_folder(lookup->options);
	return lookup->folder;
}

static int read_config(struct lookup *lookup, struct err *err)
{
	return lookup->config ? 0 : kube_cluster_read_config(lookup->options, &lookup->config, err);
}

/* In the program without cluster support, does not return when it succeeds. */
static int open_namespace(struct lookup *lookup, const struct options *options,
			  const char *namespace_name, struct client **ret_client, struct err *err)
{
	if (!cluster_support) {
		char **call CLEANUP(mem_free_any) = options_call(lookup->options);
		struct err why = {0};

		(void) !kubernetes_program_exec(call, &why);
		return err_set(err, ERR_UNREACHABLE, "%s", why.text);
	}
	int rc = cluster_support->open_client(options, namespace_name, state_folder(lookup),
					      ret_client, err);

	if (rc < 0 || !lookup->config || lookup->has_warned)
		return rc;
	kube_cluster_warn(lookup->config);
	lookup->has_warned = true;
	return 0;
}

/* A found job without its name: of this machine, or of a namespace on the cluster (NULL: the
 * selected one). */
static int open_place(struct lookup *lookup, bool is_on_cluster, const char *namespace_name,
		      struct found_job *ret_place, struct err *err)
{
	struct client *client = NULL;
	int rc = 0;

	if (!is_on_cluster) {
		rc = lookup->here ? 0 : local_jobs_open(lookup->options, &lookup->here, err);
		if (rc == 0)
			*ret_place = (struct found_job){.client = lookup->here,
							.options = lookup->options,
							.where = "local"};
		return rc;
	}
	rc = read_config(lookup, err);
	if (rc < 0)
		return rc;
	if (!namespace_name)
		namespace_name = lookup->config->namespace_name;
	struct way *way = lookup->ways;

	while (way && (way->options || !text_equals(way->found.namespace_name, namespace_name)))
		way = way->next;
	if (!way) {
		rc = open_namespace(lookup, lookup->options, namespace_name, &client, err);
		if (rc < 0)
			return rc;
		way = add_way(lookup, namespace_name);
		way->found.client = client;
	}
	*ret_place = way->found;
	return 0;
}

int lookup_client(struct lookup *lookup, bool is_on_cluster, const char *namespace_name,
		  struct client **ret_client, struct err *err)
{
	struct found_job place;
	int rc = open_place(lookup, is_on_cluster, namespace_name, &place, err);

	if (rc == 0)
		*ret_client = place.client;
	return rc;
}

/* Similar names. */

/* Jobs of one place whose names begin with the given word. */
struct begun {
	const char *name; /* of the newest that runs, else of the newest; NULL: there is none */
	size_t count, n_running;
	struct text names; /* of the first MOST_NAMED */
};

static void find_begun(const struct found_job *sought, const struct client_row *rows, size_t count,
		       enum lookup_names names, struct begun *ret_begun)
{
	for (size_t i = 0; i < count; i++) {
		if (!rows[i].namespace_name != !sought->namespace_name ||
		    (names == LOOKUP_UNGENERATED
			     ? !job_name_is_generated(rows[i].name, sought->name)
			     : !text_starts_with(rows[i].name, sought->name)))
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

/* NULL when no name is similar. */
static const char *find_nearest(const struct found_job *sought, const struct client_row *rows,
				size_t count)
{
	const char **names CLEANUP(mem_free_any) = mem_new_array(count + 1, sizeof(*names));

	for (size_t i = 0; i < count; i++)
		names[i] = rows[i].name;
	return name_nearest(names, count, sought->name);
}

/* "namespace 'ada' of context 'prod'"; without a context, of `otherwise`. */
static char *describe_place(const char *namespace_name, const char *context, const char *otherwise)
{
	return context ? mem_format("namespace '%s' of context '%s'", namespace_name, context)
		       : mem_format("namespace '%s' of %s", namespace_name, otherwise);
}

/* A job that was not found, and why: "job 'digts' not found; did you mean 'digits'?". `neither`:
 * where else it is not. */
static int refuse_name(const struct lookup *lookup, const struct found_job *sought,
		       const char *neither, const char *nearest, const struct begun *begun,
		       struct err *err)
{
	bool is_on_cluster = sought->namespace_name;
	char *place CLEANUP(mem_free_text) =
		is_on_cluster ? describe_place(sought->namespace_name, lookup->config->context,
					       "this Pod's cluster")
			      : NULL;
	char *where CLEANUP(mem_free_text) =
		is_on_cluster ? mem_format("%s in %s", neither, place) : mem_copy_text("");
	char *choice CLEANUP(mem_free_text) = lookup_choice(lookup->options, is_on_cluster);

	if (nearest && begun->count < 2)
		return err_set(err, ERR_NOT_FOUND, "job '%s' not found%s; did you mean '%s'?",
			       sought->name, where, nearest);
	if (begun->count > 0)
		return err_set(err, ERR_NOT_FOUND,
			       "job '%s' not found%s; jobs that begin with it: %s", sought->name,
			       where, text_of(&begun->names));
	if (replica_name_read_known(sought->name, &(struct log_name){0}))
		return err_set(
			err, ERR_NOT_FOUND,
			"job '%s' not found%s; if it is a replica, name its job first: JOB %s",
			sought->name, where, sought->name);
	return err_set(err, ERR_NOT_FOUND,
		       "job '%s' not found%s; to list the jobs: 'muster ps -%s%s'", sought->name,
		       where, is_on_cluster ? "A" : "a", choice);
}

/* For a missing job: takes the one whose name it is a prefix of, of several the only one that runs,
 * or else the newest; or sets an error with what may be meant. */
static int match_job_prefix(struct lookup *lookup, struct found_job *sought, const char *neither,
			    struct err *err)
{
	struct client_row *rows = NULL;
	size_t count = 0;
	int rc = sought->client->functions->list(sought->client, &rows, &count, NULL);
	const char *nearest = rc == 0 ? find_nearest(sought, rows, count) : NULL;
	struct begun begun = {0};

	if (rc == 0)
		find_begun(sought, rows, count, lookup->names, &begun);
	if (begun.count > 0 && begun.n_running <= 1 && lookup->names != LOOKUP_WHOLE) {
		rc = 0;
		if (begun.count == 1)
			output_print_message("job %s", begun.name);
		else
			output_print_message("job %s (%s of %zu that begin with '%s')", begun.name,
					     begun.n_running ? "the one that runs" : "the newest",
					     begun.count, sought->name);
		sought->name = arena_copy_text(lookup->arena, begun.name);
	} else {
		rc = refuse_name(lookup, sought, neither, nearest, &begun, err);
	}
	text_done(&begun.names);
	client_rows_free(rows, count);
	return rc;
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
	int rc = open_place(lookup, false, NULL, ret_found, err);

	if (rc != 0)
		return rc;
	ret_found->name = name;
	return ret_found->client->functions->log_folder(ret_found->client, name, &folder, err);
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
	int rc = open_place(lookup, true, namespace_name, ret_found, err);

	if (rc < 0)
		return rc;
	ret_found->name = name;
	return check_job_exists(ret_found->client, name, err);
}

/* Jobs on clusters that this machine has recorded. */

/* Whether the options select that cluster. */
static bool is_meant_cluster(struct lookup *lookup, const struct cluster_job_place *at)
{
	return read_config(lookup, NULL) == 0 &&
	       text_equals(lookup->config->cluster.server, at->server) &&
	       text_equals(lookup->config->context, at->context);
}

/* Its cluster has deleted the job, so it has finished: the record on this machine. */
static int find_ended(struct lookup *lookup, const struct cluster_job_place *at, const char *name,
		      struct found_job *ret_found, struct err *err)
{
	const char *folder = state_folder(lookup);
	char *place CLEANUP(mem_free_text) =
		describe_place(at->namespace_name, at->context, at->server);
	char *why CLEANUP(mem_free_text) = mem_format(
		"it is no longer in %s, and this machine does not know how it ended", place);
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
	return rc < 0 ? rc
		      : find_here(lookup, arena_copy_text(lookup->arena, job.record.name),
				  ret_found, err);
}

/* Another job may have its name by now. */
static bool is_same_job_record(struct client *client, const char *name, const char *uid)
{
	struct json *object CLEANUP(json_cleanup) = NULL;

	return client->functions->get(client, name, &object, NULL) < 0 ||
	       text_equals(json_as_string(json_get_path(object, "metadata", "uid", NULL), NULL),
			   uid);
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

int lookup_known(struct lookup *lookup, const char *name, struct found_job *ret_found,
		 struct err *err)
{
	struct cluster_job_record job = {0};

	if (cluster_job_record_find(state_folder(lookup), name, &job) < 0)
		return ERR_NOT_FOUND;
	const struct cluster_job_place *at = &job.at;
	struct way *way = add_way(lookup, at->namespace_name);
	struct found_job *found = &way->found;
	bool is_gone = false;

	way->job = job;
	way->options = options_copy(lookup->options);
	found->options = way->options;
	if (!is_meant_cluster(lookup, at)) {
		options_set_text(way->options, "context", at->context);
		options_set_text(way->options, "kubeconfig", at->kubeconfig);
	}
	int rc = open_namespace(lookup, way->options, at->namespace_name, &found->client, err);

	if (rc == 0) {
		rc = check_job_exists(found->client, name, err);
		is_gone = rc == ERR_NOT_FOUND ||
			  (rc == 0 && !is_same_job_record(found->client, name, job.record.uid));
		if (is_gone)
			rc = check_server(way, err);
	}
	if (rc < 0) {
		char *place CLEANUP(mem_free_text) =
			describe_place(at->namespace_name, at->context, at->server);

		/* ERR_NOT_FOUND then means the connection, and not the job. */
		if (err->code == ERR_NOT_FOUND)
			err->code = ERR_UNREACHABLE;
		return err_prefix(err, "job '%s' was started in %s, which cannot be reached", name,
				  place);
	}
	if (is_gone)
		return find_ended(lookup, at, name, ret_found, err);
	*ret_found = *found;
	ret_found->name = name;
	return 0;
}

int lookup_remembered(struct lookup *lookup, const char *argument, struct found_job *ret_found,
		      struct err *err)
{
	struct job_reference reference CLEANUP(job_reference_done) = {0};
	struct cluster_job_record job CLEANUP(cluster_job_record_done) = {0};
	const char *folder = state_folder(lookup);
	int rc = job_reference_read(argument, &reference, err);

	if (rc < 0)
		return rc;
	if (reference.place == JOB_ON_CLUSTER) {
		char *record CLEANUP(mem_free_text) =
			cluster_job_record_name(reference.namespace_name, reference.name);

		rc = cluster_job_record_get(folder, record, &job);
	} else {
		rc = cluster_job_record_find(folder, reference.name, &job);
	}
	if (rc < 0 || reference.place == JOB_HERE)
		return err_set(err, ERR_NOT_FOUND,
			       "this machine has no record of a running job '%s' on a cluster",
			       argument);
	return find_here(lookup, arena_copy_text(lookup->arena, job.record.name), ret_found, err);
}

static int find_named_on_cluster(struct lookup *lookup, const char *namespace_name,
				 const char *name, struct found_job *ret_found, struct err *err)
{
	struct found_job remembered = {0};
	int rc = find_on_cluster(lookup, namespace_name, name, ret_found, err);

	if (!is_missing(rc, ret_found))
		return rc;
	/* The cluster may have deleted it. */
	const struct cluster_job_place place = {
		.server = lookup->config->cluster.server,
		.context = lookup->config->context,
		.namespace_name = ret_found->namespace_name,
	};

	if (find_ended(lookup, &place, name, &remembered, NULL) < 0)
		return match_job_prefix(lookup, ret_found, "", err);
	*ret_found = remembered;
	return 0;
}

static int find_named_here(struct lookup *lookup, const char *name, struct found_job *ret_found,
			   struct err *err)
{
	int rc = find_here(lookup, name, ret_found, err);

	return is_missing(rc, ret_found) ? match_job_prefix(lookup, ret_found, "", err) : rc;
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
	const char *context = lookup->config ? lookup->config->context : NULL;

	/* A finished job is recorded on this machine just before the cluster deletes it. */
	if (is_missing(rc, &found) && find_here(lookup, name, ret_found, NULL) == 0)
		return 0;
	if (is_missing(rc, &found) && match_job_prefix(lookup, ret_found, "", NULL) == 0)
		return 0;
	if (is_missing(rc, &found))
		rc = match_job_prefix(lookup, &found, ", neither here nor", err);
	else if (rc < 0)
		/* An error in the kubeconfig must not hide that this machine does not have the job.
		 */
		return err_prefix(
			err,
			"job '%s' is not on this machine, and the cluster%s%s%s cannot be reached",
			name, context ? " of context '" : "", context ? context : "",
			context ? "'" : "");
	if (rc == 0)
		*ret_found = found;
	return rc;
}

int lookup_job(struct lookup *lookup, const char *argument, struct found_job *ret_found,
	       struct err *err)
{
	struct job_reference reference CLEANUP(job_reference_done) = {0};
	struct found_job found = {0};

	int rc = argument ? job_reference_read(argument, &reference, err)
			  : lookup_newest_job(lookup, ret_found, err);

	if (rc == 0 && !argument)
		output_print_message("job %s", ret_found->name);
	if (rc < 0 || !argument)
		return rc;
	if (reference.place == JOB_ANYWHERE && lookup_means_cluster(lookup->options))
		reference.place = JOB_ON_CLUSTER;
	if (reference.place == JOB_HERE)
		rc = find_named_here(lookup, reference.name, &found, err);
	else if (reference.place == JOB_ON_CLUSTER)
		rc = find_named_on_cluster(lookup, reference.namespace_name, reference.name, &found,
					   err);
	else
		rc = find_anywhere(lookup, reference.name, &found, err);
	if (rc == 0)
		*ret_found = found;
	return rc;
}

/* Without a name. */

/* The rows of the selected place, by age, the oldest first, and their client. */
static int list_meant(struct lookup *lookup, struct found_job *ret_found,
		      struct client_row **ret_rows, size_t *ret_count, struct err *err)
{
	int rc = open_place(lookup, lookup_means_cluster(lookup->options), NULL, ret_found, err);

	return rc < 0 ? rc
		      : ret_found->client->functions->list(ret_found->client, ret_rows, ret_count,
							   err);
}

int lookup_newest_job(struct lookup *lookup, struct found_job *ret_found, struct err *err)
{
	struct client_row *rows = NULL;
	size_t count = 0;
	int rc = list_meant(lookup, ret_found, &rows, &count, err);

	if (rc == 0 && count > 0)
		ret_found->name = arena_copy_text(lookup->arena, rows[count - 1].name);
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
			ret_found->name = arena_copy_text(lookup->arena, rows[i].name);
	if (rc == 0 && n_running == 0)
		rc = err_set(err, ERR_NOT_FOUND, "no job is running");
	else if (rc == 0 && n_running > 1)
		rc = set_ambiguous_job_error(rows, count, n_running, err);
	else if (rc == 0)
		output_print_message("job %s", ret_found->name);
	client_rows_free(rows, count);
	return rc;
}

int lookup_jobs(struct lookup *lookup, struct found_jobs *ret_jobs)
{
	const char *const *arguments = options_arguments(lookup->options);
	size_t most = options_n_arguments(lookup->options) + 1;
	struct found_jobs jobs = {
		.list = arena_take_array(lookup->arena, most, sizeof(*jobs.list))};
	int exit_code = EXIT_DONE;
	struct err err = {0};

	for (size_t i = 0; arguments[i]; i++)
		if (lookup_job(lookup, arguments[i], &jobs.list[jobs.count], &err))
			exit_code = output_fail(&err);
		else
			jobs.count++;
	*ret_jobs = jobs;
	return exit_code;
}
