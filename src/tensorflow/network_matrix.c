#include "tensorflow/network_matrix.h"

#include <math.h>

struct matrix {
	const struct cluster_spec *cluster;
	struct network_peer *peers; /* one for each of its tasks */
	network_matrix_fn tell;
	void *data;
};

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

static const char *own_name(const struct matrix *matrix)
{
	return matrix->peers[matrix->cluster->own - matrix->cluster->tasks].name;
}

/* If host and task have the same name, it is printed once: "ps-1 cannot reach worker-0:2222". */
static void add_finding_sentence(struct text *text, const struct matrix *matrix, size_t peer,
				 const struct network_finding *finding)
{
	const struct network_peer *to = &matrix->peers[peer];
	const char *address = matrix->cluster->tasks[peer].address;
	double bandwidth = finding->bandwidth, clock = finding->clock;

	text_addf(text, "%s %s ", own_name(matrix),
		  finding->stage == NETWORK_DONE ? "reaches" : "cannot reach");
	if (text_equals(to->name, to->host))
		text_addf(text, "%s: ", address);
	else
		text_addf(text, "%s (%s): ", to->name, address);
	if (finding->stage != NETWORK_DONE) {
		text_add(text, finding->error);
		return;
	}
	text_addf(text, "round trip %.2f ms", finding->round_trip * 1000);
	if (bandwidth >= 1e9)
		text_addf(text, ", %.1f GB/s", bandwidth / 1e9);
	else if (bandwidth >= 1e6)
		text_addf(text, ", %.0f MB/s", bandwidth / 1e6);
	else if (bandwidth > 0)
		text_addf(text, ", %.0f kB/s", bandwidth / 1e3);
	if (fabs(clock) < 0.001)
		text_add(text, ", same clock");
	else
		text_addf(text, ", clock %.3f s %s", fabs(clock), clock > 0 ? "ahead" : "behind");
}

static void on_matrix_finding(size_t peer, const struct network_finding *finding, void *data)
{
	const struct matrix *matrix = data;
	struct json *event CLEANUP(json_cleanup) =
		network_event_new(own_name(matrix), matrix->peers[peer].name,
				  matrix->cluster->tasks[peer].address, finding);
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
		own_name(matrix), named->name, address, named->host, named->name);

	matrix->tell(NULL, sentence, matrix->data);
}

int network_matrix_run(const struct cluster_spec *cluster, msec timeout, network_matrix_fn tell,
		       void *data, struct err *err)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct network_peer *peers = arena_take_array(arena, cluster->n_tasks, sizeof(*peers));
	struct matrix matrix = {cluster, peers, tell, data};

	for (size_t i = 0; i < cluster->n_tasks; i++) {
		const struct spec_task *task = &cluster->tasks[i];
		char *host CLEANUP(mem_free_text) = address_host(task->address);

		peers[i] = (struct network_peer){
			.name = arena_format(arena, "%s-%d", task->job, task->index),
			.host = arena_copy_text(arena, host),
			.port = address_port(task->address),
		};
	}
	const struct network_probe_settings settings = {
		.peers = peers,
		.n_peers = cluster->n_tasks,
		.own = (size_t) (cluster->own - cluster->tasks),
		.timeout = timeout,
		.tell = on_matrix_finding,
		.tell_of_other = on_impostor_address,
		.data = &matrix,
	};

	return network_probe_run(&settings, err);
}
