/* Finds tasks in a cluster spec; their addresses. spec/cluster_read.c reads it. */
#include "spec/cluster_spec.h"

#include "base/names.h"

void cluster_spec_free(struct cluster_spec *spec)
{
	if (!spec)
		return;
	arena_free(spec->arena);
	free(spec);
}

void cluster_spec_cleanup(struct cluster_spec **spec)
{
	cluster_spec_free(*spec);
}

const struct spec_job *cluster_spec_job(const struct cluster_spec *spec, const char *name)
{
	for (size_t i = 0; i < spec->n_jobs; i++)
		if (text_equals(spec->jobs[i].name, name))
			return &spec->jobs[i];
	return NULL;
}

const struct spec_task *cluster_spec_task(const struct cluster_spec *spec, const char *job_name,
					  int index)
{
	const struct spec_job *job = cluster_spec_job(spec, job_name);

	for (size_t i = 0; job && i < job->n_tasks; i++)
		if (job->tasks[i].index == index)
			return &job->tasks[i];
	return NULL;
}

/* Only in a sparse TF_CONFIG do the indices have gaps. */
static int complain_of_index(const struct spec_job *job, int index, struct err *err)
{
	struct text indices CLEANUP(text_done) = {0};
	int last = job->tasks[job->n_tasks - 1].index;

	if (job->n_tasks == 1)
		text_addf(&indices, "only task %d", last);
	else if ((size_t) last == job->n_tasks - 1)
		text_addf(&indices, "tasks 0 to %d", last);
	else
		for (size_t i = 0; i < job->n_tasks; i++)
			text_addf(&indices, "%s %d", i == 0 ? "tasks" : ",", job->tasks[i].index);
	return err_set(err, ERR_NOT_FOUND, "job '%s' has no task %d; it has %s", job->name, index,
		       text_of(&indices));
}

int cluster_spec_set_own(struct cluster_spec *spec, const char *job_name, int index,
			 struct err *err)
{
	const struct spec_job *job = cluster_spec_job(spec, job_name);
	struct text names CLEANUP(text_done) = {0};

	spec->own = cluster_spec_task(spec, job_name, index);
	if (spec->own)
		return 0;
	if (job)
		return complain_of_index(job, index, err);
	for (size_t i = 0; i < spec->n_jobs; i++)
		text_addf(&names, "%s%s", i == 0 ? "" : ", ", spec->jobs[i].name);
	return err_set(err, ERR_NOT_FOUND, "the cluster has no job '%s'; it has %s", job_name,
		       text_of(&names));
}

/* Addresses. */

/* The length of the host at the start, with brackets: in them an IPv6 address, which may have an
 * IPv4 address at its end, and a zone (RFC 6874) after '%'. */
static size_t host_length(const char *address)
{
	if (address[0] != '[')
		return strspn(address, NAME_LETTERS NAME_DIGITS "-._");
	size_t len = 1 + strspn(address + 1, NAME_LETTERS NAME_DIGITS ":.%-_");

	return len + (address[len] == ']');
}

static const char *host_fault(const char *address, size_t len)
{
	bool is_bracketed = address[0] == '[';

	if (text_starts_with(address, "grpc://"))
		return "expected HOST:PORT without 'grpc://'";
	if (is_bracketed && (len < 2 || address[len - 1] != ']'))
		return address[len] ? "unexpected character in an IPv6 address"
				    : "missing ']' after the IPv6 address";
	if (is_bracketed && !memchr(address, ':', len))
		return "expected an IPv6 address between '[' and ']'";
	if (text_starts_with(address, "::"))
		return "an IPv6 address needs brackets, as in [::1]:2222";
	if (len == 0 && (address[0] == ':' || !address[0]))
		return "missing host (expected HOST:PORT)";
	if (!address[len])
		return "missing port (expected HOST:PORT)";
	if (address[len] != ':')
		return "unexpected character in an address (expected HOST:PORT)";
	return NULL;
}

static const char *port_fault(const char *port, size_t *ret_offset)
{
	size_t n_digits = strspn(port, NAME_DIGITS);
	int64_t number;

	*ret_offset = n_digits;
	if (!port[0])
		return "missing port (expected HOST:PORT)";
	if (port[n_digits] == ':')
		return "an IPv6 address needs brackets, as in [::1]:2222";
	if (port[n_digits])
		return "unexpected character in a port (expected a number from 1 to 65535)";
	*ret_offset = 0;
	if (text_read_int(port, 1, 65535, &number, NULL))
		return "a port must be a number from 1 to 65535";
	return NULL;
}

const char *address_fault(const char *address, size_t *ret_offset)
{
	size_t len = host_length(address);
	const char *fault = host_fault(address, len);

	if (fault) {
		*ret_offset = text_starts_with(address, "grpc://") ? 0 : len;
		return fault;
	}
	fault = port_fault(address + len + 1, ret_offset);
	*ret_offset += len + 1;
	return fault;
}

char *address_host(const char *address)
{
	size_t len = host_length(address);

	if (address[0] == '[')
		return mem_copy_bytes(address + 1, len - 2);
	return mem_copy_bytes(address, len);
}

int address_port(const char *address)
{
	int64_t port = 0;
	int rc = text_read_int(strrchr(address, ':') + 1, 1, 65535, &port, NULL);

	return rc ? 0 : (int) port;
}
