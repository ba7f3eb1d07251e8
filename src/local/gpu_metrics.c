#include "local/gpu_metrics.h"

#include "base/mem.h"
#include "local/nvml.h"

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

bool gpu_metrics_write(const struct job *job, const struct status *status, struct text *text)
{
	struct gpu_loads *loads CLEANUP(mem_free_any) = mem_new(sizeof(*loads));
	bool has_any = false;

	for (size_t i = 0; i < status->n_replicas; i++)
		has_any |=
			status->replicas[i].gpus && strcmp(status->replicas[i].gpus, "none") != 0;
	if (!has_any)
		return true;
	if (nvml_loads(NULL, loads, NULL) < 0)
		return false;
	for (size_t gauge = 0; gauge < ARRAY_LEN(gauges) && loads->count > 0; gauge++) {
		text_addf(text, "# HELP muster_gpu_%s %s\n# TYPE muster_gpu_%s gauge\n",
			  gauges[gauge].name, gauges[gauge].help, gauges[gauge].name);
		for (size_t i = 0; i < loads->count; i++)
			add_load(&loads->list[i], gauge, job, status, text);
	}
	return true;
}
