#include "cli/copy_place.h"

#include "base/mem.h"
#include "base/text.h"
#include "cli/replica_name.h"

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
