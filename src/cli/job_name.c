#include "cli/job_name.h"

#include "base/mem.h"
#include "base/names.h"
#include "base/text.h"
#include "cli/local_jobs.h"
#include "io/random.h"

#include <stdlib.h>
#include <string.h>

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

#define N_RANDOM_CHARACTERS 5
#define MOST_TRIES 10
/* The usable length of a word: a label less "-evaluator-0" or "-worker-9999" and the random
 * part. */
#define WORD_MAX (DNS_LABEL_MAX - 12 - 1 - N_RANDOM_CHARACTERS)

char *job_name_generate(const char *beginning)
{
	static const char alphabet[] = "bcdfghjklmnpqrstvwxz2456789";
	unsigned char bytes[N_RANDOM_CHARACTERS];
	char suffix[N_RANDOM_CHARACTERS + 1] = "";

	random_bytes(bytes, sizeof(bytes));
	for (size_t i = 0; i < N_RANDOM_CHARACTERS; i++)
		suffix[i] = alphabet[bytes[i] % (sizeof(alphabet) - 1)];
	return mem_format("%s%s", beginning, suffix);
}

static bool is_taken(struct client *client, const char *name)
{
	struct json *job CLEANUP(json_cleanup) = NULL;

	return client && client->functions->get(client, name, &job, NULL) == 0;
}

static char *choose_free_name(const struct options *options, const char *label)
{
	struct client *client CLEANUP(local_jobs_close) = NULL;
	char *beginning CLEANUP(mem_free_text) = mem_format("%s-", label);

	char *name = job_name_generate(beginning);

	(void) !local_jobs_open_existing(options, NULL, &client);
	for (int tries = 1; tries < MOST_TRIES && is_taken(client, name); tries++) {
		free(name);
		name = job_name_generate(beginning);
	}
	return name;
}

char *job_name_choose(const struct options *options, const char *word)
{
	const char *dot = strrchr(word, '.');
	char *stem CLEANUP(mem_free_text) =
		mem_copy_bytes(word, dot && dot != word ? (size_t) (dot - word) : strlen(word));
	char *label CLEANUP(mem_free_text) = name_to_dns1035(stem, WORD_MAX, "job");

	return choose_free_name(options, label);
}

char *job_name_choose_of_id(const struct options *options, const char *id, const char *place)
{
	struct client *client CLEANUP(local_jobs_close) = NULL;
	char *word CLEANUP(mem_free_text) =
		place ? mem_format("%s-%s", id, place) : mem_copy_text(id);
	char *label CLEANUP(mem_free_text) = name_to_dns_label(word, WORD_MAX, "job");

	if (place)
		(void) !local_jobs_open_existing(options, NULL, &client);
	if (!place || is_taken(client, label))
		return choose_free_name(options, label);
	return TAKE(label);
}
