#include "cli/replica_name.h"

#include "base/mem.h"
#include "base/text.h"
#include "spec/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void copy_place_of_fetch(const char *namespace_name, const char *job, const struct fetch *fetch,
			 struct copy_place *ret_place)
{
	*ret_place = (struct copy_place){
		.namespace_name = mem_copy_text(namespace_name),
		.job = mem_copy_text(job),
		.role = mem_copy_text(fetch->role),
		.index = fetch->index,
		.path = mem_copy_text(fetch->path),
	};
}

void copy_place_done(struct copy_place *place)
{
	free(place->namespace_name);
	free(place->job);
	free(place->role);
	free(place->path);
}

/* Reads the text after the job, "ROLE-INDEX:PATH"; false if it has another form. */
static bool copy_place_read_replica(const char *text, struct copy_place *place)
{
	const char *colon = strchr(text, ':');

	if (!colon ||
	    !replica_name_read(text, (size_t) (colon - text), &place->role, &place->index))
		return false;
	place->path = mem_copy_text(colon + 1);
	return true;
}

/* "local/NAME", "kubernetes/NAMESPACE/NAME", "NAME". */
static bool parse_copy_job(const char *text, size_t len, struct copy_place *place)
{
	char *job CLEANUP(mem_free_text) = mem_copy_bytes(text, len);
	static const char cluster[] = "kubernetes/", here[] = "local/";
	char *slash = strrchr(job, '/');

	if (!slash) {
		place->job = TAKE(job);
		return len > 0;
	}
	place->is_here = text_starts_with(job, here) && slash == job + strlen(here) - 1;
	if (!place->is_here && (!text_starts_with(job, cluster) || slash < job + strlen(cluster)))
		return false;
	place->job = mem_copy_text(slash + 1);
	if (!place->is_here) {
		*slash = '\0';
		place->namespace_name = mem_copy_text(job + strlen(cluster));
	}
	return *place->job != '\0';
}

static bool read_in_job(const char *text, struct copy_place *place)
{
	const char *colon = strchr(text, ':');

	return colon && *text != '/' && *text != '.' &&
	       parse_copy_job(text, (size_t) (colon - text), place) &&
	       copy_place_read_replica(colon + 1, place);
}

void copy_place_read(const char *text, struct copy_place *ret_place)
{
	struct copy_place place = {0};

	if (!read_in_job(text, &place)) {
		copy_place_done(&place);
		place = (struct copy_place){.path = mem_copy_text(text)};
	}
	*ret_place = place;
}

#define HIGHEST_PORT 65535

void port_arguments_done(struct port_arguments *arguments)
{
	free(arguments->role);
	free(arguments->pairs);
	*arguments = (struct port_arguments){0};
}

/* Only the name of a replica contains a dash. */
static int read_replica(const char *word, struct port_arguments *arguments, struct err *err)
{
	if (!replica_name_read(word, strlen(word), &arguments->role, &arguments->index))
		return err_set(err, ERR_INVALID, "'%s' is not a replica (worker-0) or a port",
			       word);
	return 0;
}

static int read_port(const char *word, const char *number, int *ret_port, struct err *err)
{
	int64_t port;

	if (text_read_int(number, 1, HIGHEST_PORT, &port, NULL) < 0)
		return err_set(err, ERR_INVALID,
			       "'%s' is not a port (expected REMOTE, LOCAL:REMOTE or :REMOTE, with "
			       "numbers from 1 to %d)",
			       word, HIGHEST_PORT);
	*ret_port = (int) port;
	return 0;
}

static int read_pair(const char *word, struct port_pair *pair, struct err *err)
{
	const char *colon = strchr(word, ':');
	int rc = read_port(word, colon ? colon + 1 : word, &pair->remote, err);

	pair->local = colon ? 0 : pair->remote;
	if (rc < 0 || !colon || colon == word)
		return rc;
	char *local CLEANUP(mem_free_text) = mem_copy_bytes(word, (size_t) (colon - word));

	return read_port(word, local, &pair->local, err);
}

static int refuse_twice(const struct port_arguments *arguments, struct err *err)
{
	const struct port_pair *last = &arguments->pairs[arguments->n_pairs - 1];

	for (const struct port_pair *pair = arguments->pairs; pair < last; pair++)
		if (last->local && pair->local == last->local)
			return err_set(err, ERR_INVALID, "local port %d is named twice",
				       last->local);
	return 0;
}

int port_arguments_read(const char *const *words, size_t n_words, struct port_arguments *arguments,
			struct err *err)
{
	size_t first = n_words && strchr(words[0], '-') ? 1 : 0;
	int rc = first ? read_replica(words[0], arguments, err) : 0;

	if (rc == 0 && first == n_words)
		rc = err_set(err, ERR_INVALID, "missing port (expected REMOTE or LOCAL:REMOTE)");
	if (rc == 0)
		arguments->pairs = mem_new_array(n_words - first, sizeof(*arguments->pairs));
	for (size_t i = first; rc == 0 && i < n_words; i++) {
		rc = read_pair(words[i], &arguments->pairs[arguments->n_pairs++], err);
		if (rc == 0)
			rc = refuse_twice(arguments, err);
	}
	return rc;
}

bool replica_name_read(const char *text, size_t len, char **ret_role, int *ret_index)
{
	size_t dash = len;
	int64_t index;

	while (dash && text[dash - 1] != '-')
		dash--;
	if (dash < 2) /* no dash, or nothing before it */
		return false;
	char *number CLEANUP(mem_free_text) = mem_copy_bytes(text + dash, len - dash);

	if (text_read_int(number, 0, LIMIT_REPLICAS, &index, NULL) < 0)
		return false;
	*ret_role = mem_copy_bytes(text, dash - 1);
	*ret_index = (int) index;
	return true;
}

int replica_name_take(const char *word, char **ret_role, int *ret_index, struct err *err)
{
	return replica_name_read(word, strlen(word), ret_role, ret_index)
		       ? 0
		       : err_set(err, ERR_INVALID,
				 "'%s' is not a replica (expected ROLE-INDEX, for example "
				 "worker-0)",
				 word);
}

int replica_name_take_log_name(const char *word, struct log_name *ret_name, struct err *err)
{
	char *role CLEANUP(mem_free_text) = NULL;
	int index, rc = replica_name_take(word, &role, &index, err);

	if (rc < 0)
		return rc;
	*ret_name = (struct log_name){.index = index};
	snprintf(ret_name->role, sizeof(ret_name->role), "%s", role);
	return 0;
}
