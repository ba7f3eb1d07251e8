#include "cli/port_arguments.h"

#include "base/mem.h"
#include "base/text.h"
#include "cli/replica_name.h"

#include <stdlib.h>
#include <string.h>

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
