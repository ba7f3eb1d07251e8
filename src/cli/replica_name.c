#include "cli/replica_name.h"

#include "base/names.h"
#include "spec/limits.h"

#include <ctype.h>
#include <stdio.h>

static const char here[] = "local/";
static const char on_cluster[] = "kubernetes/";

int job_reference_read(const char *text, struct job_reference *ret_reference, struct err *err)
{
	struct job_reference reference = {.place = JOB_ANYWHERE, .name = text};
	char *namespace_name CLEANUP(mem_free_text) = NULL;

	if (text_starts_with(text, on_cluster)) {
		const char *rest = text + strlen(on_cluster), *slash = strchr(rest, '/');

		reference = (struct job_reference){.place = JOB_ON_CLUSTER,
						   .name = slash ? slash + 1 : ""};
		namespace_name = mem_copy_bytes(rest, strcspn(rest, "/"));
	} else if (text_starts_with(text, here)) {
		reference = (struct job_reference){.place = JOB_HERE, .name = text + strlen(here)};
	}
	if (!*reference.name || strchr(reference.name, '/'))
		return err_set(err, ERR_INVALID,
			       "'%s' is not a job name (expected NAME, local/NAME or "
			       "kubernetes/NAMESPACE/NAME)",
			       text);
	if (namespace_name && !name_is_dns_label(namespace_name))
		return err_set(err, ERR_INVALID, "'%s': '%s' is not a valid namespace name", text,
			       namespace_name);
	reference.namespace_name = TAKE(namespace_name);
	*ret_reference = reference;
	return 0;
}

void job_reference_done(struct job_reference *reference)
{
	mem_free_text(&reference->namespace_name);
}

void copy_place_read(const char *text, struct arena *arena, struct copy_place *ret_place)
{
	const char *colon = strchr(text, ':'), *second = colon ? strchr(colon + 1, ':') : NULL;
	struct job_reference reference CLEANUP(job_reference_done) = {0};
	struct log_name replica;

	*ret_place = (struct copy_place){.path = text};
	if (!second || *text == '/' || *text == '.')
		return;
	const char *job = arena_format(arena, "%.*s", (int) (colon - text), text);

	if (job_reference_read(job, &reference, NULL) < 0 ||
	    !replica_name_read(colon + 1, (size_t) (second - colon - 1), &replica))
		return;
	*ret_place = (struct copy_place){
		.namespace_name = arena_copy_text(arena, reference.namespace_name),
		.job = reference.name,
		.is_here = reference.place == JOB_HERE,
		.role = arena_copy_text(arena, replica.role),
		.index = replica.index,
		.path = second + 1,
	};
}

#define HIGHEST_PORT 65535

void port_arguments_done(struct port_arguments *arguments)
{
	free(arguments->pairs);
	*arguments = (struct port_arguments){0};
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

/* A local port must not be given twice. */
static int add_pair(struct port_arguments *arguments, const char *word, struct err *err)
{
	struct port_pair *pair = &arguments->pairs[arguments->n_pairs++];

	if (read_pair(word, pair, err) < 0)
		return err->code;
	for (const struct port_pair *other = arguments->pairs; other < pair; other++)
		if (pair->local && other->local == pair->local)
			return err_set(err, ERR_INVALID, "local port %d is named twice",
				       pair->local);
	return 0;
}

int port_arguments_read(const char *const *words, struct port_arguments *arguments, struct err *err)
{
	size_t count = 0;
	int rc = 0;

	/* Only the name of a replica contains a dash. */
	if (words[0] && strchr(words[0], '-')) {
		if (!replica_name_read(words[0], strlen(words[0]), &arguments->replica))
			return err_set(err, ERR_INVALID,
				       "'%s' is not a replica (worker-0) or a port", words[0]);
		words++;
	}
	if (!words[0])
		return err_set(err, ERR_INVALID, "missing port (expected REMOTE or LOCAL:REMOTE)");
	while (words[count])
		count++;
	arguments->pairs = mem_new_array(count, sizeof(*arguments->pairs));
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = add_pair(arguments, words[i], err);
	return rc;
}

bool replica_name_read(const char *text, size_t len, struct log_name *ret_name)
{
	size_t dash = len;
	int64_t index;

	while (dash && text[dash - 1] != '-')
		dash--;
	if (dash < 2 || dash > LOG_ROLE_SIZE) /* no dash, nothing before it, or too much */
		return false;
	char *number CLEANUP(mem_free_text) = mem_copy_bytes(text + dash, len - dash);

	if (text_read_int(number, 0, LIMIT_REPLICAS, &index, NULL) < 0)
		return false;
	*ret_name = (struct log_name){.index = (int) index};
	memcpy(ret_name->role, text, dash - 1);
	return true;
}

int replica_name_take_log_name(const char *word, struct log_name *ret_name, struct err *err)
{
	return replica_name_read(word, strlen(word), ret_name)
		       ? 0
		       : err_set(err, ERR_INVALID,
				 "'%s' is not a replica (expected ROLE-INDEX, for example "
				 "worker-0)",
				 word);
}

bool replica_name_read_known(const char *word, struct log_name *ret_name)
{
	static const char *const roles[] = {"chief", "master", "worker", "ps", "evaluator"};
	const char *dash = strrchr(word, '-');
	size_t len = dash ? (size_t) (dash - word) : 0;
	int64_t index;

	if (!dash || !isdigit((unsigned char) dash[1]) ||
	    text_read_int(dash + 1, 0, INT32_MAX, &index, NULL))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(roles); i++)
		if (strlen(roles[i]) == len && strncmp(roles[i], word, len) == 0) {
			*ret_name = (struct log_name){.index = (int) index};
			memcpy(ret_name->role, roles[i], len);
			return true;
		}
	return false;
}
