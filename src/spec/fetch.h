/* Directories of Pods to be fetched when their job ends: `run --fetch`.
 *
 * The job's document names them in an annotation, so that any muster process that supervises the
 * end of the job can fetch them. Their destinations are chosen only by the process that fetches. A
 * user who may write the document must not choose places on another user's machine. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"

/* Annotation of a job: a list of texts "ROLE-INDEX:/PATH", as JSON. */
#define JOB_ANNOTATION_FETCH "muster/fetch"

struct fetch {
	const char *role;
	int index;
	const char *path; /* absolute, without a slash at its end; "/models/." for its contents */
};

/* Reads "worker-0:/models". ERR_INVALID: another form, or a path that is not absolute, is "/", or
 * contains "..". The texts live in the arena. */
int fetch_read(const char *text, struct arena *arena, struct fetch *ret_fetch,
	       struct err *err) MUST_USE;
/* "worker-0:/models". Caller frees. */
char *fetch_text(const struct fetch *fetch) MUST_USE;
/* The directory: the path without a "/." at its end. Caller frees. */
char *fetch_folder(const struct fetch *fetch) MUST_USE;

/* Reads the annotation's value; NULL: there is none. ERR_INVALID for the first invalid one. */
int fetch_read_all(const char *annotation, struct arena *arena, const struct fetch **ret_list,
		   size_t *ret_count, struct err *err) MUST_USE;
/* Adds one to those of a document. */
void fetch_add(struct json *document, const struct fetch *fetch);
