#include "local/gpu_metrics.h"

#include "base/mem.h"
#include "io/child.h"
#include "io/file.h"
#include "local/nvml.h"

#include <errno.h>
#include <unistd.h>

#define PERIOD (5 * MSEC_PER_SECOND)
/* Older values are not those of now. */
#define MOST_AGE (30 * MSEC_PER_SECOND)
#define ANSWER_LIMIT 65536

struct gpu_metrics {
	struct loop *loop;
	bool was_started;
	int fd; /* its answers; -1: none */
	struct loop_watch *readable;
	struct text answer; /* the part of one that has come */
	struct gpu_loads loads;
	instant answered; /* INSTANT_UNSET: never */
};

struct gpu_metrics *gpu_metrics_new(struct loop *loop)
{
	struct gpu_metrics *metrics = mem_new(sizeof(*metrics));

	metrics->loop = loop;
	metrics->fd = -1;
	return metrics;
}

/* It ends when nobody reads, or with this process. It may hang in the kernel, so its end is not
 * waited for: it is reaped with the other children. */
static void end_asker(struct gpu_metrics *metrics)
{
	loop_watch_free(TAKE(metrics->readable));
	file_close(&metrics->fd);
}

void gpu_metrics_free(struct gpu_metrics *metrics)
{
	if (!metrics)
		return;
	end_asker(metrics);
	text_done(&metrics->answer);
	free(metrics);
}

static void on_answer(void *data)
{
	struct gpu_metrics *metrics = data;
	char part[4096];
	ssize_t n = read(metrics->fd, part, sizeof(part));

	if (n < 0 && errno == EINTR)
		return;
	if (n <= 0 || metrics->answer.len > ANSWER_LIMIT) {
		end_asker(metrics);
		return;
	}
	text_add_bytes(&metrics->answer, part, (size_t) n);
	if (!text_ends_with(text_of(&metrics->answer), "\n\n"))
		return;
	/* The last one of those that came while this process was stopped. */
	char *last = metrics->answer.bytes;

	for (char *end; (end = strstr(last, "\n\n")) && end[2];)
		last = end + 2;
	nvml_read_loads(last, NULL, &metrics->loads);
	text_clear(&metrics->answer);
	metrics->answered = loop_monotonic_now();
}

static void start_asker(struct gpu_metrics *metrics)
{
	int ends[2];

	metrics->was_started = true;
	if (!nvml_is_likely() || pipe2(ends, O_CLOEXEC) < 0)
		return;
	if (child_fork() == 0)
		nvml_write_loads(ends[1], PERIOD);
	close(ends[1]);
	metrics->fd = ends[0];
	metrics->readable = loop_watch_readable(metrics->loop, metrics->fd, on_answer, metrics);
}

static const struct gauge {
	const char *name, *help;
} gauges[] = {
	{"busy_ratio", "Share of the last moment in which the GPU computed."},
	{"memory_used_bytes", "Used memory of the GPU, by all processes."},
	{"memory_bytes", "Memory of the GPU."},
	{"temperature_celsius", "Temperature of the GPU."},
	{"power_watts", "Power that the GPU draws."},
};

static void add_load(const struct gpu_load *load, size_t gauge, const struct job *job,
		     const struct status *status, struct text *text)
{
	/* Negative: unknown. */
	const double values[ARRAY_LEN(gauges)] = {load->busy / 100.0, (double) load->memory_used,
						  (double) load->memory, load->degrees,
						  load->milliwatts / 1000.0};

	for (size_t i = 0; i < status->n_replicas && values[gauge] >= 0; i++) {
		const struct replica_status *replica = &status->replicas[i];

		if (replica->pid > 0 && gpus_names_have(replica->gpus, load->number))
			text_addf(text,
				  "muster_gpu_%s{namespace=\"%s\",job=\"%s\",role=\"%s\",index=\""
				  "%d\",gpu=\"%d\"} %.12g\n",
				  gauges[gauge].name, job->name_space, job->name, replica->role,
				  replica->index, load->number, values[gauge]);
	}
}

void gpu_metrics_write(struct gpu_metrics *metrics, const struct job *job,
		       const struct status *status, struct text *text)
{
	for (size_t i = 0; i < status->n_replicas && !metrics->was_started; i++)
		if (status->replicas[i].gpus && strcmp(status->replicas[i].gpus, "none") != 0)
			start_asker(metrics);
	if (!instant_is_set(metrics->answered) ||
	    instant_since(metrics->answered, loop_monotonic_now()) > MOST_AGE)
		return;
	for (size_t gauge = 0; gauge < ARRAY_LEN(gauges); gauge++) {
		text_addf(text, "# HELP muster_gpu_%s %s\n# TYPE muster_gpu_%s gauge\n",
			  gauges[gauge].name, gauges[gauge].help, gauges[gauge].name);
		for (size_t i = 0; i < metrics->loads.count; i++)
			add_load(&metrics->loads.list[i], gauge, job, status, text);
	}
}
