#include "cli/local_jobs.h"

#include "base/mem.h"
#include "base/names.h"
#include "command/output.h"
#include "io/random.h"
#include "jobs/state_folder.h"

#include <errno.h>
#include <unistd.h>

char *local_jobs_folder(const struct options *options)
{
	static bool has_told;
	const char *folder = option_text(options, "state-dir");
	char *why CLEANUP(mem_free_text) = NULL;
	char *usual = folder ? mem_copy_text(folder) : state_folder_default(&why);

	if (why && !has_told)
		output_print_message("%s", why);
	has_told |= why != NULL;
	return usual;
}

int local_jobs_open(const struct options *options, struct client **ret_client, struct err *err)
{
	char *folder CLEANUP(mem_free_text) = local_jobs_folder(options);

	return client_local_new(folder, ret_client, err);
}

int local_jobs_open_existing(const struct options *options, const char *folder,
			     struct client **ret_client)
{
	char *usual CLEANUP(mem_free_text) = folder ? NULL : local_jobs_folder(options);
	const char *chosen = folder ? folder : usual;

	if (access(chosen, F_OK) < 0)
		return ERR_NOT_FOUND;
	return client_local_new(chosen, ret_client, NULL);
}

int temporary_folder_create(const char *name, char **ret_path, struct err *err)
{
	const char *parent = getenv("TMPDIR");
	char *path CLEANUP(mem_free_text) =
		mem_format("%s/%s-XXXXXX", parent && *parent ? parent : "/tmp", name);

	if (!mkdtemp(path))
		return err_set_errno(err, errno, "cannot create directory '%s'", path);
	*ret_path = TAKE(path);
	return 0;
}

void local_jobs_close(struct client **client)
{
	if (*client)
		(*client)->functions->free(*client);
}

#define N_RANDOM_CHARACTERS 5
#define MOST_TRIES 10
/* The usable length of a word: a label less "-evaluator-0" or "-worker-9999" and the random
 * part. */
#define WORD_MAX (DNS_LABEL_MAX - 12 - 1 - N_RANDOM_CHARACTERS)

static const char alphabet[] = "bcdfghjklmnpqrstvwxz2456789";

bool job_name_is_generated(const char *name, const char *beginning)
{
	const char *rest = text_starts_with(name, beginning) ? name + strlen(beginning) : "";

	rest += *rest == '-';
	return strlen(rest) == N_RANDOM_CHARACTERS && strspn(rest, alphabet) == N_RANDOM_CHARACTERS;
}

char *job_name_generate(const char *beginning)
{
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
