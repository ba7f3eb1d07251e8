/* Turns tasks into peers, and findings into events and sentences. */
#include "tensorflow/network_matrix.h"

#include "base/mem.h"
#include "base/text.h"
#include "spec/cluster_spec.h"

#include <math.h>
#include <stdlib.h>

struct matrix {
	struct network_peer *peers; /* of all tasks */
	const char **addresses; /* as in the cluster spec */
	size_t n_peers;
	size_t own;
	struct arena *arena; /* for names and hosts */
	network_matrix_fn tell;
	void *data;
};

static void matrix_done(struct matrix *matrix)
{
	free(matrix->peers);
	free(matrix->addresses);
	arena_free(matrix->arena);
}

static void add_matrix_peer(struct matrix *matrix, const struct cluster_spec *cluster,
			    const struct spec_job *job, const struct spec_task *task)
{
	char *host CLEANUP(mem_free_text) = address_host(task->address);
	size_t i = matrix->n_peers++;

	matrix->addresses[i] = task->address;
	matrix->peers[i] = (struct network_peer){
		.name = arena_format(matrix->arena, "%s-%d", job->name, task->index),
		.host = arena_copy_text(matrix->arena, host),
		.port = address_port(task->address),
	};
	if (text_equals(job->name, cluster->own_job) && task->index == cluster->own_index)
		matrix->own = i;
}

static void add_tasks(struct matrix *matrix, const struct cluster_spec *cluster)
{
	size_t count = cluster_spec_count(cluster);

	matrix->arena = arena_new();
	matrix->peers = mem_new_array(count, sizeof(*matrix->peers));
	matrix->addresses = mem_new_array(count, sizeof(*matrix->addresses));
	for (size_t i = 0; i < cluster->n_jobs; i++)
		for (size_t j = 0; j < cluster->jobs[i].n_tasks; j++)
			add_matrix_peer(matrix, cluster, &cluster->jobs[i],
					&cluster->jobs[i].tasks[j]);
}

struct json *network_event_new(const char *from, const char *to, const char *address,
			       const struct network_finding *finding)
{
	struct json *event = json_new_texts("muster", "network", "from", from, "to", to, "address",
					    address, NULL);

	if (finding->address[0])
		json_set_string(event, "ip", finding->address);
	if (finding->stage != NETWORK_DONE) {
		json_set_string(event, "stage", network_stage_words[finding->stage]);
		json_set_string(event, "error", finding->error);
		return event;
	}
	json_set(event, "resolve", json_new_real(finding->resolve));
	json_set(event, "connect", json_new_real(finding->connect));
	if (finding->round_trip > 0)
		json_set(event, "roundTrip", json_new_real(finding->round_trip));
	if (finding->bandwidth > 0)
		json_set(event, "bandwidth", json_new_real(finding->bandwidth));
	if (finding->round_trip > 0)
		json_set(event, "clock", json_new_real(finding->clock));
	return event;
}

static void add_bandwidth(struct text *text, double bandwidth)
{
	if (bandwidth >= 1e9)
		text_addf(text, ", %.1f GB/s", bandwidth / 1e9);
	else if (bandwidth >= 1e6)
		text_addf(text, ", %.0f MB/s", bandwidth / 1e6);
	else if (bandwidth > 0)
		text_addf(text, ", %.0f kB/s", bandwidth / 1e3);
}

static void add_clock(struct text *text, double clock)
{
	const char *direction = clock > 0 ? "ahead" : "behind";

	if (fabs(clock) < 0.001)
		text_add(text, ", same clock");
	else
		text_addf(text, ", clock %.3f s %s", fabs(clock), direction);
}

/* If host and task have the same name, it is printed once: "ps-1 cannot reach worker-0:2222". */
static void add_finding_sentence(struct text *text, const struct matrix *matrix, size_t peer,
				 const struct network_finding *finding)
{
	const struct network_peer *own = &matrix->peers[matrix->own], *to = &matrix->peers[peer];
	bool is_one_name = text_equals(to->name, to->host);

	text_addf(text, "%s %s ", own->name,
		  finding->stage == NETWORK_DONE ? "reaches" : "cannot reach");
	if (is_one_name)
		text_addf(text, "%s: ", matrix->addresses[peer]);
	else
		text_addf(text, "%s (%s): ", to->name, matrix->addresses[peer]);
	if (finding->stage != NETWORK_DONE) {
		text_add(text, finding->error);
		return;
	}
	text_addf(text, "round trip %.2f ms", finding->round_trip * 1000);
	add_bandwidth(text, finding->bandwidth);
	add_clock(text, finding->clock);
}

static void on_matrix_finding(size_t peer, const struct network_finding *finding, void *data)
{
	const struct matrix *matrix = data;
	struct json *event CLEANUP(json_cleanup) =
		network_event_new(matrix->peers[matrix->own].name, matrix->peers[peer].name,
				  matrix->addresses[peer], finding);
	struct text sentence CLEANUP(text_done) = {0};

	add_finding_sentence(&sentence, matrix, peer, finding);
	matrix->tell(event, text_of(&sentence), matrix->data);
}

static void on_impostor_address(size_t peer, const char *address, void *data)
{
	const struct matrix *matrix = data;
	const struct network_peer *named = &matrix->peers[peer];
	char *sentence CLEANUP(mem_free_text) = mem_format(
		"warning: %s got a request in the name of %s from %s, which is not an address of "
		"%s; it was answered, but muster kept waiting for %s",
		matrix->peers[matrix->own].name, named->name, address, named->host, named->name);

	matrix->tell(NULL, sentence, matrix->data);
}

int network_matrix_run(const struct cluster_spec *cluster, msec timeout, network_matrix_fn tell,
		       void *data, struct err *err)
{
	struct matrix matrix CLEANUP(matrix_done) = {.tell = tell, .data = data};

	add_tasks(&matrix, cluster);
	const struct network_probe_settings settings = {
		.peers = matrix.peers,
		.n_peers = matrix.n_peers,
		.own = matrix.own,
		.timeout = timeout,
		.tell = on_matrix_finding,
		.tell_of_other = on_impostor_address,
		.data = &matrix,
	};

	return network_probe_run(&settings, err);
}
