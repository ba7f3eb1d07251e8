/* Files that travel with a job: a script, or a folder of them, in ConfigMaps that every Pod mounts.
 *
 * Which ConfigMap holds which file follows from the list of files alone, so that the job's
 * document, which names the ConfigMaps, and the ConfigMaps themselves (kube/objects_all.h) agree.
 */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>

#define JOB_FILES_FOLDER "/muster/files" /* where they are in a Pod; read-only */
#define JOB_WORK_FOLDER "/muster/work" /* where the command runs then; an empty folder */

/* Bytes of files in one ConfigMap. Kubernetes takes 1 MiB with the names; what is binary grows by a
 * third on its way, and etcd takes requests of 1.5 MiB. */
#define JOB_FILES_PART_SIZE 1000000

struct job_file {
	const char *path; /* relative to the folder, '/' between its parts: "train.py" */
	const char *bytes;
	size_t len;
	bool is_executable;
};

/* The key of file number `index`: its path where that can be one, else "file-INDEX". Caller frees.
 */
char *job_files_key(const struct job_file *file, size_t index) MUST_USE;
/* The part in which each file lies, one number for each; parts are filled in order. Caller frees.
 * ERR_LIMIT names a file that no ConfigMap can hold. */
int job_files_spread(const struct job_file *files, size_t n_files, size_t **ret_parts,
		     struct err *err) MUST_USE;
/* Of the ConfigMap of a part: JOB.files-PART-DIGEST. Other contents have another name, so that a
 * kubelet that still knows an earlier job of this name does not give its files to new Pods
 * (docs/design/0015). Caller frees. */
char *job_files_name(const char *job_name, const struct job_file *files, size_t n_files,
		     const size_t *parts, size_t part) MUST_USE;

/* Whether the Pods of this template mount files of their job. */
bool job_files_are_mounted(const struct json *template);

/* The path of a part of a packed folder (a tar stream compressed by gzip), for job_file. Caller
 * frees. */
char *job_files_packed_name(size_t part) MUST_USE;

/* Mounts the files in the container that trains of each role of a document, and lets it begin in
 * the work folder where the document says no other. Errors as above; the document is untouched
 * then.
 */
int job_document_add_files(struct json *document, const struct job_file *files, size_t n_files,
			   struct err *err) MUST_USE;

/* After job_document_add_files of the parts of a packed folder: unpacks it into the work folder,
 * where the command runs, whatever the document says. A container of its own does it before, from
 * the same image, which has to have sh, tar and gzip. */
void job_document_add_unpacking(struct json *document);
